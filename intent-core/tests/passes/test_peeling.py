"""Loops in parts: full blocks without a mask, everything else as it was."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes.peeling import WIDE
from intent.physical import Fence, Load, Store

BLOCKS = {"axis_N": WIDE, "axis_M": 2, "axis": WIDE}
SIZES = (0, 1, WIDE - 1, WIDE, WIDE + 1, 3 * WIDE, 4 * WIDE - 1)


def f32(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def empty(*shape):
    return np.full(shape, 7, np.float32)


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...] * 2.0, axis=1)


@pytest.mark.parametrize("n", SIZES)
def test_full_blocks_of_a_row_have_no_mask(stages, rng, n):
    x = f32(rng, 3, n)
    made = stages(row_sums, BLOCKS, {"x": x, "y": empty(3)}, {"y": (x * 2).sum(1)}, tolerance=1e-4)
    full, tail = made.loops()
    (first,), (second,) = ([op for op in part.body.ops if isinstance(op, Load)] for part in (full, tail))
    columns = {dim.name for dim in second.valid.dims}
    assert "axis_N" in columns
    assert first.valid is None or {dim.name for dim in first.valid.dims} < columns


def test_short_blocks_stay_in_one_loop(stages, rng):
    x = f32(rng, 3, 21)
    blocks = {**BLOCKS, "axis_N": WIDE // 2}
    made = stages(row_sums, blocks, {"x": x, "y": empty(3)}, {"y": (x * 2).sum(1)}, tolerance=1e-4)
    assert not made.changed("peeling")


@intent.kernel
def windowed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], W: I.i32):
    rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    near = columns[None, :] > rows[:, None] - I.cast(W, I.index)
    y[...] = I.reduce.sum(
        I.select(near, I.select(columns[None, :] <= rows[:, None], x[...], 0.0), 0.0), axis=1
    )


@pytest.mark.parametrize("w", [0, 1, 63, 64, 65, 150, 1000])
def test_a_window_has_a_head_a_middle_and_a_tail(stages, rng, w):
    x = f32(rng, 200, 200)
    rows, columns = np.arange(200)[:, None], np.arange(200)[None, :]
    wanted = np.where((columns > rows - w) & (columns <= rows), x, 0.0).sum(1)
    made = stages(
        windowed, {**BLOCKS, "axis_M": 16}, {"x": x, "y": empty(200), "W": w}, {"y": wanted}, tolerance=1e-4
    )
    assert len(made.loops()) == 3


def test_a_test_of_bounds_stays_where_the_coordinate_moves(stages, rng):
    @intent.kernel
    def shifted(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        M, N = x.shape
        rows, columns = I.indices(I.domain(0, M)), I.indices(I.domain(0, N))
        before = columns[None, :] - 3
        moved = I.gather(x, index=(rows[:, None], before), valid=before >= 0, fill=0.0)
        y[...] = I.reduce.sum(moved * x[...], axis=1)

    x = f32(rng, 3, 2 * WIDE + 5)
    wanted = (x[:, 3:] * x[:, :-3]).sum(1)
    made = stages(shifted, BLOCKS, {"x": x, "y": empty(3)}, {"y": wanted}, tolerance=1e-4)
    guarded = [
        op for op in made.ops(Load) if "guard" in map(str, op.proofs) or "predicate" in map(str, op.proofs)
    ]
    assert made.changed("peeling")
    assert all(op.valid is not None for op in guarded)


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


def test_parts_that_write_are_fenced(stages, rng):
    x = f32(rng, 3, 2 * WIDE + 5)
    e = np.exp(x - x.max(1, keepdims=True))
    wanted = e / e.sum(1, keepdims=True)
    made = stages(softmax, BLOCKS, {"x": x, "y": empty(*x.shape)}, {"y": wanted}, tolerance=1e-5)
    assert len(made.ops(Store)) == 2
    assert [op.target.name for op in made.ops(Fence)] == ["y"]


def test_a_loop_that_may_run_in_place_stays_whole(stages, rng):
    @intent.kernel
    def doubled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            y[i, :] = x[i, :] * 2.0

    x = f32(rng, 3, 2 * WIDE + 5)
    given = {"x": x, "y": empty(*x.shape)}
    made = stages(doubled, {"axis_N": WIDE}, given, {"y": x * 2}, inside=("axis_N",))
    assert len(made.ops(Store)) == len(made.loops()) == 1


def test_summed_blocks_of_a_product_have_no_mask(stages, rng):
    @intent.kernel
    def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
        c[...] = I.matmul(a[...], b[...])

    a, b = f32(rng, 5, 150), f32(rng, 150, 7)
    blocks = {"axis_K": WIDE, "axis_M": 4, "axis_N": 4}
    made = stages(matmul, blocks, {"a": a, "b": b, "c": empty(5, 7)}, {"c": a @ b}, tolerance=1e-3)
    assert len(made.loops()) == 2


def test_a_range_that_blocks_cover_has_no_tail(stages, rng):
    @intent.kernel
    def upper_sums(x: I.In[I.f32, ("M", 192)], y: I.Out[I.f32, ("M",)]):
        rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, 192))
        y[...] = I.reduce.sum(I.select(columns[None, :] >= rows[:, None], x[...], 0.0), axis=1)

    assert 192 == 3 * WIDE
    x = f32(rng, 200, 192)
    blocks = {"axis_192": WIDE, "axis_M": 16}
    made = stages(upper_sums, blocks, {"x": x, "y": empty(200)}, {"y": np.triu(x).sum(1)}, tolerance=1e-4)
    assert made.changed("peeling")
    assert len(made.loops()) == 2


@pytest.mark.parametrize("n", [1, WIDE, WIDE + 71, 4 * WIDE - 1])
def test_a_bound_that_may_lie_before_the_beginning(stages, rng, n):
    @intent.kernel
    def but_the_last(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        columns = I.indices(I.domain(0, x.shape[1]))[None, :]
        y[...] = I.reduce.sum(I.select(columns < x.shape[1] - 70, x[...], 0.0), axis=1)

    x = f32(rng, 3, n)
    wanted = x[:, : max(0, n - 70)].sum(1)
    assert stages(but_the_last, BLOCKS, {"x": x, "y": empty(3)}, {"y": wanted}, tolerance=1e-4).changed(
        "peeling"
    )


@intent.kernel
def short_rows(x: I.In[I.f32, ("M", 40)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...] * 2.0, axis=1)


def test_rows_shorter_than_a_block_have_no_loop_of_full_ones(stages, rng):
    x = f32(rng, 3, 40)
    plan = {"axis_40": WIDE, "axis_M": 2}
    made = stages(short_rows, plan, {"x": x, "y": empty(3)}, {"y": (x * 2).sum(1)}, tolerance=1e-4)
    assert len(made.loops()) == 1
