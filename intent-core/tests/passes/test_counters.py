"""Histograms that a target has not: counted by atomics in storage of the instance, or tested bin by bin."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import GroupPlan, Plan, analyze, construct, resident, serial
from intent.frontend import lower
from intent.kir.pointwise import FUNCTIONS
from intent.passes.expand import expand
from intent.passes.expand.counters import FEW_BINS
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference import physical

SUMS = {("add", "i32"), ("add", "i64")}
PLANS = {
    "at once": GroupPlan(inner=(("axis_M", resident(4)), ("axis_N", resident(32)), ("axis_K", resident(16)))),
    "in a loop": GroupPlan(inner=(("axis_M", resident(4)), ("axis_N", serial(8)), ("axis_K", resident(16)))),
    "in two": GroupPlan(inner=(("axis_M", serial(1)), ("axis_N", serial(8)), ("axis_K", resident(16)))),
    "of blocks": GroupPlan(instance=(("axis_K", 16),), inner=(("axis_M", serial(2)), ("axis_N", serial(8)))),
    "shared out": GroupPlan(
        inner=(("axis_M", serial(1)), ("axis_N", serial(8)), ("axis_K", resident(16))), split=("axis_M", 3)
    ),
}


@intent.kernel
def counts(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def byte_counts(x: I.In[I.i32, ("M", "N")], y: I.Out[I.u8, ("K",)]):
    v = x[...]
    y[...] = I.histogram(v, bins=y.shape[0], valid=v < 11, count_dtype=I.u8)


@intent.kernel
def doubled(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i64, ("K",)]):
    total = I.zeros((y.shape[0],), I.i64)
    for i in range(x.shape[0]):
        total = total * 2 + I.histogram(x[i, :], bins=y.shape[0], count_dtype=I.i64)
    y[...] = total


@intent.kernel
def while_they_last(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i64, ("K",)]):
    total = I.zeros((y.shape[0],), I.i64)
    i = 0
    while i < x.shape[0]:
        total = total * 2 + I.histogram(x[i, :], bins=y.shape[0], count_dtype=I.i64)
        i = i + 1
    y[...] = total


@intent.kernel
def of_many_and_of_few(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)], z: I.Out[I.i32, ("L",)]):
    v = x[...]
    y[...] = I.histogram(v, bins=y.shape[0])
    z[...] = I.histogram(v, bins=z.shape[0])


def expanded(kernel, plan: GroupPlan, most: int = 0, atomics=SUMS) -> ph.Program:
    lowered = lower(kernel)
    program = expand(construct(lowered, Plan(groups=(plan,)), analyze(lowered)), FUNCTIONS, most, atomics)
    verify(program)
    return program


def kinds(program: ph.Program) -> set[type[ph.Op]]:
    return {type(op) for s in program.segments for op in walk(s.body)}


def counted(program: ph.Program, x: np.ndarray, dtype: type) -> np.ndarray:
    y = np.full(13, 77, dtype)
    extents = {"M": x.shape[0], "N": x.shape[1], "K": 13}
    physical.execute(program, {"x": x, "y": y}, {}, extents, order=np.random.default_rng(0), find_races=True)
    return y


@pytest.mark.parametrize("size", [(0, 3), (1, 1), (3, 29), (4, 32)])
@pytest.mark.parametrize("name", PLANS)
def test_counts_are_the_same(name, size):
    x = np.random.default_rng(3).integers(0, 13, size).astype(np.int32)
    program = expanded(counts, PLANS[name])
    assert ph.Histogram not in kinds(program)
    assert ph.Atomic in kinds(program)
    np.testing.assert_array_equal(counted(program, x, np.int32), np.bincount(x.reshape(-1), minlength=13))


@pytest.mark.parametrize("name", PLANS)
def test_narrow_counts_wrap(name):
    x = np.where(np.arange(4 * 200).reshape(4, 200) % 7, 5, 12).astype(np.int32)
    program = expanded(byte_counts, PLANS[name]) if name != "at once" else None
    if program is None:
        plan = GroupPlan(inner=(("axis_M", resident(4)), ("axis_N", resident(256)), ("axis_K", resident(16))))
        program = expanded(byte_counts, plan)
    wanted = np.bincount(x[x < 11], minlength=13).astype(np.uint8)
    np.testing.assert_array_equal(counted(program, x, np.uint8), wanted)


@pytest.mark.parametrize("kernel", [doubled, while_they_last])
def test_counts_that_a_loop_uses_are_counted_anew_in_every_pass(kernel):
    x = np.random.default_rng(3).integers(0, 13, (5, 29)).astype(np.int32)
    wanted = np.zeros(13, np.int64)
    for row in x:
        wanted = wanted * 2 + np.bincount(row, minlength=13)
    program = expanded(kernel, PLANS["in two"])
    np.testing.assert_array_equal(counted(program, x, np.int64), wanted)


def test_a_loop_that_only_counts_carries_nothing():
    loops = [
        op
        for s in expanded(counts, PLANS["in two"]).segments
        for op in walk(s.body)
        if isinstance(op, ph.Loop)
    ]
    assert [op.results for op in loops] == [(), ()]


@pytest.mark.parametrize(
    ("most", "atomics", "left"),
    [(16, SUMS, ph.Histogram), (0, SUMS, ph.Atomic), (0, (), ph.Reduce), (15, (), ph.Reduce)],
)
def test_what_becomes_of_histograms(most, atomics, left):
    program = expanded(counts, PLANS["in a loop"], most, atomics)
    assert kinds(program) & {ph.Histogram, ph.Atomic, ph.Reduce} == {left}
    x = np.random.default_rng(3).integers(0, 13, (3, 29)).astype(np.int32)
    np.testing.assert_array_equal(counted(program, x, np.int32), np.bincount(x.reshape(-1), minlength=13))


def test_few_bins_are_tested_beside_many_that_are_counted():
    lowered = lower(of_many_and_of_few)
    analysis = analyze(lowered)
    inner = (("axis_N", serial(8)), ("axis_K", resident(16)), ("axis_L", resident(FEW_BINS)))
    plan = Plan(groups=(GroupPlan(inner=inner),) * len(analysis.groups))
    program = expand(construct(lowered, plan, analysis), FUNCTIONS, 0, SUMS)
    verify(program)
    assert [b.shape[0].const for b in program.workspace if "counters" in b.name] == [16]
    x = np.random.default_rng(3).integers(0, 13, 29).astype(np.int32)
    y, z = np.full(13, 77, np.int32), np.full(7, 77, np.int32)
    physical.execute(program, {"x": x, "y": y, "z": z}, {}, {"N": 29, "K": 13, "L": 7})
    np.testing.assert_array_equal(y, np.bincount(x, minlength=13))
    np.testing.assert_array_equal(z, np.bincount(x, minlength=13)[:7])


@pytest.mark.parametrize("name", PLANS)
def test_the_number_of_no_bin_counts_nowhere(name):
    """Invalid input, and no reason to write somewhere else."""
    x = np.array([[16, 3, 12, -1], [0, 16, 16, 12]], np.int32)
    wanted = np.bincount([3, 12, 0, 12], minlength=13)
    np.testing.assert_array_equal(counted(expanded(counts, PLANS[name]), x, np.int32), wanted)
