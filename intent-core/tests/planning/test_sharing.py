"""When the default plan shares reductions out among instances, and how far."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import analyze
from intent.construct.plan_record import plan_of_record, record_of_plan
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.candidates import candidates
from intent.planning.sharing import LEAST_ELEMENTS, LEAST_PARTS
from intent.provider import PlanTable
from intent.provider.registry import registry

CAPABILITIES = replace(registry().get("reference").capabilities, plans=PlanTable())
MOST = CAPABILITIES.plans.sharing


@intent.kernel
def total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[...], axis=0)


@intent.kernel
def row_totals(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def vecmat(x: I.In[I.f32, ("K",)], a: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("N",)]):
    y[...] = I.vecmat(x[...], a[...])


@intent.kernel
def softmax(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    e = I.exp(v - I.reduce.max(v, axis=0))
    y[...] = e / I.reduce.sum(e, axis=0)


@intent.fn
def peak_of(part):
    return I.reduce.max(part, axis=0)


@intent.fn
def higher(a, b):
    return I.maximum(a, b)


@intent.kernel
def peak(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        y[m] = I.region_fold(
            source=x[m, :], axis=0, summarize=peak_of, combine=higher, identity=I.cast(-I.inf, I.f32)
        )


def parts(source, **extents: int) -> int:
    (group,) = default_plan(analyze(lower(source)), CAPABILITIES, extents).groups
    return 1 if group.split is None else group.split[1]


def test_a_long_sum_fills_the_device():
    assert parts(total, N=1 << 27) == MOST


@pytest.mark.parametrize("n", [1, 1000, 30_000])
def test_a_sum_that_one_instance_holds_stays_there(n):
    assert parts(total, N=n) == 1


def test_no_instance_is_worth_less_than_its_arrival():
    for n in (70_000, 300_000, 5_000_000):
        assert LEAST_PARTS <= parts(total, N=n) <= n // LEAST_ELEMENTS
    assert 1 < parts(total, N=5_000_000) < MOST


def test_the_parts_of_all_rows_fill_the_device_together():
    assert parts(row_totals, M=16, N=1 << 22) == MOST // 16
    assert parts(row_totals, M=MOST // LEAST_PARTS + 1, N=1 << 22) == 1


def test_parts_that_are_combined_in_order_are_half_as_many():
    assert parts(peak, M=1, N=1 << 22) == MOST // 2


def test_a_reduction_that_needs_another_one_is_not_shared():
    assert parts(softmax, N=1 << 22) == 1


def test_nothing_is_shared_before_a_call_is_known():
    (group,) = default_plan(analyze(lower(total)), CAPABILITIES).groups
    assert group.split is None


def test_tuning_tries_other_numbers_of_parts():
    found = candidates(analyze(lower(total)), CAPABILITIES, {"N": 1 << 27}, {}, 12)
    assert {None, ("axis_N", MOST // 2), ("axis_N", MOST * 2)} <= {plan.groups[0].split for plan in found}


@pytest.mark.parametrize("peel", [True, False])
def test_a_target_may_want_the_loops_of_shared_reductions_whole(peel):
    table = replace(CAPABILITIES.plans, shared_peel=peel)
    plan = default_plan(analyze(lower(vecmat)), replace(CAPABILITIES, plans=table), {"K": 4_000_001, "N": 64})
    assert plan.groups[0].split is not None
    assert plan.peel is peel
    assert plan_of_record(record_of_plan(plan)) == plan
    loops = intent.compile(vecmat, provider="reference", plan=plan).program.segments[0].body.ops
    assert sum(isinstance(op, ph.Loop) for op in loops) == 1 + peel


@intent.kernel
def normalised_in_place(x: I.InOut[I.f32, ("N",)]):
    x[...] = x[...] / I.reduce.sum(x[...], axis=0)


@intent.kernel
def turned_in_place(x: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    x[...] = x[N - 1 - I.indices(I.domain(0, N))] / I.reduce.sum(x[...], axis=0)


@pytest.mark.parametrize(("kernel", "shared"), [(normalised_in_place, True), (turned_in_place, False)])
def test_teams_do_not_have_a_copy_of_the_axis_for_each_instance(kernel, shared):
    """Of 1056 copies of N elements all but one would stay empty."""
    assert (parts(kernel, N=1 << 24) > 1) == shared
