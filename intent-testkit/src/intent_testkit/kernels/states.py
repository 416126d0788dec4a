"""Region scans: outputs along an axis from an incoming state, and the state after the last member."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def affine(first, second):
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)


@intent.fn
def decay_of(part):
    later = I.cumprod(part.a, axis=0, inclusive=False, reverse=True)
    return I.record(a=I.reduce.prod(part.a, axis=0), b=I.reduce.sum(part.b * later, axis=0))


@intent.fn
def decay_apply(summary, state):
    return summary.a * state + summary.b


@intent.fn
def decay_emit(part, state):
    prefix = I.scan(part, axis=0, identity=I.record(a=1.0, b=0.0), combine=affine)
    return prefix.a * state[None, :] + prefix.b


@intent.kernel
def decaying_sum(
    a: I.In[I.f64, ("T", "D")],
    x: I.In[I.f64, ("T", "D")],
    start: I.In[I.f64, ("D",)],
    h: I.Out[I.f64, ("T", "D")],
    last: I.Out[I.f64, ("D",)],
):
    D = x.shape[1]
    none = I.record(a=I.full((D,), 1.0, I.f64), b=I.zeros((D,), I.f64))
    states, final = I.region_scan(
        source=I.record(a=a[...], b=x[...]),
        axis=0,
        summarize=decay_of,
        combine=affine,
        identity=none,
        initial_state=start[...],
        apply=decay_apply,
        emit=decay_emit,
    )
    h[...] = states
    last[...] = final


@intent.fn
def outer_of(part):
    """The sum of outer products of keys and values of a slice."""
    return I.matmul(part.k, part.v, transpose_lhs=True)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def emit_linear(part, state):
    within = I.matmul(part.q, part.k, transpose_rhs=True)
    causal = I.select(part.at[None, :] <= part.at[:, None], within, 0.0)
    return I.matmul(part.q, state) + I.matmul(causal, part.v)


@intent.kernel
def linear_attention(
    q: I.In[I.f32, ("T", "D")],
    k: I.In[I.f32, ("T", "D")],
    v: I.In[I.f32, ("T", "E")],
    y: I.Out[I.f32, ("T", "E")],
    state: I.Out[I.f32, ("D", "E")],
):
    T, D = q.shape
    E = v.shape[1]
    axis = I.domain(0, T)
    zero = I.zeros((D, E), I.f32)
    outputs, final = I.region_scan(
        source=I.record(q=q[axis, :], k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0,
        summarize=outer_of,
        combine=plus,
        identity=zero,
        initial_state=zero,
        apply=plus,
        emit=emit_linear,
    )
    y[...] = outputs
    state[...] = final


@intent.fn
def counts_of(part):
    return I.reduce.sum(I.cast(part > 0, I.i32), axis=0)


@intent.fn
def number_members(part, seen):
    hit = I.cast(part > 0, I.i32)
    return I.select(part > 0, I.cumsum(hit, axis=0, inclusive=False) + seen, -1)


@intent.kernel
def number_positive(x: I.In[I.i32, ("N",)], begin: I.i32, y: I.Out[I.i32, ("N",)], total: I.Out[I.i32, ()]):
    numbers, after = I.region_scan(
        source=x[...],
        axis=0,
        summarize=counts_of,
        combine=plus,
        identity=0,
        initial_state=begin,
        apply=plus,
        emit=number_members,
    )
    y[...] = numbers
    total[...] = after


@intent.fn
def rows_of(part):
    return I.reduce.sum(part, axis=1)


@intent.fn
def emit_pair(part, state):
    inclusive = I.cumsum(part, axis=1) + state[:, None]
    return I.record(up_to=inclusive, before=inclusive - part)


@intent.kernel
def two_outputs(
    x: I.In[I.i64, ("M", "N")], up_to: I.Out[I.i64, ("M", "N")], before: I.Out[I.i64, ("M", "N")]
):
    M = x.shape[0]
    zero = I.zeros((M,), I.i64)
    outputs, _ = I.region_scan(
        source=x[...],
        axis=1,
        summarize=rows_of,
        combine=plus,
        identity=zero,
        initial_state=zero,
        apply=plus,
        emit=emit_pair,
    )
    up_to[...] = outputs.up_to
    before[...] = outputs.before
