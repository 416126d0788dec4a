"""Loops whose first point differs between lanes: what is known of their points, and which lanes they are for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.construct import Plan
from intent.physical.walk import walk
from intent.planning import minimal_plan
from intent.provider.registry import registry
from intent.reference import physical

from .conftest import built


@intent.kernel
def from_before(x: I.In[I.f32, (16,)], y: I.InOut[I.f32, (8,)]):
    for i in I.parallel(I.domain(0, 8)):
        for j in I.domain(i - 2, i + 1):
            y[i] = y[i] + x[j + 1]


@intent.kernel
def from_the_own(x: I.In[I.f32, (16,)], y: I.InOut[I.f32, (8,)]):
    for i in I.parallel(I.domain(0, 8)):
        for j in I.domain(i - 2, i + 1):
            y[i] = y[i] + x[j + 2]


def _in_lanes(kernel) -> tuple[ph.Program, Plan]:
    taken = built(kernel)
    plan = minimal_plan(taken.analysis, registry().get("reference").capabilities, {"N": 5})
    (group,) = plan.groups
    ((label, _),) = group.instance
    plan = replace(plan, groups=(replace(group, instance=((label, 4),)),))
    return taken.program(plan), plan


@pytest.mark.parametrize(("kernel", "tests"), [(from_before, True), (from_the_own, False)])
def test_the_first_of_all_lanes_bounds_the_points(kernel, tests) -> None:
    made, _ = _in_lanes(kernel)
    proofs = [
        op.proofs[0]
        for op in walk(made.segments[0].body)
        if isinstance(op, ph.Load) and op.source.name == "x"
    ]
    assert proofs
    assert all((proof.kind == "guard") is tests for proof in proofs)


@intent.kernel
def to_the_end(at: I.In[I.index, ("N",)], x: I.In[I.f32, (9,)], y: I.InOut[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, at.shape[0])):
        for j in I.domain(at[i], 9):
            y[i] = y[i] + x[j]


def test_lanes_without_a_point_walk_nothing(rng: np.random.Generator) -> None:
    made, plan = _in_lanes(to_the_end)
    at, x = np.array([9, 7, 8, 9, 7]), rng.integers(-9, 9, 9).astype(np.float32)
    y = np.zeros(5, np.float32)
    physical.execute(made, {"at": at, "x": x, "y": y}, {}, {"N": 5}, order=rng)
    np.testing.assert_array_equal(y, [x[k:].sum() for k in at], err_msg=str(plan))
    ops = list(walk(made.segments[0].body))
    (longest,) = (op for op in ops if isinstance(op, ph.Reduce) and op.kind == "max")
    (count,) = (op for op in ops if longest.operands[0].id in {r.id for r in op.results})
    assert isinstance(count, ph.Pointwise)
    assert count.fn == "select", "what is read in front of a lane without a point says nothing"
