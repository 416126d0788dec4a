"""Plans that a kernel does not fit: refused in words, or guarded."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.construct import construct, resident
from intent.diagnostics import PlanError
from intent.planning import minimal_plan
from intent.provider.registry import registry

from .conftest import built


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0


@intent.kernel
def total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(x[...], axis=0)


@intent.kernel
def rows_of_eight(x: I.In[I.f32, ("N", 8)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def in_steps_of_its_own(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        for j in I.domain(0, x.shape[0], i + 1):
            y[i] = y[i] + x[j]


@intent.kernel
def at_most_eight(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.reduce.sum(x[0 : I.minimum(i, 8)], axis=0)


@intent.kernel
def added(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("B",)]):
    I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)


def program(kernel, **changes) -> ph.Program:
    """The program of the minimal plan with other entries in its only group."""
    taken = built(kernel)
    plan = minimal_plan(taken.analysis, registry().get("reference").capabilities, {"N": 9, "B": 4})
    (group,) = plan.groups
    return construct(taken.kernel, replace(plan, groups=(replace(group, **changes),)), taken.analysis)


def test_axes_that_a_group_does_not_have() -> None:
    with pytest.raises(PlanError, match=r"rows is not an instance axis of group 0; it has axis_N"):
        program(doubled, instance=(("rows", 4),))
    with pytest.raises(PlanError, match=r"axis_N is not an instance axis of group 0; it has none"):
        program(total, instance=(("axis_N", 4),))


def test_points_that_control_depends_on_are_alone() -> None:
    ((label, block),) = next(iter(program_of(in_steps_of_its_own))).instance
    assert block == 1
    assert program(in_steps_of_its_own, instance=((label, 1),)).guards == ()
    with pytest.raises(PlanError, match="its block must be 1, not 4"):
        program(in_steps_of_its_own, instance=((label, 4),))
    assert program(doubled, instance=(("axis_N", 4),)).guards == ()


def program_of(kernel):
    return minimal_plan(built(kernel).analysis, registry().get("reference").capabilities, {"N": 9}).groups


def test_lanes_that_do_not_hold_an_axis() -> None:
    (label,) = (
        label for label, axis in built(rows_of_eight).analysis.inner.items() if axis.extent.const == 8
    )
    assert program(rows_of_eight, inner=((label, resident(8)),)).guards == ()
    assert program(rows_of_eight, inner=((label, resident(16)),)).guards == ()
    with pytest.raises(PlanError, match="an axis of extent 8 does not fit 4 resident lanes"):
        program(rows_of_eight, inner=((label, resident(4)),))


def test_lanes_that_may_not_hold_an_axis_are_guarded() -> None:
    (label,) = (
        label for label, axis in built(at_most_eight).analysis.inner.items() if not axis.extent.launch_visible
    )
    assert program(at_most_eight, inner=((label, resident(8)),)).guards == ()
    (guard,) = program(at_most_eight, inner=((label, resident(4)),)).guards
    assert (guard.kind, guard.extent.const, guard.bound) == ("at_most", 8, 4)
    (label,) = (label for label, axis in built(total).analysis.inner.items())
    (guard,) = program(total, inner=((label, resident(4)),)).guards
    assert (guard.kind, str(guard.extent), guard.bound) == ("at_most", "N", 4)


def test_a_colliding_write_that_a_plan_does_not_list_is_made_as_is_usual() -> None:
    assert program(added, collisions=()) == program(added)
