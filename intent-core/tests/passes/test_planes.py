"""Histograms of few bins, which loops count in bit planes instead of memory."""

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
from intent.passes.expand import planes as module
from intent.passes.expand.counters import FEW_BINS
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference import physical

SUMS = {("add", "i32"), ("add", "i64")}


@intent.kernel
def counts(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def of_bytes(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, ("K",)]):
    v = x[...]
    y[...] = I.histogram(v, bins=y.shape[0], valid=v > 3, count_dtype=I.u8)


@intent.kernel
def of_short(x: I.In[I.i16, ("N",)], y: I.Out[I.i64, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0], count_dtype=I.i64)


@intent.kernel
def of_wide(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0], count_dtype=I.i64)


@intent.kernel
def of_planes(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def of_two(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)], z: I.Out[I.i32, ("L",)]):
    v = x[...]
    y[...] = I.histogram(v, bins=y.shape[0])
    z[...] = I.histogram(v // 2, bins=z.shape[0])


@intent.kernel
def doubled(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    total = I.zeros((y.shape[0],), I.i32)
    for i in range(x.shape[0]):
        total = total * 2 + I.histogram(x[i, :], bins=y.shape[0])
    y[...] = total


@pytest.fixture
def few_digits(monkeypatch):
    """Planes that are full after some passes, so that few values fill them more than once."""
    monkeypatch.setattr(module, "PLANES", 4)
    monkeypatch.setattr(module, "TOGETHER", 4)
    monkeypatch.setattr(module, "MOST", 12)


def expanded(kernel, *inner, most: int = 256, split=None) -> ph.Program:
    lowered = lower(kernel)
    analysis = analyze(lowered)
    plan = Plan(groups=(GroupPlan(inner=inner, split=split),) * len(analysis.groups))
    program = expand(construct(lowered, plan, analysis), FUNCTIONS, 0, SUMS, most)
    verify(program)
    return program


def run(program: ph.Program, **arrays: np.ndarray) -> None:
    sizes = {str(e): n for v in program.views for e, n in zip(v.shape, arrays[v.name].shape, strict=True)}
    physical.execute(program, arrays, {}, sizes, order=np.random.default_rng(0), find_races=True)


def in_planes(program: ph.Program) -> bool:
    """Whether lanes count for themselves: values themselves are never where an atomic adds."""
    ops = [op for s in program.segments for op in walk(s.body)]
    added = [op for op in ops if isinstance(op, ph.Atomic) and op.sharing == "instance"]
    assert added
    assert not any(isinstance(op, ph.Histogram) for op in ops)
    return all(d.name.endswith("_words") for op in added for d in op.dims)


@pytest.mark.parametrize("bins", [FEW_BINS + 1, 31, 32, 33, 100, 256])
@pytest.mark.parametrize("values", [0, 1, 7, 8, 95, 96, 97, 300])
def test_counts_are_the_same(few_digits, bins, values):
    size = 1 << (bins - 1).bit_length()
    program = expanded(counts, ("axis_N", serial(2)), ("axis_K", resident(size)))
    assert in_planes(program)
    x = np.random.default_rng(values).integers(0, bins, values).astype(np.int32)
    y = np.full(bins, 77, np.int32)
    run(program, x=x, y=y)
    np.testing.assert_array_equal(y, np.bincount(x, minlength=bins))


@pytest.mark.parametrize("values", [2047, 2048, 4100])
def test_planes_are_emptied_before_a_digit_is_short(values):
    program = expanded(counts, ("axis_N", serial(1)), ("axis_K", resident(16)))
    y = np.full(13, 77, np.int32)
    run(program, x=np.full(values, 12, np.int32), y=y)
    assert y.tolist() == [0] * 12 + [values]


@pytest.mark.parametrize(
    ("kernel", "dtype", "counted", "odd"),
    [
        (counts, np.int32, np.int32, [-1, 13, 31, 32, 2**31 - 1, -(2**31), -32]),
        (of_bytes, np.uint8, np.uint8, [0, 3, 13, 31, 32, 255]),
        (of_short, np.int16, np.int64, [-1, 13, 32, -(2**15), 2**15 - 1, 256]),
        (of_wide, np.int64, np.int64, [-1, 13, 32, 2**32, 2**32 + 5, -(2**63), 2**63 - 1, 2**40 + 1]),
    ],
)
def test_what_is_no_bin_counts_nowhere(few_digits, kernel, dtype, counted, odd):
    rng = np.random.default_rng(5)
    x = np.where(rng.random(300) < 0.5, rng.integers(0, 13, 300), rng.choice(odd, 300)).astype(dtype)
    y = np.full(13, 77, counted)
    program = expanded(kernel, ("axis_N", serial(8)), ("axis_K", resident(16)))
    assert in_planes(program)
    run(program, x=x, y=y)
    least = 4 if kernel is of_bytes else 0
    wanted = np.bincount(x[(x >= least) & (x < 13)].astype(np.int64), minlength=13)
    np.testing.assert_array_equal(y, wanted.astype(counted))


@pytest.mark.parametrize("split", [None, ("axis_M", 3)])
def test_loops_in_loops_and_parts(few_digits, split):
    plan = (("axis_M", serial(1)), ("axis_N", serial(4)), ("axis_K", resident(64)))
    program = expanded(of_planes, *plan, split=split)
    assert in_planes(program)
    x = np.random.default_rng(2).integers(0, 50, (7, 61)).astype(np.int32)
    y = np.full(50, 77, np.int32)
    run(program, x=x, y=y)
    np.testing.assert_array_equal(y, np.bincount(x.reshape(-1), minlength=50))


def test_two_histograms(few_digits):
    inner = (("axis_N", serial(8)), ("axis_K", resident(128)), ("axis_L", resident(16)))
    program = expanded(of_two, *inner)
    assert in_planes(program)
    x = np.random.default_rng(2).integers(0, 70, 333).astype(np.int32)
    y, z = np.full(70, 77, np.int32), np.full(11, 77, np.int32)
    run(program, x=x, y=y, z=z)
    np.testing.assert_array_equal(y, np.bincount(x, minlength=70))
    np.testing.assert_array_equal(z, np.bincount(x // 2, minlength=11)[:11])


@pytest.mark.parametrize(
    ("inner", "most"),
    [
        ((("axis_N", serial(8)), ("axis_K", resident(64))), 63),
        ((("axis_N", serial(8)), ("axis_K", resident(64))), 0),
        ((("axis_N", serial(1024)), ("axis_K", resident(64))), 256),
        ((("axis_N", resident(512)), ("axis_K", resident(64))), 256),
    ],
)
def test_what_atomics_count_all_the_same(inner, most):
    assert not in_planes(expanded(counts, *inner, most=most))
    assert in_planes(expanded(counts, ("axis_N", serial(512)), ("axis_K", resident(64)), most=64))


def test_several_axes_at_once_are_left_to_atomics():
    plan = (("axis_M", resident(8)), ("axis_N", serial(4)), ("axis_K", resident(64)))
    assert not in_planes(expanded(of_planes, *plan))


def test_long_bodies_are_left_to_atomics(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 2)
    assert not in_planes(expanded(counts, ("axis_N", serial(8)), ("axis_K", resident(64))))


def test_counts_that_a_loop_uses_are_counted_anew_in_every_pass(few_digits):
    program = expanded(doubled, ("axis_M", serial(1)), ("axis_N", serial(4)), ("axis_K", resident(64)))
    assert in_planes(program)
    x = np.random.default_rng(2).integers(0, 50, (5, 61)).astype(np.int32)
    y, wanted = np.full(50, 77, np.int32), np.zeros(50, np.int32)
    for row in x:
        wanted = wanted * 2 + np.bincount(row, minlength=50).astype(np.int32)
    run(program, x=x, y=y)
    np.testing.assert_array_equal(y, wanted)
