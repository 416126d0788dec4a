"""No lane divides by zero, whatever a mask says about it afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, resident, serial
from intent.passes import Permissions
from intent.passes.divisors import divisors
from intent.physical import Pointwise
from intent.physical.walk import walk


def divisions(made, after=""):
    return [op for op in made.ops(Pointwise, after) if op.fn in ("floordiv", "mod")]


def silenced(made):
    """The divisions whose divisor is a choice that gives 1 where the divisor was zero."""
    choices = {op.result.id: op for op in made.ops(Pointwise) if op.fn == "select"}
    return [op for op in divisions(made) if op.operands[1].id in choices]


@intent.kernel
def quotients(
    a: I.In[I.i32, ("N",)], b: I.In[I.i32, ("N",)], q: I.Out[I.i32, ("N",)], r: I.Out[I.i32, ("N",)]
):
    q[...] = a[...] // b[...]
    r[...] = a[...] % b[...]


@pytest.mark.parametrize("n", [0, 1, 5, 64])
def test_padded_lanes(stages, rng, n):
    a, b = (rng.integers(-9, 9, n).astype(np.int32) for _ in range(2))
    b[b == 0] = -4
    given = {"a": a, "b": b, "q": np.full(n, 7, np.int32), "r": np.full(n, 7, np.int32)}
    made = stages(quotients, {"axis_N": 64}, given, {"q": a // b, "r": a % b}, tolerance=0)
    assert len(silenced(made)) == len(divisions(made)) == 2


@intent.kernel
def where_possible(a: I.In[I.i64, ("N",)], b: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, a.shape[0])):
        if b[i] != 0:
            y[i] = a[i] // b[i]
        else:
            y[i] = -1


def test_lanes_that_a_condition_excludes(stages, rng):
    a, b = (rng.integers(-3, 4, 100).astype(np.int64) for _ in range(2))
    wanted = np.where(b != 0, a // np.where(b == 0, 1, b), -1)
    given = {"a": a, "b": b, "y": np.zeros(100, np.int64)}
    made = stages(where_possible, {"axis": 32}, given, {"y": wanted}, tolerance=0)
    assert silenced(made)


@intent.kernel
def thirds(a: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = a.shape[0]
    y[...] = a[...] // 3 + I.cast((I.indices(I.domain(0, N)) * 2) % N, I.i32)


def test_literals_and_extents_are_never_zero(stages, rng):
    a = rng.integers(-9, 9, 30).astype(np.int32)
    wanted = a // 3 + np.arange(30) * 2 % 30
    made = stages(thirds, {"axis_N": 8}, {"a": a, "y": np.zeros(30, np.int32)}, {"y": wanted}, tolerance=0)
    assert len(divisions(made)) == 2
    assert not made.changed("divisors")


@intent.kernel
def paired(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M", "N")]):
    """Rows by the numbers of their elements, which are quotients by N."""
    M, N = x.shape
    line = I.reshape(I.join(x[...], x[...] * 10), (M * N * 2,))
    y[...] = I.reduce.sum(I.reshape(line, (M, N, 2)), axis=(1, 2))
    z[...] = I.reshape(line, (M, N, 2))[:, :, 1]


@pytest.mark.parametrize("n", [0, 5])
def test_rows_of_no_elements(rng, n):
    """Lanes of a whole row divide by an extent that may be zero; passes over it and its elements do not."""
    x = rng.integers(-9, 9, (3, n)).astype(np.int32)
    groups = [(("axis_M", 1),), (("axis_M", 2), ("axis_N", 2))]
    for walked, found in ((resident(8), [True, False]), (serial(2), [False, False])):
        inner = (("N", walked),)
        plan = Plan(groups=tuple(GroupPlan(instance=g, inner=inner) for g in groups))
        artifact = intent.compile(paired, "reference", plan=plan)
        y, z = np.full(3, 7, np.int32), np.zeros((3, n), np.int32)
        artifact(x, y, z)
        assert np.array_equal(y, x.sum(axis=1) * 11)
        assert np.array_equal(z, x * 10)
        by_segment = [list(walk(s.body)) for s in artifact.program.segments]
        chosen = {op.result.id for ops in by_segment for op in ops if getattr(op, "fn", "") == "select"}
        divisors_of = [
            [op.operands[1].id for op in ops if getattr(op, "fn", "") == "mod"] for ops in by_segment
        ]
        assert [not chosen.isdisjoint(ids) for ids in divisors_of] == found
        assert all(divisors_of)


@intent.kernel
def around_zero(x: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.i32, ()]):
    """Passes at -2 and -1 are made for an empty x, too."""
    total = I.cast(0, I.i32)
    N = x.shape[0]
    for i in I.domain(n, N):
        total = total + I.cast(i % I.maximum(N, 1), I.i32) + I.cast(i % N, I.i32) * 0
    y[...] = total


def test_a_loop_that_begins_before_zero_says_nothing(stages, rng):
    given = {"x": np.zeros(3, np.int32), "n": -2, "y": np.zeros((), np.int32)}
    made = stages(around_zero, {}, given, {"y": np.array(1 + 2 + 0 + 1 + 2)}, tolerance=0)
    assert silenced(made)


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


def test_the_numbers_of_programs_are_divided_as_they_are():
    group = GroupPlan(instance=(("axis_M", 16), ("axis_N", 32)), inner=(("axis_K", serial(16)),), grouped=3)
    program = intent.compile(product, "reference", plan=Plan(groups=(group,))).program
    assert divisors(program, Permissions()) is program


@intent.fn
def folded(a, b):
    return a % b + a


@intent.kernel
def reduced(a: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    y[()] = I.reduce(a[...], axis=0, combine=folded, identity=1)


def test_inside_a_combine(stages):
    made = stages(
        reduced, {"axis_N": 4}, {"a": np.ones(1, np.int32), "y": np.zeros((), np.int32)}, {}, tolerance=0
    )
    assert len(silenced(made)) == len(divisions(made)) > 0
