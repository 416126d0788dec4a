"""A buffer between two loops of one range goes away; every guard is the loop's that keeps it."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, construct, resident, serial
from intent.frontend import lower
from intent.passes import Permissions
from intent.passes.fusion import fusion
from intent.physical import Fence, Store
from intent.physical.verify import verify

BLOCKS = {"axis_N": 64}


def f32(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@intent.kernel
def sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1) * 2.0


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300])
def test_a_scan_is_stored_where_it_is_made(stages, rng, n):
    x = f32(rng, 2, n)
    wanted = {"y": np.cumsum(x, axis=1, dtype=np.float64) * 2}
    made = stages(sums, BLOCKS, {"x": x, "y": np.full((2, n), 7, np.float32)}, wanted, tolerance=1e-4)
    assert made.programs["constructed"].workspace
    assert not made.programs["fusion"].workspace
    assert len(made.loops("fusion")) == 1
    assert not made.ops(Fence, "fusion")


@intent.kernel
def shares(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    total = I.cumsum(x[...], axis=1)
    y[...] = total / I.reduce.max(total, axis=1)[:, None]


def test_what_needs_the_last_element_keeps_the_buffer(stages, rng):
    x = np.abs(f32(rng, 2, 200))
    total = np.cumsum(x, axis=1, dtype=np.float64)
    given = {"x": x, "y": np.zeros((2, 200), np.float32)}
    made = stages(shares, BLOCKS, given, {"y": total / total.max(1, keepdims=True)}, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def backwards(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    n = x.shape[0]
    total = I.cumsum(x[...], axis=0)
    y[...] = I.gather(total, index=n - 1 - I.indices(I.domain(0, n)))


def test_elements_that_other_lanes_made_keep_the_buffer(stages, rng):
    x = f32(rng, 200)
    wanted = {"y": np.cumsum(x, dtype=np.float64)[::-1]}
    made = stages(backwards, BLOCKS, {"x": x, "y": np.zeros(200, np.float32)}, wanted, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def in_place(x: I.InOut[I.f32, ("M", "N")]):
    x[...] = I.cumsum(x[...], axis=1)


def test_what_the_first_loop_reads_is_not_written_in_it(stages, rng):
    x = f32(rng, 2, 200)
    wanted = {"x": np.cumsum(x, axis=1, dtype=np.float64)}
    made = stages(in_place, BLOCKS, {"x": x.copy()}, wanted, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def two_outputs(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    total = I.cumsum(x[...], axis=1)
    y[...] = total
    z[...] = I.cast(total > 0, I.i32)


def test_every_reader_joins(stages, rng):
    x = f32(rng, 2, 200)
    total = np.cumsum(x, axis=1, dtype=np.float32)
    given = {"x": x, "y": np.zeros((2, 200), np.float32), "z": np.zeros((2, 200), np.int32)}
    made = stages(two_outputs, BLOCKS, given, {"y": total}, tolerance=1e-4)
    assert not made.programs["fusion"].workspace
    assert len(made.loops("fusion")) == 1


@intent.kernel
def restarted(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for _ in range(2):
        if y[0] > 0.0:
            y[...] = I.cumsum(x[...], axis=0)


@pytest.mark.parametrize("first", [-1.0, 1.0])
def test_fences_of_what_is_written_come_before_it(stages, rng, first):
    x, y = np.abs(f32(rng, 200)), f32(rng, 200)
    y[0] = first
    wanted = {"y": np.cumsum(x, dtype=np.float64) if first > 0 else y}
    made = stages(restarted, BLOCKS, {"x": x, "y": y.copy()}, wanted, tolerance=1e-4)
    assert made.programs["constructed"].workspace
    assert not made.programs["fusion"].workspace
    assert made.ops(Fence, "fusion")


@intent.fn
def outer_of(part):
    return I.matmul(part.k, part.v, transpose_lhs=True)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def emitted(part, state):
    causal = I.select(part.at[None, :] <= part.at[:, None], I.matmul(part.q, part.k, transpose_rhs=True), 0.0)
    return I.matmul(part.q, state) + I.matmul(causal, part.v)


@intent.kernel
def linear(
    q: I.In[I.f32, ("T", "D")],
    k: I.In[I.f32, ("T", "D")],
    v: I.In[I.f32, ("T", "E")],
    y: I.Out[I.f32, ("T", "E")],
):
    axis = I.domain(0, q.shape[0])
    zero = I.zeros((q.shape[1], v.shape[1]), I.f32)
    outputs, _ = I.region_scan(
        source=I.record(q=q[axis, :], k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0, summarize=outer_of, combine=plus, identity=zero, initial_state=zero, apply=plus, emit=emitted,
    )  # fmt: skip
    y[...] = outputs


def test_linear_attention_is_one_loop_without_workspace():
    kernel = lower(linear, {})
    inner = (("axis_D", resident(16)), ("axis_E", resident(16)), ("axis_T", serial(16)))
    program = construct(kernel, Plan(groups=(GroupPlan(instance=(), inner=inner),)))
    assert program.workspace
    made = fusion(program, Permissions())
    verify(made, kernel)
    assert not made.workspace
    (loop,) = [op for op in made.segments[0].body.ops if type(op).__name__ == "Loop"]
    assert [op.target.name for op in loop.body.ops if isinstance(op, Store)] == ["y"]
