"""Attention with a cache in pages, and attention without a softmax as a scan over states, which may fade."""

from __future__ import annotations

import intent
import intent.language as I
from intent_testkit.kernels.attention import merged
from intent_testkit.kernels.states import emit_linear, outer_of, plus


@intent.fn
def decoded(kv, q, scale):
    """Unnormalised attention of a few queries over a slice of keys, weights as powers of two."""
    logits = I.matmul(q, kv.k, transpose_rhs=True, acc_dtype=I.f32) * scale
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp2(logits - safe[:, None], approximate=True, flush_to_zero=True)
    return I.record(
        peak=peak,
        total=I.reduce.sum(weights, axis=1),
        out=I.matmul(I.cast(weights, I.f16), kv.v, acc_dtype=I.f32),
    )


@intent.kernel
def paged_decode(
    q: I.In[I.f16, ("B", "G", "R", "D")],
    k: I.In[I.f16, ("P", "S", "G", "D")],
    v: I.In[I.f16, ("P", "S", "G", "D")],
    table: I.In[I.i32, ("B", "L")],
    lengths: I.In[I.i32, ("B",)],
    o: I.Out[I.f16, ("B", "G", "R", "D")],
):
    """``R`` heads of queries share a head of keys, which stand in pages of ``S`` tokens; no length is 0."""
    B, G, R, D = q.shape
    S, L = k.shape[1], table.shape[1]
    tokens = I.domain(0, L * S)
    scale = I.rsqrt(I.cast(D, I.f32)) * I.LOG2E
    for b, g in I.parallel((I.domain(0, B), I.domain(0, G))):
        t = I.indices(tokens[0 : I.cast(lengths[b], I.index)])
        page = table[b, t // S]
        start = I.record(
            peak=I.full((R,), -I.inf, I.f32), total=I.zeros((R,), I.f32), out=I.zeros((R, D), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[page, t % S, g, :], v=v[page, t % S, g, :]),
            axis=0,
            summarize=decoded,
            combine=merged,
            identity=start,
            operands=(q[b, g, :, :], scale),
        )
        o[b, g, :, :] = I.cast(s.out / s.total[:, None], I.f16)


@intent.kernel
def linear_attention_heads(
    q: I.In[I.f32, ("H", "T", "D")],
    k: I.In[I.f32, ("H", "T", "D")],
    v: I.In[I.f32, ("H", "T", "E")],
    y: I.Out[I.f32, ("H", "T", "E")],
):
    H, T, D = q.shape
    axis = I.domain(0, T)
    zero = I.zeros((D, v.shape[2]), I.f32)
    for h in I.parallel(I.domain(0, H)):
        outputs, _ = I.region_scan(
            source=I.record(q=q[h, axis, :], k=k[h, axis, :], v=v[h, axis, :], at=I.indices(axis)),
            axis=0,
            summarize=outer_of,
            combine=plus,
            identity=zero,
            initial_state=zero,
            apply=plus,
            emit=emit_linear,
        )
        y[h, :, :] = outputs


@intent.fn
def gated_sum(part):
    """How far a slice lets a state fade, as a logarithm, and what its own keys and values have left at its end."""
    left = I.cumsum(part.gate, axis=0, inclusive=False, reverse=True)
    keys = I.cast(I.cast(part.k, I.f32) * I.exp(left)[:, None], I.bf16)
    return I.record(
        fades=I.reduce.sum(part.gate, axis=0),
        state=I.matmul(keys, part.v, transpose_lhs=True, acc_dtype=I.f32),
    )


@intent.fn
def gated_join(first, second):
    return I.record(
        fades=first.fades + second.fades,
        state=I.exp(second.fades) * first.state + second.state,
    )


@intent.fn
def gated_step(summary, state):
    return I.exp(summary.fades) * state + summary.state


@intent.fn
def gated_emit(part, state):
    since = I.cumsum(part.gate, axis=0)
    seen = part.at[None, :] <= part.at[:, None]
    faded = I.exp(I.select(seen, since[:, None] - since[None, :], -I.inf))
    within = I.cast(I.matmul(part.q, part.k, transpose_rhs=True, acc_dtype=I.f32) * faded, I.bf16)
    before = I.matmul(part.q, I.cast(state, I.bf16), acc_dtype=I.f32) * I.exp(since)[:, None]
    return I.cast(before + I.matmul(within, part.v, acc_dtype=I.f32), I.bf16)


@intent.kernel
def gated_linear_attention(
    q: I.In[I.bf16, ("B", "T", "H", "D")],
    k: I.In[I.bf16, ("B", "T", "H", "D")],
    v: I.In[I.bf16, ("B", "T", "H", "E")],
    gate: I.In[I.f32, ("B", "T", "H")],
    y: I.Out[I.bf16, ("B", "T", "H", "E")],
):
    """The state fades by ``exp(gate)``, at most 1, before each step's outer product is added to it."""
    B, T, H, D = q.shape
    E = v.shape[3]
    axis = I.domain(0, T)
    empty = I.zeros((D, E), I.f32)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        outputs, _ = I.region_scan(
            source=I.record(
                q=q[b, axis, h, :],
                k=k[b, axis, h, :],
                v=v[b, axis, h, :],
                gate=gate[b, axis, h],
                at=I.indices(axis),
            ),
            axis=0,
            summarize=gated_sum,
            combine=gated_join,
            identity=I.record(fades=I.cast(0.0, I.f32), state=empty),
            initial_state=empty,
            apply=gated_step,
            emit=gated_emit,
        )
        y[b, :, h, :] = outputs
