"""Reductions along which memory does not run: lanes for the other axis, and the rest in blocks."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct import analyze, resident, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.touched import contiguous
from intent.provider import Capabilities, PlanTable

TARGET = Capabilities(dtypes=frozenset({"f32"}), plans=PlanTable(sharing=0))


@intent.kernel
def powers(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
    n = I.cast(I.indices(I.domain(0, 64)), I.f32)
    y[...] = I.reduce.sum(x[...][:, None] * n[None, :], axis=1)


@intent.kernel
def planes(x: I.In[I.f32, ("K", "L", "N")], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce.sum(x[...], axis=(0, 1))


@intent.kernel
def rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def columns(x: I.In[I.f32, ("N", "M")], s: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    """The widest read counts, and not that of the scales."""
    y[...] = I.reduce.sum(x[...] * s[...][:, None], axis=0)


@intent.kernel
def both(x: I.In[I.f32, ("N", "M")], z: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...] * I.transpose(z[...]), axis=0)


@intent.kernel
def one_number(x: I.In[I.f32, ()], y: I.Out[I.f32, ("M",)]):
    n = I.cast(I.indices(I.domain(0, 64)), I.f32)
    y[...] = I.zeros((y.shape[0],), I.f32) + I.reduce.sum(x[...] * n, axis=0)


@pytest.mark.parametrize(
    ("kernel", "along"),
    [
        (powers, "axis_M"), (planes, "axis_N"), (rows, None), (columns, "axis_M"), (both, None), (one_number, None),
    ],
)  # fmt: skip
def test_the_instance_axis_that_memory_runs_along(kernel, along):
    (group,) = analyze(lower(kernel)).groups
    assert contiguous(group) == along


@pytest.mark.parametrize(
    ("k", "l", "walked"),
    [
        (16, 16, (resident(16), serial(4))),
        (8, 100, (serial(1), serial(64))),
        (256, 2, (serial(64), serial(1))),
        (4, 4, (resident(4), resident(4))),
    ],
)
def test_blocks_of_all_reduced_axes_have_64_elements_together(k, l, walked):
    (group,) = default_plan(lower(planes), TARGET, {"K": k, "L": l, "N": 1000}).groups
    assert dict(group.instance) == {"axis_N": 64}
    assert (group.traversal("axis_K"), group.traversal("axis_L")) == walked
