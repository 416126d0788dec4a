"""How colliding writes are made: by one atomic, around compare-and-swap, or by the owner of each element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent import kir
from intent.construct import GroupPlan, Plan, analyze, construct, serial
from intent.construct.plan import usually_native
from intent.diagnostics import PlanError
from intent.frontend import lower
from intent.kir.walk import walk as walk_kernel
from intent.physical import Atomic, While
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan, formed, minimal_plan
from intent.provider.registry import registry
from intent.reference.physical import execute
from intent.types import dtypes

EVERYTHING = registry().get("reference").capabilities
EXCHANGES = replace(
    EVERYTHING, atomics=frozenset(a for a in EVERYTHING.atomics if a[0] == "compare_exchange")
)
NOTHING = replace(EVERYTHING, atomics=frozenset())


@intent.fn
def product(old, new):
    return old * new


@intent.kernel
def scattered(x: I.In[I.u8, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.u8, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=product)


@intent.kernel
def rows(x: I.In[I.i16, ("M", "N")], at: I.In[I.i32, ("M", "N")], y: I.InOut[I.i16, ("M", "K")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.scatter_reduce(y, index=(i, at[i, j]), value=x[i, j], combine=I.add)


@intent.kernel
def twice(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.maximum)


def _forms(plan: Plan) -> list[str]:
    return [form for group in plan.groups for _, form in group.collisions]


@pytest.mark.parametrize(
    ("kernel", "capabilities", "form"),
    [
        (scattered, EVERYTHING, "exchange"),
        (scattered, EXCHANGES, "exchange"),
        (scattered, NOTHING, "ordered"),
        (rows, EVERYTHING, "native"),
        (rows, EXCHANGES, "exchange"),
        (rows, NOTHING, "ordered"),
    ],
)
def test_a_target_gets_the_first_form_that_it_has(kernel, capabilities, form):
    analysis = analyze(lower(kernel, {}))
    for plan in (minimal_plan(analysis, capabilities), default_plan(analysis, capabilities)):
        assert _forms(plan) == [form]


def test_without_atomics_instances_own_what_they_write():
    analysis = analyze(lower(rows, {}))
    labels = [axis.label for axis in analysis.groups[0].axes]
    plan = minimal_plan(analysis, NOTHING)
    assert [label for label, _ in plan.groups[0].instance] == labels[:1]
    (dropped,) = analysis.groups[0].in_order(list(analysis.groups[0].collisions)).refused
    assert (dropped.label, dropped.because) == (labels[1], "collision")


def test_writes_in_order_do_not_enter_program_space():
    kernel = lower(scattered, {})
    analysis = analyze(kernel)
    (axis,) = analysis.groups[0].axes
    plan = minimal_plan(analysis, NOTHING)
    spread = Plan(groups=(replace(plan.groups[0], instance=((axis.label, 1),)),))
    with pytest.raises(PlanError, match="is not an instance axis"):
        construct(kernel, spread, analysis)


def test_what_a_plan_says_is_kept():
    analysis = analyze(lower(rows, {}))
    (op,) = analysis.groups[0].collisions
    plan = Plan(groups=(GroupPlan(collisions=((op, "ordered"),)),))
    assert formed(plan, analysis, EVERYTHING) == plan


def test_statements_that_do_not_commute_share_an_instance():
    analysis = analyze(lower(twice, {}))
    assert not analysis.groups[0].axes
    assert [r.because for r in analysis.groups[0].refused] == ["same element"]


@pytest.mark.parametrize("capabilities", [EVERYTHING, EXCHANGES, NOTHING])
def test_no_form_races_or_loses_a_value(capabilities):
    kernel = lower(scattered, {})
    analysis = analyze(kernel)
    rng = np.random.default_rng(5)
    x, at = rng.integers(0, 256, 40, dtype=np.uint8), rng.integers(0, 3, 40, dtype=np.int32)
    for plan in (
        minimal_plan(analysis, capabilities),
        default_plan(analysis, capabilities, {"N": 40, "K": 3}),
    ):
        program = construct(kernel, plan, analysis)
        verify(program)
        y = np.array([1, 3, 5], np.uint8)
        wanted = y.copy()
        np.multiply.at(wanted, at, x)
        execute(program, {"x": x, "at": at, "y": y}, {}, {"N": 40, "K": 3}, order=rng, find_races=True)
        np.testing.assert_array_equal(y, wanted)


def test_an_exchange_is_a_loop_around_compare_and_swap():
    kernel = lower(scattered, {})
    analysis = analyze(kernel)
    program = construct(kernel, minimal_plan(analysis, EVERYTHING), analysis)
    ops = list(walk(program.segments[0].body))
    assert [op.kind for op in ops if isinstance(op, Atomic)] == ["compare_exchange"]
    assert any(isinstance(op, While) for op in ops)


@intent.kernel
def raised_by_points(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i], value=x[i], combine=I.add)


@intent.kernel
def added_twice(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    s = I.cumsum(x[...], axis=0)  # so that both are one group
    I.scatter_reduce(y, index=at[...], value=s, combine=I.add)
    I.scatter_reduce(y, index=at[...], value=s * 2, combine=I.add)


@intent.kernel
def exchanged_twice(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.exchange(y[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.exchange(y[at[i]], x[i] * 2)


@pytest.mark.parametrize("form", ["native", "exchange", "ordered"])
@pytest.mark.parametrize("kernel", [raised_by_points, added_twice, exchanged_twice])
def test_every_form_in_lanes_of_one_instance(kernel, form):
    lowered = lower(kernel, {})
    analysis = analyze(lowered)
    writes = [op for op in walk_kernel(lowered.body) if isinstance(op, kir.ScatterReduce | kir.Atomic)]
    if form != "native" and kernel is exchanged_twice:
        form = "native"
    labels = (
        {a.label for g in analysis.groups for a in g.axes}
        | {"axis", "axis_N", "points"}
        | set(analysis.inner)
    )
    group = GroupPlan(
        inner=tuple((label, serial(4)) for label in sorted(labels)),
        collisions=tuple((op.id, form) for op in writes),
    )
    program = construct(lowered, Plan(groups=(group,)), analysis)
    verify(program, lowered)
    rng = np.random.default_rng(5)
    x, at = rng.integers(-9, 9, 11, dtype=np.int32), np.int32([3, 1, 3, 0, 0, 2, 1, 3, 4, 4, 0])
    if kernel is exchanged_twice:
        at = rng.permutation(11).astype(np.int32)
    y = np.zeros(11, np.int32)
    values = {raised_by_points: x, added_twice: 3 * np.cumsum(x), exchanged_twice: 2 * x}[kernel]
    wanted = np.zeros(11, np.int32)
    np.add.at(wanted, at, values)
    execute(program, {"x": x, "at": at, "y": y}, {}, {"N": 11, "K": 11}, order=rng, find_races=True)
    np.testing.assert_array_equal(y, wanted)


@intent.kernel
def twelve_in_one(x: I.In[I.i32, (12,)], y: I.InOut[I.i32, (1,)]):
    for i in I.parallel(I.domain(0, 12)):
        I.scatter_reduce(y, index=0, value=x[i], combine=I.add)


@pytest.mark.parametrize("form", ["native", "exchange", "ordered"])
def test_lanes_that_nothing_masks(form):
    """Twelve lanes in blocks of four, all of them there: an exchange begins with every lane waiting."""
    lowered = lower(twelve_in_one, {})
    analysis = analyze(lowered)
    (write,) = (op for op in walk_kernel(lowered.body) if isinstance(op, kir.ScatterReduce))
    labels = {a.label for g in analysis.groups for a in g.axes} | set(analysis.inner) | {"axis"}
    group = GroupPlan(
        inner=tuple((label, serial(4)) for label in sorted(labels)), collisions=((write.id, form),)
    )
    program = construct(lowered, Plan(groups=(group,)), analysis)
    verify(program, lowered)
    y = np.array([5], np.int32)
    x = np.arange(1, 13, dtype=np.int32)
    execute(program, {"x": x, "y": y}, {}, {}, order=np.random.default_rng(5), find_races=True)
    assert y[0] == 5 + 78


@pytest.mark.parametrize(
    ("dtype", "kind", "native"),
    [
        ("i32", "max", True), ("u64", "sum", True), ("f32", "sum", True), ("bf16", "sum", True), ("f64", "sum", True),
        ("f32", "max", False), ("f16", "min", False), ("u8", "sum", False), ("i16", "max", False),
        ("f32", None, False), ("i32", None, False),
    ],
)  # fmt: skip
def test_what_gpus_usually_have_one_atomic_for(dtype, kind, native):
    lowered = lower(twelve_in_one, {})
    (write,) = (op for op in walk_kernel(lowered.body) if isinstance(op, kir.ScatterReduce))
    target = replace(write.target, dtype=getattr(dtypes, dtype.upper()))
    assert usually_native(replace(write, target=target, kind=kind)) is native
