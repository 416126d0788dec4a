"""What plans say of themselves, and what is said of plans and records that say nothing sensible."""

from __future__ import annotations

import re

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, resident, serial
from intent.construct.plan_record import plan_of_record, record_of_plan
from intent.diagnostics import PlanError, TextError
from intent.frontend import lower
from intent.physical import Guard
from intent.types.extent import symbol

FULL = Plan(
    groups=(
        GroupPlan(
            instance=(("rows", 4), ("columns", 64)),
            inner=(("k", serial(32)), ("j", resident(16))),
            grouped=8,
            collisions=((7, "native"), (9, "exchange")),
            split=("k", 3),
            beside=(("j", 2),),
        ),
        GroupPlan(),
    ),
    guards=(Guard(kind="at_most", extent=symbol("J"), bound=16),),
    knobs=(("warps", 8), ("stages", 2)),
    online=False,
    peel=False,
    planes=True,
)


def test_a_plan_says_all_that_it_decides() -> None:
    guard = FULL.guards[0]
    assert str(FULL).splitlines()[:4] == [
        (
            "group 0: rows=instance(4) columns=instance(64) k=serial(32) j=resident(16) grouped(8) j beside(2) "
            "k split(3) collision%9=exchange"
        ),
        "group 1: one instance",
        f"guards: {guard}",
        "knobs: warps=8, stages=2",
    ]
    assert len(str(FULL).splitlines()) == 7
    assert str(Plan(groups=(GroupPlan(),))) == "group 0: one instance"


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def unbounded(at: I.In[I.index, ("M",)], y: I.Out[I.index, ("M",)]):
    for i in I.parallel(I.domain(0, at.shape[0])):
        sums = I.scan(I.indices(I.domain(0, at[i])), axis=0, identity=0, combine=plus)
        y[i] = sums[at[i] // 2]


def _refusal(kernel: object, *groups: GroupPlan) -> str:
    lowered = lower(kernel)
    with pytest.raises(PlanError) as refused:
        construct(lowered, Plan(groups=groups), analyze(lowered))
    return " ".join(str(refused.value).split())


def test_a_plan_for_another_number_of_groups() -> None:
    assert "the plan has 2 groups, the kernel 1" in _refusal(row_sums, GroupPlan(), GroupPlan())


def test_an_axis_shared_out_among_what_is_no_number() -> None:
    walked = GroupPlan(instance=(("axis_M", 1),), inner=(("axis_N", serial(4)),), split=("axis_N", 1))
    said = "axis_N is shared out among 1 instances; it takes an int from 2 to 2147483647"
    assert said in _refusal(row_sums, walked)


def test_a_value_that_has_no_bound() -> None:
    said = _refusal(unbounded, GroupPlan())
    assert re.search(
        r"nothing known before launch bounds the extent max\(.*, 0\), so that 'sums' cannot be held", said
    )


def test_a_record_whose_truth_is_none() -> None:
    record = record_of_plan(FULL) | {"peel": 1}
    with pytest.raises(TextError, match=re.escape("'peel' of its plan is 1, neither true nor false")):
        plan_of_record(record)


def test_a_record_of_a_group_that_says_more_than_is_known() -> None:
    record = record_of_plan(FULL)
    record["groups"][1]["warped"] = True
    with pytest.raises(TextError, match=re.escape("its plan has 'warped', which this version does not know")):
        plan_of_record(record)
