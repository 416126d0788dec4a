"""Instances that share the stores along an axis of which data says how long it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, serial
from intent.diagnostics import PlanError
from intent.frontend import lower
from intent.physical import Atomic
from intent.physical.verify import problems, verify
from intent.physical.walk import walk
from intent.reference import physical


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = 2.0 * x[span]


@intent.kernel
def in_place(offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)]):
    axis = I.domain(0, y.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = 2.0 * y[span]


@intent.kernel
def normalised(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = x[span] / I.reduce.sum(x[span], axis=0)


@intent.kernel
def twice(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("M",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = 2.0 * x[span]
        y[I.indices(span) + 1] = 3.0 * x[span]


@intent.kernel
def twice_beside_once(
    x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("M",)], z: I.InOut[I.f32, ("N",)]
):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = 2.0 * x[span]
        y[I.indices(span) + 1] = 3.0 * x[span]
        z[span] = x[span]


@intent.kernel
def shifted(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("M",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        for k in range(3):
            y[I.indices(span) + k] = I.cast(k, I.f32) * x[span]


@intent.kernel
def weighted(
    x: I.In[I.f32, ("N",)],
    w: I.In[I.f32, ("G", "K")],
    offsets: I.In[I.i32, ("P",)],
    y: I.InOut[I.f32, ("N",)],
    z: I.Out[I.f32, ("G",)],
):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, w.shape[0])):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        weight = I.reduce.sum(w[g, :], axis=0)
        y[span] = weight * x[span]
        z[g] = weight


def program(kernel, parts, block=2):
    lowered = lower(kernel)
    analysis = analyze(lowered)
    (group,) = analysis.groups
    plan = GroupPlan(
        instance=tuple((a.label, 1) for a in group.axes if a.owned),
        inner=tuple((label, serial(block)) for label in analysis.inner),
        split=("span", parts) if parts > 1 else None,
    )
    made = construct(lowered, Plan(groups=(plan,)), analysis)
    verify(made, lowered)
    return made


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("cuts", [[0, 3, 3, 13, 20], [2, 2, 2, 2, 2], [0, 20, 20, 20, 20], [5, 6, 8, 9, 16]])
def test_every_member_is_stored_once(parts, cuts, rng):
    made = program(doubled, parts)
    x = rng.normal(size=20).astype("f4")
    views = {"x": x, "offsets": np.int32(cuts), "y": np.full(20, -1, "f4")}
    physical.execute(made, views, {}, {"N": 20, "P": 5}, order=rng, find_races=True)
    wanted = np.where((np.arange(20) >= cuts[0]) & (np.arange(20) < cuts[-1]), 2 * x, -1)
    np.testing.assert_array_equal(views["y"], wanted)


def test_nothing_has_to_meet():
    made = program(doubled, 3)
    assert made.workspace == ()
    assert [s.parts for s in made.segments] == [1]
    assert not any(isinstance(op, Atomic) for s in made.segments for op in walk(s.body))
    assert made.segments[0].axes[-1].extent.const == 3


def test_stores_that_need_the_whole_reduction_are_for_the_last_instance(rng):
    made = program(normalised, 3)
    assert [s.parts for s in made.segments] == [3]
    x = rng.normal(size=20).astype("f4")
    views = {"x": x, "offsets": np.int32([0, 3, 3, 13, 20]), "y": np.full(20, -1, "f4")}
    physical.execute(made, views, {}, {"N": 20, "P": 5}, order=rng)
    spans = [x[0:3], x[3:13], x[13:20]]
    np.testing.assert_allclose(views["y"], np.concatenate([s / s.sum() for s in spans]), rtol=1e-4)


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (in_place, "read what the others write|no reduction walks"),
        (twice, "another part of an earlier store"),
        (twice_beside_once, "another part of an earlier store"),
        (shifted, "does not run along|no reduction walks"),
        (weighted, "does not run along span"),
    ],
)
def test_what_parts_cannot_do_alone_is_refused(kernel, reason):
    with pytest.raises(PlanError, match=reason):
        program(kernel, 2)
    program(kernel, 1)


def edited(program, node, **changes):
    """The program with other fields in the first operation of its body that ``node`` is true of."""
    (segment,) = program.segments
    found = next(op for op in segment.body.ops if node(op))
    ops = tuple(replace(op, **changes) if op is found else op for op in segment.body.ops)
    return replace(program, segments=(replace(segment, body=replace(segment.body, ops=ops)),))


@pytest.mark.rejects
@pytest.mark.parametrize(
    ("node", "changes", "rule"),
    [
        (lambda op: getattr(op, "fn", "") == "minimum", {"fn": "maximum"}, "conflicts-resolved"),
        (lambda op: getattr(op, "value", 0) == 3, {"value": 4}, "ownership-complete"),
    ],
    ids=["every part goes to the end", "a team of four has three"],
)
def test_parts_that_meet_or_are_left_out_are_named(node, changes, rule):
    """Data has to give one point several blocks: with one member for each point, all of them are in the first part."""
    made = program(doubled, 3)
    assert rule in problems(edited(made, node, **changes), lower(doubled))


@intent.kernel
def row_sums(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        y[g] = I.reduce.sum(x[axis[offsets[g] : offsets[g + 1]]], axis=0)


@pytest.mark.rejects
def test_later_blocks_of_several_points_are_compared_too():
    """Several points walk as far as the longest of them, and every part to the end: members are added twice."""
    kernel = lower(row_sums)
    analysis = analyze(kernel)
    (point,) = (axis.label for axis in analysis.groups[0].axes)
    (row,) = (label for label, axis in analysis.inner.items() if not axis.extent.launch_visible)
    plan = GroupPlan(instance=((point, 4),), inner=((row, serial(2)),), split=(row, 3))
    made = construct(kernel, Plan(groups=(plan,)), analysis)
    assert problems(made, kernel) == {}
    whole = edited(made, lambda op: getattr(op, "fn", "") == "minimum", fn="maximum")
    assert "coordinate-relation" in problems(whole, kernel)
