"""The plans that a search looks at first: one decision of the default plan is another, and their names say which."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, resident, serial
from intent.frontend import lower
from intent.planning.candidates import _neighbours as neighbours
from intent.planning.minimal import minimal
from intent.planning.sharing import with_split
from intent.provider import Capabilities, settings

GROUP = GroupPlan(
    instance=(("M", 4), ("N", 1)), inner=(("K", serial(1)), ("L", resident(8)), ("J", serial(6)))
)
WARPS = (1, 2, 4, 8)


def laid(*groups: GroupPlan, **knobs: int) -> Plan:
    return Plan(groups=groups, knobs=settings(**knobs), name="default")


@pytest.mark.parametrize(
    ("warps", "near"),
    [
        (1, ["warps 1", "warps 2"]),
        (2, ["warps 1", "warps 2", "warps 4"]),
        (8, ["warps 4", "warps 8"]),
        (3, ["warps 1", "warps 2", "warps 4"]),
        (16, ["warps 4", "warps 8"]),
    ],
)
def test_settings_go_one_step_up_or_down(warps, near):
    found = list(neighbours(laid(warps=warps, stages=3), {"warps": WARPS, "other": (0, 1)}))
    assert [plan.name for plan in found] == near
    for plan in found:
        assert plan.knobs == settings(stages=3, warps=int(plan.name.split()[1]))


def test_blocks_are_halved_and_doubled():
    found = {plan.name: plan.groups for plan in neighbours(laid(GROUP, GROUP), {})}
    names = ["M 2", "M 8", "N 2", "K 2", "J 3", "J 12"]
    assert [plan.name for plan in neighbours(laid(GROUP, GROUP), {})] == names + names
    # The last of each name is of the second group.
    wanted = {
        "M 2": replace(GROUP, instance=(("M", 2), ("N", 1))),
        "M 8": replace(GROUP, instance=(("M", 8), ("N", 1))),
        "N 2": replace(GROUP, instance=(("M", 4), ("N", 2))),
        "K 2": replace(GROUP, inner=(("K", serial(2)), *GROUP.inner[1:])),
        "J 3": replace(GROUP, inner=(*GROUP.inner[:2], ("J", serial(3)))),
        "J 12": replace(GROUP, inner=(*GROUP.inner[:2], ("J", serial(12)))),
    }
    assert found == {name: (GROUP, group) for name, group in wanted.items()}


@pytest.mark.parametrize(
    ("count", "others"), [(2, [None, 4]), (3, [None, 6]), (4, [None, 2, 8]), (9, [None, 4, 18])]
)
def test_parts_are_none_half_as_many_and_twice_as_many(count, others):
    """One part is no part."""
    found = list(neighbours(laid(GroupPlan(instance=(), inner=(), split=("K", count))), {}))
    names = ["K alone" if n is None else f"K split {n}" for n in others]
    assert [plan.name for plan in found] == names
    assert [plan.groups[0].split for plan in found] == [None if n is None else ("K", n) for n in others]


def test_blocks_beside_are_halved_and_doubled():
    found = list(neighbours(laid(GroupPlan(instance=(), inner=(), beside=(("K", 4), ("L", 1)))), {}))
    assert [plan.name for plan in found] == ["K beside 2", "K beside 8", "L beside 2"]
    assert [plan.groups[0].beside for plan in found] == [
        (("K", 2), ("L", 1)), (("K", 8), ("L", 1)), (("K", 4), ("L", 2)),
    ]  # fmt: skip


@intent.kernel
def total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[...], axis=0)


@pytest.mark.parametrize(("count", "made"), [(0, False), (1, False), (2, True), (3, True)])
def test_two_instances_can_share(count, made):
    analysis = analyze(lower(total))
    plan = minimal(analysis, Capabilities(dtypes=frozenset({"f32"})), {"N": 64})
    split = with_split(plan, 0, "axis_N", count, analysis)
    assert (split is not None) == made
    assert split is None or split.groups[0].split == ("axis_N", count)
