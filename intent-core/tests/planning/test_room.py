"""How wide a fragment may be: the lanes of the largest tile, or those that the warps of the plan have room for."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.widest import _beside as beside
from intent.planning.widest import _widest as widest
from intent.planning.widest import fitted
from intent.provider import Capabilities, MatrixTile, PlanTable, settings

TABLE = PlanTable(
    warps="warps",
    warp_counts=(1, 2, 4, 8, 16, 32),
    matrix=(MatrixTile(), MatrixTile(rows=256, columns=256, knobs=settings(warps=8))),
)


@intent.kernel
def add(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] + 1


@intent.kernel
def best_paths(e: I.In[I.f32, ("T", "N")], step: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    best = e[0, :]
    for t in range(1, e.shape[0]):
        best = I.reduce.max(best[:, None] + step[...], axis=0) + e[t, :]
    y[...] = best


@intent.kernel
def apart(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)], w: I.Out[I.f32, ("M",)]):
    y[...] = x[...] + 1
    w[...] = z[...] + 1


@pytest.mark.parametrize(
    ("lanes", "warps", "fits", "then"),
    [
        (16384, 1, 16384, 4),
        (32768, 1, 32768, 8),
        (32768, 16, 32768, 16),
        (65536, 1, 32768, 8),  # 32768 where no tile is larger,
        (65536, 4, 32768, 8),
        (65536, 8, 65536, 16),  # as many as the tile with these settings,
        (65536, 16, 65536, 16),  # or what the warps hold, 4096 lanes each
        (131072, 8, 65536, 16),
        (131072, 16, 65536, 16),
        (131072, 32, 131072, 32),
    ],
)
def test_a_block_is_halved_until_it_fits(lanes, warps, fits, then):
    plan = Plan(groups=(GroupPlan(instance=(("axis_N", lanes),)),), knobs=settings(warps=warps), name="mine")
    made = fitted(plan, analyze(lower(add)), [], TABLE)
    assert made.groups[0].instance == (("axis_N", fits),)
    assert made.knobs == settings(warps=then)


def test_the_shorter_of_two_like_dims_decides_how_much_of_the_axis_goes_at_once():
    """128 x 128 lanes twice: all 128 fit beside them, and another axis of 2 does not matter."""
    analysis = analyze(lower(best_paths))
    plan = default_plan(analysis, Capabilities(dtypes=frozenset({"f32"})), {"T": 4, "N": 128})
    number, dims = widest(construct(analysis.kernel, plan, analysis))
    assert [d.size for d in dims] == [128, 128]
    laid = beside(plan, number, (*dims, replace(dims[0], axis="axis_T", size=2)), analysis)
    assert laid is not None
    assert laid.groups[0].beside == (("axis_N", 128),)


@pytest.mark.parametrize(("n", "m", "number"), [(4, 8, 1), (8, 4, 0), (8, 8, 0)])
def test_the_widest_fragment_of_all_segments_is_found_and_the_first_of_two(n, m, number):
    analysis = analyze(lower(apart))
    groups = (GroupPlan(instance=(("axis_N", n),)), GroupPlan(instance=(("axis_M", m),)))
    found, dims = widest(construct(analysis.kernel, Plan(groups=groups, name="mine"), analysis))
    assert (found, [d.size for d in dims]) == (number, [8])
