"""Trials: which inputs they choose, when they stay undecided, and that legal programs of many plans pass."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct
from intent.frontend import lower
from intent.passes import PASSES, Permissions
from intent.physical import Guard
from intent.physical.verify import Comparison, problems
from intent.physical.verify.trial import trial
from intent.physical.verify.trial.inputs import Inputs, assignments, index_views, rounds
from intent.physical.verify.trial.lanes import live_lanes
from intent.physical.verify.trial.logical import Undecided
from intent.physical.verify.trial.structured import require_laws
from intent.planning import default_plan, minimal_plan, random_plan
from intent.provider.registry import registry
from intent.types import dtypes
from intent.types.extent import Symbol, symbol


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        e = I.exp(x[i, :] - I.reduce.max(x[i, :], axis=0))
        y[i, :] = e / I.reduce.sum(e, axis=0)


@intent.kernel
def attention(
    q: I.In[I.f32, ("M", "D")],
    k: I.In[I.f32, ("N", "D")],
    v: I.In[I.f32, ("N", "D")],
    o: I.Out[I.f32, ("M", "D")],
):
    s = I.matmul(q[...], k[...], transpose_rhs=True)
    p = I.exp(s - I.reduce.max(s, axis=1)[:, None])
    o[...] = I.matmul(p / I.reduce.sum(p, axis=1)[:, None], v[...])


@intent.kernel
def ragged(offsets: I.In[I.i32, ("P",)], x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("G",)]):
    members = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        y[g] = I.reduce.sum(x[members[offsets[g] : offsets[g + 1]]], axis=0)


@intent.kernel
def reshaped(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    y[...] = I.transpose(I.reshape(I.reshape(x[...], (M * N,)), (M, N)))


@intent.fn
def merged(a, b):
    n = a.n + b.n
    d = b.mean - a.mean
    return I.record(n=n, mean=a.mean + d * (b.n / n), m2=a.m2 + b.m2 + d * d * (a.n * (b.n / n)))


@intent.kernel
def spread(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    one = I.full(x.shape, 1.0, I.f32)
    zero = I.full(x.shape, 0.0, I.f32)
    found = I.reduce(
        I.record(n=one, mean=x[...], m2=zero),
        axis=1,
        identity=I.record(n=0.0, mean=0.0, m2=0.0),
        combine=merged,
    )
    y[...] = found.m2


KERNELS = {f.__name__: f for f in (softmax, attention, ragged, reshaped)}


def _programs(source, count=2):
    kernel = lower(source)
    analysis, capabilities = analyze(kernel), registry().get("reference").capabilities
    extents = dict.fromkeys("MNDPGK", 24)
    rng = np.random.default_rng(11)
    plans = [minimal_plan(analysis, capabilities, extents), default_plan(analysis, capabilities, extents)]
    plans += [random_plan(analysis, capabilities, rng, extents) for _ in range(count)]
    for plan in plans:
        yield kernel, construct(kernel, plan, analysis)


@pytest.mark.parametrize("relaxed", [False, True], ids=["source", "relaxed"])
@pytest.mark.parametrize("name", KERNELS)
def test_legal_programs_are_decided_and_pass_before_and_after_every_pass(name, relaxed):
    for kernel, constructed in _programs(KERNELS[name]):
        program = constructed
        for run in (lambda p, _: p, *(run for _, run in PASSES)):
            program = run(program, Permissions(relaxed=relaxed))
            assert problems(program, kernel) == {}
            assert Comparison(program, kernel).trial.decided


def test_a_law_that_holds_for_numbers_only_is_no_problem():
    for kernel, program in _programs(spread):
        assert problems(program, kernel) == {}


def _saturated(a, b):
    return (np.minimum(a[0] + b[0], 20),)


def test_orders_may_differ_where_a_law_is_of_the_values_that_the_author_has():
    """Zero is the identity up to 20, and sums that stop at 20 are associative, on numbers that are not negative."""
    zero = [np.int64(0)]
    require_laws([np.array([3, 15, 9])], zero, _saturated, commutes=True)
    for values in ([30], [3, 18, -9]):
        with pytest.raises(Undecided):
            require_laws([np.array(values)], zero, _saturated, commutes=True)
    last = [np.array([3, 4])], [np.int64(0)], lambda a, b: (np.where(b[0] == 0, a[0], b[0]),)
    require_laws(*last, commutes=False)
    with pytest.raises(Undecided):
        require_laws(*last, commutes=True)


def test_one_member_is_left_for_the_last_block():
    kernel = lower(softmax)
    analysis = analyze(kernel)
    groups = tuple(GroupPlan(instance=tuple((a.label, 8) for a in g.axes)) for g in analysis.groups)
    program = construct(kernel, Plan(groups=groups), analysis)
    several, *others = rounds(program)
    assert Symbol("M") in several
    assert next(assignments(kernel, program, several))[Symbol("M")] == 9
    assert next(assignments(kernel, program, others[-1]))[Symbol("M")] < 8


def test_index_views_are_those_that_reach_a_bound():
    assert index_views(lower(ragged)) == ("offsets",)
    inputs = Inputs({Symbol("P"): 4, Symbol("N"): 3, Symbol("G"): 3}, "ordinals", ("offsets",))
    assert inputs.contents("offsets", dtypes.I32, (4,)).tolist() == [0, 1, 2, 3]
    assert len(set(inputs.contents("x", dtypes.F32, (64,)).tolist())) > 20


def test_padding_is_cut_short_only_where_it_is_masked():
    kernel = lower(softmax)
    analysis = analyze(kernel)
    groups = tuple(GroupPlan(instance=tuple((a.label, 64) for a in g.axes)) for g in analysis.groups)
    whole = Guard(kind="divisible", extent=symbol("M"), bound=64)
    for guards, wanted in (((), 5), ((whole,), 64)):
        program = construct(kernel, Plan(groups=groups, guards=guards), analysis)
        sizes = live_lanes(program, {Symbol("M"): 3, Symbol("N"): 3})
        assert {d.axis: n for d, n in sizes.items()} == {"axis": wanted, "axis_N": 5}


def test_microscaled_formats_stay_undecided():
    @intent.kernel
    def scaled(
        a: I.In[I.u8, ("M", "G", 16)],
        s: I.In[I.u8, ("M", "G")],
        b: I.In[I.u8, ("G", 16, "N")],
        t: I.In[I.u8, ("N", "G")],
        c: I.Out[I.f32, ("M", "N")],
    ):
        c[...] = I.scaled_contract(
            a[...], s[...], b[...], t[...],
            lhs_format=I.e2m1, rhs_format=I.e2m1, lhs_group_size=32, rhs_group_size=32, acc_dtype=I.f32,
        )  # fmt: skip

    kernel, program = next(_programs(scaled, 0))
    found = Comparison(program, kernel).trial
    assert not found.decided
    assert "ring" in found.reason
    assert problems(program, kernel) == {}


def test_a_fault_of_the_trial_is_a_warning_and_no_refusal(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(trial, "effort", broken)
    kernel, program = next(_programs(softmax, 0))
    with pytest.warns(RuntimeWarning, match="trial of 'softmax' failed"):
        assert problems(program, kernel) == {}
