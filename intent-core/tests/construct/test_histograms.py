"""Histograms wanted at bins that are not simply their lanes: turned round, at a distance, one for each point."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, resident, serial
from intent.frontend import lower
from intent.physical import Histogram
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference import physical


@intent.kernel
def plain(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, (16,)]):
    y[...] = I.histogram(x[...], bins=16)


@intent.kernel
def turned(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, (16,)]):
    h = I.histogram(x[...], bins=16)
    y[...] = h[15 - I.indices(I.domain(0, 16))]


@intent.kernel
def later(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, (16,)]):
    h = I.histogram(x[...], bins=32)
    y[...] = h[I.indices(I.domain(0, 16)) + 3]


@intent.kernel
def later_by(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, (16,)]):
    h = I.histogram(x[...], bins=32)
    y[...] = h[3 + I.indices(I.domain(0, 16))]


@intent.kernel
def every_second(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, (16,)]):
    h = I.histogram(x[...], bins=32)
    y[...] = h[I.indices(I.domain(0, 16)) * 2]


WANTED = {
    plain: lambda h: h[:16],
    turned: lambda h: h[15::-1],
    later: lambda h: h[3:19],
    later_by: lambda h: h[3:19],
    every_second: lambda h: h[:32:2],
}
WAYS = {"in lanes": resident(16), "in a block": serial(16), "one by one": serial(1)}


def made(kernel, way):
    lowered = lower(kernel)
    analysis = analyze(lowered)
    inner = {label: way if a.extent.const == 16 else serial(4) for label, a in analysis.inner.items()}
    inner |= {a.label: way for a in analysis.groups[0].axes}
    program = construct(lowered, Plan(groups=(GroupPlan(inner=tuple(inner.items())),)), analysis)
    verify(program, lowered)
    return program


@pytest.mark.parametrize("kernel", WANTED)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_counts_at_other_bins(kernel, way, rng):
    x = rng.integers(0, 16 if kernel in (plain, turned) else 32, (5, 7)).astype(np.int32)
    y = np.full(16, 77, np.int32)
    physical.execute(made(kernel, way), {"x": x, "y": y}, {}, {"M": 5, "N": 7}, order=rng)
    np.testing.assert_array_equal(y, WANTED[kernel](np.bincount(x.reshape(-1), minlength=32)))


@pytest.mark.parametrize(
    ("kernel", "counted"), [(plain, 1), (later, 1), (later_by, 1), (turned, 0), (every_second, 0)]
)
def test_bins_that_follow_each_other_are_counted_at_once(kernel, counted):
    ops = walk(made(kernel, resident(16)).segments[0].body)
    assert sum(isinstance(op, Histogram) for op in ops) == counted


@intent.kernel
def at_its_own_bin(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.histogram(x[i, :], bins=16)[i]


@pytest.mark.parametrize("block", [1, 4])
def test_a_point_that_counts_what_is_its_own_number(block, rng):
    kernel = lower(at_its_own_bin)
    analysis = analyze(kernel)
    (axis,) = analysis.groups[0].axes
    inner = tuple((label, serial(2)) for label in analysis.inner)
    plan = Plan(groups=(GroupPlan(instance=((axis.label, block),), inner=inner),))
    program = construct(kernel, plan, analysis)
    verify(program, kernel)
    x, y = rng.integers(0, 16, (9, 30)).astype(np.int32), np.full(9, 77, np.int32)
    physical.execute(program, {"x": x, "y": y}, {}, {"M": 9, "N": 30}, order=rng)
    np.testing.assert_array_equal(y, [(row == i).sum() for i, row in enumerate(x)])
