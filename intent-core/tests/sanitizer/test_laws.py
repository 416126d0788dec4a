"""Helpers that break the equations of their operations, and look as if they did not."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import BrokenLaw

F = np.float32


def laws(report):
    """The laws that a report says are broken."""
    assert all(isinstance(v, BrokenLaw) for v in report), str(report)
    return {v.message.partition(" the law ")[2] for v in report}


ASSOCIATIVE = "combine(combine(a, b), c) == combine(a, combine(b, c))"
COMMUTATIVE = "combine(a, b) == combine(b, a)"
LEFT, RIGHT = "combine(identity, x) == x", "combine(x, identity) == x"
FOLD = "summarize(A ++ B) == combine(summarize(A), summarize(B))"
ACTION = "apply(combine(a, b), state) == apply(b, apply(a, state))"
UNMOVED = "apply(identity, state) == state"
EMIT = "emit(A ++ B, state) == concat(emit(A, state), emit(B, apply(summarize(A), state)))"


@intent.fn
def average(a, b):
    return (a + b) * 0.5


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def row_average(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=average)


@intent.kernel
def row_sum(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=plus)


def test_a_running_average(clean):
    x = np.linspace(-1, 1, 15).astype(F).reshape(3, 5)
    report = intent.check(row_average, x)
    assert laws(report) == {ASSOCIATIVE, LEFT, RIGHT}
    assert report[0].span.source.strip() == "y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=average)"
    clean(row_sum, x, np.zeros(3, F))


@intent.fn
def first_larger(a, b):
    take = b.value > a.value
    return I.record(value=I.select(take, b.value, a.value), where=I.select(take, b.where, a.where))


@intent.fn
def lowest_larger(a, b):
    take = (b.value > a.value) | ((b.value == a.value) & (b.where < a.where))
    return I.record(value=I.select(take, b.value, a.value), where=I.select(take, b.where, a.where))


@intent.kernel
def peak_first(x: I.In[I.f32, ("M", "N")], y: I.Out[I.i64, ("M",)]):
    M, N = x.shape
    at = I.cast(I.indices(I.domain(0, N)), I.i64)[None, :] + I.zeros((M, N), I.i64)
    zero = I.record(value=-I.inf, where=9223372036854775807)
    y[...] = I.reduce(I.record(value=x[...], where=at), axis=1, identity=zero, combine=first_larger).where


@intent.kernel
def peak_lowest(x: I.In[I.f32, ("M", "N")], y: I.Out[I.i64, ("M",)]):
    M, N = x.shape
    at = I.cast(I.indices(I.domain(0, N)), I.i64)[None, :] + I.zeros((M, N), I.i64)
    zero = I.record(value=-I.inf, where=9223372036854775807)
    y[...] = I.reduce(I.record(value=x[...], where=at), axis=1, identity=zero, combine=lowest_larger).where


def test_ties(clean):
    """'The first one wins' depends on an order that a reduction does not have; only ties show it."""
    ties, y = np.array([[1, 2, 2, 0]], F), np.zeros(1, np.int64)
    report = intent.check(peak_first, ties)
    assert laws(report) == {COMMUTATIVE}
    clean(peak_first, np.array([[1, 2, 3, 0]], F), y)
    clean(peak_lowest, ties, y)


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.kernel
def peak_from_zero(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=larger)


@intent.kernel
def peak_from_infinity(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=-I.inf, combine=larger)


def test_zero_is_no_identity_of_max(clean):
    x, y = np.array([[-1, -2, -3]], F), np.zeros(1, F)
    assert laws(intent.check(peak_from_zero, x)) == {LEFT, RIGHT}
    clean(peak_from_zero, -x, y)
    clean(peak_from_infinity, x, y)


@intent.fn
def merge_unguarded(a, b):
    peak = I.maximum(a[0], b[0])
    return (peak, a[1] * I.exp(a[0] - peak) + b[1] * I.exp(b[0] - peak))


@intent.fn
def merge_guarded(a, b):
    peak = I.maximum(a[0], b[0])
    safe = I.select(peak == -I.inf, 0.0, peak)
    return (peak, a[1] * I.exp(a[0] - safe) + b[1] * I.exp(b[0] - safe))


@intent.kernel
def log_sum_unguarded(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    v = x[...]
    pair = (v, I.full(v.shape, 1.0, I.f32))
    peak, total = I.reduce(pair, axis=1, identity=(-I.inf, 0.0), combine=merge_unguarded)
    y[...] = peak + I.log(total)


@intent.kernel
def log_sum_guarded(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    v = x[...]
    pair = (v, I.full(v.shape, 1.0, I.f32))
    peak, total = I.reduce(pair, axis=1, identity=(-I.inf, 0.0), combine=merge_guarded)
    y[...] = peak + I.log(total)


def test_the_identity_meets_itself(clean):
    """Two lanes without elements: -inf - -inf."""
    x, y = np.linspace(-3, 3, 12).astype(F).reshape(2, 6), np.zeros(2, F)
    report = intent.check(log_sum_unguarded, x)
    assert laws(report) == {LEFT, RIGHT}
    assert "nan" in str(report)
    clean(log_sum_guarded, x, y)


@intent.fn
def affine_swapped(first, second):
    return I.record(a=first.a * second.a, b=first.a * second.b + first.b)


@intent.fn
def affine(first, second):
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)


@intent.kernel
def total_map(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    zero = I.record(a=1.0, b=0.0)
    y[...] = I.reduce(I.record(a=a[...], b=b[...]), axis=0, identity=zero, combine=affine).b


@intent.kernel
def map_prefixes(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    zero = I.record(a=1.0, b=0.0)
    y[...] = I.scan(I.record(a=a[...], b=b[...]), axis=0, identity=zero, combine=affine).b


def test_a_reduction_of_what_only_a_scan_may_combine(clean):
    a, b = np.linspace(0.5, 1.5, 7).astype(F), np.linspace(-1, 2, 7).astype(F)
    assert laws(intent.check(total_map, a, b)) == {COMMUTATIVE}
    clean(map_prefixes, a, b, np.zeros(7, F))


@intent.fn
def decayed(a, b):
    return a * 0.9 + b


@intent.kernel
def moving(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.scan(x[...], axis=0, identity=0.0, combine=decayed)


@intent.kernel
def moving_in_order(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    kept = I.cast(0.0, I.f32)
    for i in I.domain(0, x.shape[0]):
        kept = kept * 0.9 + x[i]
        y[i] = kept


def test_a_recurrence_is_no_scan(clean):
    x = np.linspace(1, 2, 9).astype(F)
    assert laws(intent.check(moving, x)) == {ASSOCIATIVE, RIGHT}
    clean(moving_in_order, x, np.zeros(9, F))


@intent.fn
def saturating(a, b):
    return I.minimum(a + b, 100)


@intent.kernel
def capped_sum(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    y[...] = I.reduce(x[...], axis=0, identity=0, combine=saturating)


def test_a_law_that_only_some_values_break(clean):
    """A cap on the sum is fine as long as nothing is negative."""
    assert laws(intent.check(capped_sum, np.array([90, 60, -70, 30, -20, 80], np.int32), rounds=8)) >= {
        ASSOCIATIVE
    }
    clean(capped_sum, np.array([90, 60, 70], np.int32), np.zeros((), np.int32))


@intent.fn
def newest(old, value):
    return value


@intent.fn
def either(old, value):
    return old | value


@intent.kernel
def overwrite(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("M",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=newest)


@intent.kernel
def unite(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("M",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=either)


def test_scatter_reduce(clean):
    x, at, y = np.array([1, 2, 3], np.int32), np.array([0, 0, 1], np.int32), np.zeros(2, np.int32)
    assert laws(intent.check(overwrite, x, at, y)) == {COMMUTATIVE}
    clean(unite, x, at, y)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e7])
def test_rounding_breaks_no_law(clean, spread):
    """Cancelling sums in f16 differ by their order, and are still sums."""
    rng = np.random.default_rng(3)
    x = (rng.standard_normal((4, 33)) * spread).astype(F)
    clean(row_sum, x, np.zeros(4, F))
    clean(half_sum, np.clip(x, -6e4, 6e4).astype(np.float16), np.zeros(4, np.float16))


@intent.kernel
def half_sum(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M",)]):
    zero = I.cast(0.0, I.f16)
    y[...] = I.reduce(x[...], axis=1, identity=zero, combine=plus)


# -- slices


@intent.fn
def mean_of(part):
    total = I.reduce.sum(part, axis=0)
    count = I.reduce.sum(part * 0.0 + 1.0, axis=0)
    return I.record(mean=total / count, count=count)


@intent.fn
def mean_of_means(a, b):
    return I.record(mean=(a.mean + b.mean) * 0.5, count=a.count + b.count)


@intent.fn
def weighted_mean(a, b):
    count = a.count + b.count
    safe = I.maximum(count, 1.0)
    return I.record(mean=(a.mean * a.count + b.mean * b.count) / safe, count=count)


@intent.kernel
def mean_by_slices(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    zero = I.record(mean=0.0, count=0.0)
    y[...] = I.region_fold(
        source=x[...], axis=0, summarize=mean_of, combine=mean_of_means, identity=zero
    ).mean


@intent.kernel
def mean_by_weighted_slices(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    zero = I.record(mean=0.0, count=0.0)
    y[...] = I.region_fold(
        source=x[...], axis=0, summarize=mean_of, combine=weighted_mean, identity=zero
    ).mean


def test_a_fold(clean):
    x = np.linspace(0, 5, 11).astype(F) ** 2
    report = intent.check(mean_by_slices, x)
    assert laws(report) == {FOLD, ASSOCIATIVE, LEFT, RIGHT}
    assert any("of the source axis" in note for v in report for note in v.notes)
    clean(mean_by_weighted_slices, x, np.zeros((), F))


@intent.fn
def peak_of(part):
    return I.reduce.max(part, axis=0)


@intent.kernel
def peak_by_slices(x: I.In[I.f32, ("N", "D")], y: I.Out[I.f32, ("D",)]):
    D = x.shape[1]
    y[...] = I.region_fold(
        source=x[...], axis=0, summarize=peak_of, combine=larger, identity=I.zeros((D,), I.f32)
    )


@intent.kernel
def peak_by_slices_from_infinity(x: I.In[I.f32, ("N", "D")], y: I.Out[I.f32, ("D",)]):
    D = x.shape[1]
    y[...] = I.region_fold(
        source=x[...], axis=0, summarize=peak_of, combine=larger, identity=I.full((D,), -I.inf, I.f32)
    )


def test_the_identity_of_a_fold(clean):
    x = np.array([[1, -1], [2, -3], [0, -2]], F)
    assert laws(intent.check(peak_by_slices, x)) == {LEFT, RIGHT}
    clean(peak_by_slices, np.abs(x), np.zeros(2, F))
    clean(peak_by_slices_from_infinity, x, np.zeros(2, F))


@intent.fn
def decay_of(part):
    later = I.cumprod(part.a, axis=0, inclusive=False, reverse=True)
    return I.record(a=I.reduce.prod(part.a, axis=0), b=I.reduce.sum(part.b * later, axis=0))


@intent.fn
def advance(summary, state):
    return summary.a * state + summary.b


@intent.fn
def advance_undecayed(summary, state):
    return state + summary.b


@intent.fn
def outputs(part, state):
    first = I.record(a=part.a, b=part.b)
    prefix = I.scan(first, axis=0, identity=I.record(a=1.0, b=0.0), combine=affine)
    return prefix.a * state + prefix.b


@intent.fn
def outputs_forgetting(part, state):
    first = I.record(a=part.a, b=part.b)
    prefix = I.scan(first, axis=0, identity=I.record(a=1.0, b=0.0), combine=affine)
    return prefix.b


@intent.kernel
def recurrence(
    a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], s: I.f32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]
):
    y[...], z[...] = I.region_scan(
        source=I.record(a=a[...], b=b[...]), axis=0, summarize=decay_of, combine=affine,
        identity=I.record(a=1.0, b=0.0), initial_state=s, apply=advance, emit=outputs,
    )  # fmt: skip


@intent.kernel
def recurrence_undecayed(
    a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], s: I.f32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]
):
    y[...], z[...] = I.region_scan(
        source=I.record(a=a[...], b=b[...]), axis=0, summarize=decay_of, combine=affine,
        identity=I.record(a=1.0, b=0.0), initial_state=s, apply=advance_undecayed, emit=outputs,
    )  # fmt: skip


@intent.kernel
def recurrence_forgetting(
    a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], s: I.f32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]
):
    y[...], z[...] = I.region_scan(
        source=I.record(a=a[...], b=b[...]), axis=0, summarize=decay_of, combine=affine,
        identity=I.record(a=1.0, b=0.0), initial_state=s, apply=advance, emit=outputs_forgetting,
    )  # fmt: skip


@intent.kernel
def recurrence_swapped(
    a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], s: I.f32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]
):
    y[...], z[...] = I.region_scan(
        source=I.record(a=a[...], b=b[...]), axis=0, summarize=decay_of, combine=affine_swapped,
        identity=I.record(a=1.0, b=0.0), initial_state=s, apply=advance, emit=outputs,
    )  # fmt: skip


def test_a_region_scan(clean):
    a, b = np.linspace(0.5, 1.2, 9).astype(F), np.linspace(-1, 2, 9).astype(F)
    clean(recurrence, a, b, 0.5, np.zeros(9, F), np.zeros((), F))
    assert laws(intent.check(recurrence_undecayed, a, b, 0.5)) == {ACTION, EMIT}
    assert laws(intent.check(recurrence_forgetting, a, b, 0.5)) == {EMIT}
    assert laws(intent.check(recurrence_swapped, a, b, 0.5)) == {FOLD, ACTION}


@intent.kernel
def recurrence_from_nothing(
    a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], s: I.f32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]
):
    y[...], z[...] = I.region_scan(
        source=I.record(a=a[...], b=b[...]), axis=0, summarize=decay_of, combine=affine,
        identity=I.record(a=0.0, b=0.0), initial_state=s, apply=advance, emit=outputs,
    )  # fmt: skip


def test_the_identity_leaves_states_alone():
    a, b = np.linspace(0.5, 1.2, 9).astype(F), np.linspace(-1, 2, 9).astype(F)
    assert laws(intent.check(recurrence_from_nothing, a, b, 0.5)) == {LEFT, RIGHT, UNMOVED}
