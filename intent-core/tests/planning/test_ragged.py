"""Default plans of points that walk ranges of their own: as many to an instance as fill its lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import analyze, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.ragged import average, counted_axes
from intent.provider import PlanTable, Sized, settings
from intent.provider.registry import registry

CAPABILITIES = replace(
    registry().get("reference").capabilities,
    plans=PlanTable(
        warps="num_warps", warp_counts=(1, 2, 4), ragged=Sized(lanes=128, knobs=settings(num_warps=1))
    ),
)


@intent.kernel
def row_sums(values: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("M",)]):
    entries = I.domain(0, values.shape[0])
    for i in I.parallel(I.domain(0, y.shape[0])):
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]
        y[i] = I.reduce.sum(values[row], axis=0)


@intent.kernel
def starts_of_rows(x: I.In[I.f32, ("M", "N")], length: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    columns = I.domain(0, x.shape[1])
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.reduce.sum(x[i, columns[0 : I.cast(length[i], I.index)]], axis=0)


def planned(kernel, **extents):
    plan = default_plan(analyze(lower(kernel, {})), CAPABILITIES, extents or None)
    (group,) = plan.groups
    return dict(group.instance)["axis"], next(iter(dict(group.inner).values())), dict(plan.knobs)


@pytest.mark.parametrize(
    ("members", "points", "lanes"),
    [(32 * 1000, 4, 32), (20 * 1000, 4, 32), (3 * 1000, 16, 8), (128 * 1000, 1, 128), (5000 * 1000, 1, 128)],
)
def test_points_share_an_instance_by_how_many_members_they_have_on_average(members, points, lanes):
    assert planned(row_sums, K=members, M=1000, P=1001) == (points, serial(lanes), {"num_warps": 1})


def test_few_points_are_no_wider_than_they_are():
    assert planned(row_sums, K=6, M=2, P=3)[:2] == (2, serial(8))


def test_without_a_call_each_point_has_an_instance():
    assert planned(row_sums)[:2] == (1, serial(128))


def test_ranges_that_all_begin_at_the_same_place_do_not_share_the_axis_out():
    assert planned(starts_of_rows, M=1000, N=4000)[:2] == (1, serial(128))


@intent.kernel
def of_constant_length(values: I.In[I.f32, (4096,)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("M",)]):
    entries = I.domain(0, 4096)
    for i in I.parallel(I.domain(0, y.shape[0])):
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]
        y[i] = I.reduce.sum(values[row], axis=0)


@intent.kernel
def with_a_table(
    values: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], w: I.In[I.f32, ("L",)], y: I.Out[I.f32, ("M",)]
):
    entries = I.domain(0, values.shape[0])
    weight = I.reduce.sum(w[...] * I.cast(I.indices(I.domain(0, w.shape[0])), I.f32), axis=0)
    for i in I.parallel(I.domain(0, y.shape[0])):
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]
        y[i] = weight * I.reduce.sum(values[row], axis=0)


@intent.kernel
def beside_first_ones(
    values: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], w: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("M",)]
):
    entries = I.domain(0, values.shape[0])
    for i in I.parallel(I.domain(0, y.shape[0])):
        n = I.cast(offsets[i + 1], I.index) - I.cast(offsets[i], I.index)
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i], I.index) + n]
        y[i] = I.reduce.sum(values[row] * w[entries[0:n]], axis=0)


def shared(kernel, extents, points=10):
    """What each point has on average along the one axis whose length only data says."""
    analysis = analyze(lower(kernel, {}))
    (label,) = counted_axes(analysis)
    return average(analysis, label, extents, points)


def test_points_share_what_their_own_ranges_share_out():
    assert shared(row_sums, {"K": 95}) == 10
    assert shared(row_sums, {"K": 95}, points=0) == 95
    assert shared(row_sums, {"M": 95}) is None, "nothing says how many there are"
    assert shared(row_sums, None) is None
    assert shared(with_a_table, {"K": 95, "L": 7}) == 10
    assert shared(starts_of_rows, {"N": 95}) is None
    assert shared(beside_first_ones, {"K": 95}) is None, "every point has the first members of the second one"


def test_before_a_call_nothing_is_shared_out():
    assert shared(of_constant_length, {}) == 410
    assert shared(of_constant_length, None) is None


@intent.kernel
def walked_by_points(values: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("K",)]):
    entries = I.domain(0, values.shape[0])
    for i in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        for j in I.parallel(entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]):
            y[j] = values[j] * 2.0


def test_points_of_points_are_no_ranges():
    assert shared(walked_by_points, {"K": 95}) is None


@intent.kernel
def whole_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


def test_an_axis_without_ranges_is_nobodys():
    analysis = analyze(lower(whole_rows, {}))
    assert counted_axes(analysis) == set()
    assert average(analysis, "axis_N", {"M": 5, "N": 95}, 5) is None
