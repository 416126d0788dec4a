"""Making a plan legal: lane counts that a target has, single points, forms of colliding writes, guards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import intent
import intent.language as I
from intent import kir
from intent.construct import Analysis, GroupPlan, Plan, analyze, resident, serial
from intent.frontend import lower
from intent.kir.walk import walk
from intent.physical import Guard
from intent.planning import random_plan
from intent.planning.collisions import arranged, form_of, formed
from intent.planning.legal import (
    bound_of,
    divisible,
    lanes,
    legal,
    must_be_whole,
    overwritten,
    power_of_two,
    size_of,
)
from intent.provider import Capabilities
from intent.provider.registry import registry
from intent.types.extent import Extent, const, dyn, scalar, symbol

PLAIN = replace(registry().get("reference").capabilities, power_of_two=False)
POWERS = replace(PLAIN, power_of_two=True)


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def counted(x: I.In[I.i32, ("N",)], sums: I.InOut[I.f32, ("K",)], count: I.InOut[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(count[x[i]], 1)
        I.scatter_reduce(sums, index=(x[i],), value=1.0, combine=I.add)


@intent.kernel
def turned(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("N",)]):
    T, N = x.shape
    state = I.zeros((N,), I.f32)
    i = I.indices(I.domain(0, N))
    for t in range(T):
        state = state[(i + 1) % N] * 0.5 + x[t, :]
    y[...] = state


@intent.kernel
def transposed(x: I.InOut[I.i32, ("N", "N")]):
    x[...] = I.transpose(x[...])


@intent.kernel
def goes_where_it_says(x: I.InOut[I.i32, ("N",)]):
    at = I.cast(x[...], I.index)
    I.scatter_unique(x, index=at, value=x[...] + 0)


@intent.kernel
def rows_go_where_they_say(x: I.InOut[I.i32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        at = I.cast(x[i, :], I.index)
        I.scatter_unique(x, index=(i, at), value=x[i, :] + 0)


@intent.kernel
def rows_share_a_sum(x: I.InOut[I.i32, ("M", "N")], s: I.In[I.i32, ("K",)]):
    """The sum is made once, by an instance that has all rows."""
    at = I.cast(x[...], I.index)
    i = I.indices(I.domain(0, x.shape[0]))
    I.scatter_unique(x, index=(i[:, None], at), value=x[...] + I.reduce.sum(s[...], axis=0))


@intent.kernel
def planes_share_a_sum(x: I.InOut[I.i32, ("M", "L", "N")], s: I.In[I.i32, ("K",)]):
    at = I.cast(x[...], I.index)
    i, j = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    value = x[...] + I.reduce.sum(s[...], axis=0)
    I.scatter_unique(x, index=(i[:, None, None], j[None, :, None], at), value=value)


@intent.kernel
def planes_go_where_they_say(x: I.InOut[I.i32, ("M", "L", "N")]):
    at = I.cast(x[...], I.index)
    i, j = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    I.scatter_unique(x, index=(i[:, None, None], j[None, :, None], at), value=x[...] + 0)


@intent.kernel
def adds_where_it_says(x: I.InOut[I.i32, ("N",)]):
    at = I.cast(x[...], I.index)
    I.scatter_reduce(x, index=at, value=x[...] + 0, combine=I.add)


def analysed(kernel: Any) -> Analysis:
    return analyze(lower(kernel))


@pytest.mark.parametrize(
    ("n", "power"), [(-3, 1), (0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (1025, 2048)]
)
def test_the_least_power_of_two(n: int, power: int) -> None:
    assert power_of_two(n) == power
    assert lanes(n, POWERS) == power
    assert lanes(n, PLAIN) == max(1, n)


def test_blocks_become_what_the_target_can_have() -> None:
    analysis = analysed(row_sums)
    (group,) = analysis.groups
    rows, columns = group.axes[0].label, next(a for a in analysis.inner if a != group.axes[0].label)
    asked = GroupPlan(instance=((rows, 5),), inner=((columns, serial(12)),), grouped=3)
    plan = Plan(groups=(asked,), name="asked", guards=(Guard(kind="divisible", extent=symbol("N"), bound=4),))
    (made,) = legal(plan, analysis, POWERS).groups
    assert made.instance == ((rows, 8),)
    assert made.inner == ((columns, serial(16)),)
    assert made.grouped == 3
    assert legal(plan, analysis, PLAIN) == plan
    assert legal(
        replace(plan, groups=(replace(asked, inner=((columns, resident(12)),)),)), analysis, POWERS
    ).groups[0].inner == ((columns, resident(16)),)


def test_an_axis_that_is_none_of_the_group_leaves_its_instances() -> None:
    analysis = analysed(row_sums)
    plan = Plan(groups=(GroupPlan(instance=(("elsewhere", 4), (analysis.groups[0].axes[0].label, 4))),))
    assert legal(plan, analysis, PLAIN).groups[0].instance == ((analysis.groups[0].axes[0].label, 4),)


def _ops(analysis: Analysis) -> dict[str, kir.ScatterReduce | kir.Atomic]:
    return {
        type(op).__name__: op
        for op in walk(analysis.kernel.body)
        if isinstance(op, kir.ScatterReduce | kir.Atomic)
    }


@pytest.mark.parametrize(
    ("atomics", "scatter", "atomic"),
    [
        ({("add", "f32"), ("add", "i32")}, "native", "native"),
        ({("add", "i32"), ("compare_exchange", "f32")}, "exchange", "native"),
        ({("max", "f32"), ("compare_exchange", "i32")}, "ordered", "exchange"),
        (set(), "ordered", "native"),
    ],
)
def test_the_form_of_a_colliding_write(atomics: set[tuple[str, str]], scatter: str, atomic: str) -> None:
    analysis = analysed(counted)
    ops = _ops(analysis)
    target: Capabilities = replace(PLAIN, atomics=frozenset(atomics))
    assert form_of(ops["ScatterReduce"], target) == scatter
    assert form_of(ops["Atomic"], target) == atomic
    plan = Plan(groups=tuple(GroupPlan() for _ in analysis.groups))
    found = dict(c for group in formed(plan, analysis, target).groups for c in group.collisions)
    assert found == {ops["ScatterReduce"].id: scatter, ops["Atomic"].id: atomic}


def test_a_form_that_the_plan_names_stays() -> None:
    analysis = analysed(counted)
    op = _ops(analysis)["ScatterReduce"]
    groups = [
        GroupPlan(collisions=((op.id, "ordered"),)) if op.id in group.statements else GroupPlan()
        for group in analysis.groups
    ]
    made = formed(Plan(groups=tuple(groups)), analysis, replace(PLAIN, atomics=frozenset({("add", "f32")})))
    assert dict(c for g in made.groups for c in g.collisions)[op.id] == "ordered"


def test_a_plan_of_another_kernel_is_left_alone() -> None:
    analysis = analysed(counted)
    plan = Plan(groups=tuple(GroupPlan() for _ in range(len(analysis.groups) + 1)))
    assert formed(plan, analysis, PLAIN) is plan


def test_carried_tensors_are_whole() -> None:
    analysis = analysed(turned)
    whole = must_be_whole(analysis)
    assert whole == {label for label, axis in analysis.inner.items() if "carried" in axis.roles}
    assert whole
    assert must_be_whole(analysed(row_sums)) == set()


@pytest.mark.parametrize(
    ("kernel", "extents"),
    [
        (transposed, []),
        (goes_where_it_says, ["N"]),
        (rows_go_where_they_say, ["N"]),
        (rows_share_a_sum, ["M", "N"]),
        (adds_where_it_says, []),
    ],
)
def test_where_destinations_are_overwritten_too_the_axis_is_whole(kernel: Any, extents: list[str]) -> None:
    analysis = analysed(kernel)
    assert sorted(str(analysis.inner[label].extent) for label in overwritten(analysis)) == extents


def test_axes_of_instances_that_own_what_they_combine() -> None:
    analysis = analysed(counted)
    able = replace(PLAIN, atomics=frozenset({("add", "f32"), ("add", "i32")}))
    free, owned = (
        [len(group.axes) for group in arranged(analysis, target)]
        for target in (able, replace(able, atomics=frozenset()))
    )
    assert free == [len(group.axes) for group in analysis.groups]
    assert owned != free


@pytest.mark.parametrize(
    ("extent", "extents", "size"),
    [
        (const(7), None, 7),
        (symbol("N"), None, 64),
        (symbol("N"), {"N": 5}, 5),
        (symbol("N") * 2 + 1, {"N": 5}, 11),
        (scalar("n"), {"n": 9}, 9),
        (symbol("M"), {"N": 5}, 64),
    ],
)
def test_the_size_of_an_extent(extent: Extent, extents: dict[str, int] | None, size: int) -> None:
    assert size_of(extent, extents, 64) == size


def test_the_bound_of_an_inner_axis() -> None:
    analysis = analysed(row_sums)
    columns = next(label for label, axis in analysis.inner.items() if axis.extent is symbol("N"))
    assert bound_of(analysis, columns, {"N": 12}, 64) == 12
    assert bound_of(analysis, columns, None, 64) == 64


@pytest.mark.parametrize(
    ("extent", "block", "value", "guarded"),
    [
        (symbol("N"), 4, 12, True),
        (symbol("N"), 4, 13, False),
        (symbol("N"), 1, 12, False),
        (const(12), 4, 12, False),
        (dyn(3), 4, 12, False),
    ],
)
def test_when_blocks_cover_an_extent(extent: Extent, block: int, value: int, guarded: bool) -> None:
    wanted = Guard(kind="divisible", extent=extent, bound=block) if guarded else None
    assert divisible(extent, block, value) == wanted


@intent.kernel
def either(x: I.In[I.i32, ("M", "M")], other: I.In[I.i32, ("M", "M")], s: I.i32, y: I.Out[I.i32, ("M", "M")]):
    chosen = x[...]
    if s > 0:
        chosen = other[...]
    y[...] = I.matmul(chosen, chosen, transpose_rhs=True)


@pytest.mark.parametrize("s", [0, 1])
def test_what_a_branch_at_its_place_gives_is_whole_in_lanes(s):
    """In place the inputs are copied, so that the branch is where its reads are held; its result is read across."""
    artifact = intent.compile(either, "reference")
    x = np.arange(25, dtype=np.int32).reshape(5, 5)
    wanted = (x, -x)[s] @ (x, -x)[s].T
    both = (x, -x)[s].copy()
    artifact(*((both, -x), (x, both))[s], s, both)
    np.testing.assert_array_equal(both, wanted)


@pytest.mark.parametrize(("kernel", "axes"), [(planes_share_a_sum, {1, 2}), (planes_go_where_they_say, {2})])
def test_random_plans_keep_axes_inside_that_a_snapshot_does_not_own(kernel: Any, axes: set[int]) -> None:
    analysis, rng = analysed(kernel), np.random.default_rng(0)
    plans = [random_plan(analysis, PLAIN, rng, {"M": 2, "L": 3, "N": 4, "K": 5}) for _ in range(20)]
    assert {len(plan.groups[0].instance) for plan in plans} - {0} == axes
