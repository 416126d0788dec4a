"""Default plans of histograms: bins in lanes where the target counts so many at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, resident, serial
from intent.frontend import lower
from intent.kir.walk import walk
from intent.planning import default_plan, random_plan
from intent.planning.counting import bins_in_lanes, histograms_of
from intent.provider import PlanTable, Walk, settings
from intent.provider.registry import registry

TABLE = PlanTable(
    warps="num_warps",
    warp_counts=(1, 2, 4, 8),
    counting=Walk(block=512, knobs=settings(num_warps=8)),
    counting_parts=6,
    planes=Walk(block=64, knobs=settings(num_warps=2)),
)
CAPABILITIES = replace(
    registry().get("reference").capabilities, plans=TABLE, histogram=1024, atomics=frozenset()
)


@intent.kernel
def counts(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 40)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i, :] = I.histogram(x[i, :], bins=40)


@intent.kernel
def planes(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    y[...] = I.cumsum(I.histogram(x[...], bins=y.shape[0]), axis=0)


@intent.kernel
def most_of_two(
    x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)], z: I.Out[I.i32, ("L",)], m: I.Out[I.i32, (1,)]
):
    fine = I.histogram(x[...], bins=y.shape[0])
    coarse = I.histogram(x[...], bins=z.shape[0])
    m[0] = I.reduce.max(fine, axis=0) + I.reduce.max(coarse, axis=0)
    y[...] = 0
    z[...] = 0


def plan_of(kernel, capabilities=CAPABILITIES, **extents):
    return default_plan(lower(kernel), capabilities, extents)


def test_all_bins_are_in_lanes_and_values_in_blocks():
    plan = plan_of(counts, N=512 * 100 + 1, K=1000)
    (group,) = plan.groups
    assert group.instance == ()
    assert dict(group.inner) == {"axis_N": serial(512), "axis_K": resident(1024)}
    assert group.split == ("axis_N", 6)
    assert dict(plan.knobs) == {"num_warps": 8}


@pytest.mark.parametrize(
    ("values", "bins", "planes"),
    [(1 << 22, 256, True), ((1 << 22) - 1, 256, False), (1 << 22, 257, False), (1 << 22, 3, True)],
)
def test_many_values_of_few_bins_are_counted_in_planes(values, bins, planes):
    some = replace(CAPABILITIES, planes=256)
    plan = plan_of(counts, some, N=values, K=bins)
    assert plan.planes == planes
    assert plan.groups[0].traversal("axis_N") == serial(64 if planes else 512)
    assert dict(plan.knobs) == {"num_warps": 2 if planes else 8}
    assert not plan_of(counts, N=values, K=bins).planes


@pytest.mark.parametrize(("fine", "coarse", "planes"), [(256, 16, True), (257, 16, False), (16, 257, False)])
def test_all_histograms_of_a_loop_have_few_bins_where_they_are_counted_in_planes(fine, coarse, planes):
    some = replace(CAPABILITIES, planes=256)
    assert plan_of(most_of_two, some, N=1 << 22, K=fine, L=coarse).planes == planes


def test_short_walks_are_not_worth_planes():
    some = replace(CAPABILITIES, planes=256)
    assert plan_of(planes, some, M=100, N=1 << 22, K=16).planes
    assert not plan_of(planes, some, M=1 << 22, N=1000, K=16).planes


def test_parts_are_fewer_the_more_bins_the_last_one_adds():
    many = replace(CAPABILITIES, plans=replace(TABLE, counting_parts=1000))
    found = [plan_of(counts, many, N=1 << 22, K=bins).groups[0].split for bins in (64, 256, 1024)]
    assert found == [("axis_N", 443), ("axis_N", 221), ("axis_N", 110)]


def test_few_values_are_counted_at_once():
    (group,) = plan_of(counts, N=300, K=1000).groups
    assert group.traversal("axis_N") == resident(512)
    assert group.split is None


@pytest.mark.parametrize("atomics", [frozenset(), frozenset({("add", "i32")})])
def test_more_bins_than_the_target_counts_are_spread_over_instances(atomics):
    many = replace(CAPABILITIES, histogram=256, atomics=atomics)
    (group,) = plan_of(counts, many, N=1 << 20, K=5000).groups
    assert group.block("axis_K") is not None
    (group,) = plan_of(counts, many, N=1 << 20, K=1000).groups
    assert (group.block("axis_K") is None) == bool(atomics)


def test_bins_whose_number_is_unknown_are_spread_over_instances():
    (group,) = default_plan(lower(counts), CAPABILITIES, None).groups
    assert group.block("axis_K") is not None


def test_a_row_is_an_instance():
    (group,) = plan_of(rows, M=100, N=3000).groups
    assert group.instance == (("axis", 1),)
    assert resident(64) in dict(group.inner).values()


def test_the_last_axis_has_the_lanes():
    (group,) = plan_of(planes, M=100, N=3000, K=16).groups
    assert (group.traversal("axis_M"), group.traversal("axis_N")) == (serial(1), serial(512))
    (group,) = plan_of(planes, M=100, N=100, K=16).groups
    assert (group.traversal("axis_M"), group.traversal("axis_N")) == (serial(4), resident(128))


def test_random_plans_have_bins_in_lanes_and_on_instances():
    analysis, rng = analyze(lower(counts)), np.random.default_rng(1)
    found = [random_plan(analysis, CAPABILITIES, rng, {"N": 100, "K": 20}).groups[0] for _ in range(30)]
    inside = [g for g in found if g.block("axis_K") is None]
    assert 5 < len(inside) < 25
    assert {g.traversal("axis_K").mode for g in inside} == {"resident", "serial"}


def test_random_plans_count_in_planes_where_the_target_does():
    analysis, rng = analyze(lower(counts)), np.random.default_rng(1)
    some = replace(CAPABILITIES, planes=256)
    found = [random_plan(analysis, some, rng, {"N": 100, "K": 20}).planes for _ in range(30)]
    assert 5 < sum(found) < 25
    assert not any(random_plan(analysis, CAPABILITIES, rng, {"N": 100, "K": 20}).planes for _ in range(30))


@intent.kernel
def at_their_own_bins(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.histogram(x[i, :], bins=16)[i]


@intent.kernel
def beside_the_values(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    v = x[...]
    y[...] = I.histogram(v, bins=x.shape[0]) + v


@intent.kernel
def fullest(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    y[...] = I.reduce.max(I.histogram(x[...], bins=16), axis=0)


@intent.kernel
def counts_added(x: I.In[I.i32, ("M", "N")], at: I.In[I.i32, ("M", "K")], y: I.InOut[I.i32, ("L",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i, :], value=I.histogram(x[i, :], bins=at.shape[1]), combine=I.add)


@pytest.mark.parametrize(
    ("kernel", "labels"),
    [
        (counts, {"axis_K"}),
        (planes, {"axis_K"}),
        (fullest, {"n16"}),
        (counts_added, {"K"}),
        (at_their_own_bins, set()),
        (beside_the_values, set()),
    ],
)
def test_bins_that_may_be_in_lanes(kernel, labels):
    analysis = analyze(lower(kernel))
    (group,) = analysis.groups
    ops = histograms_of(walk(analysis.kernel.body))
    assert set(bins_in_lanes(ops, group, analysis, lambda _: 16, 16)) == labels
    assert bins_in_lanes(ops, group, analysis, lambda _: 17, 16) == {}
    assert bins_in_lanes(ops, group, analysis, lambda _: None, 16) == {}
