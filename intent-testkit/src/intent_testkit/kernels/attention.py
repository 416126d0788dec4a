"""Attention as people write it: region folds with masks, heads in groups, windows, lengths; and plain softmax."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def attended(kv, q, rows, scale, CAUSAL: I.Constexpr[bool], WINDOW: I.Constexpr[int]):
    """Unnormalised attention over a slice of keys, weights as powers of two; ``WINDOW`` 0 is no window."""
    logits = I.matmul(q, kv.k, transpose_rhs=True, acc_dtype=I.f32) * scale
    if CAUSAL:
        logits = I.mask(logits, kv.at[None, :] <= rows[:, None], -I.inf)
    if WINDOW > 0:
        logits = I.mask(logits, kv.at[None, :] > rows[:, None] - WINDOW, -I.inf)
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp2(logits - safe[:, None], approximate=True, flush_to_zero=True)
    return I.record(
        peak=peak,
        total=I.reduce.sum(weights, axis=1),
        out=I.matmul(I.cast(weights, I.bf16), kv.v, acc_dtype=I.f32),
    )


@intent.fn
def merged(a, b):
    peak = I.maximum(a.peak, b.peak)
    safe = I.select(peak == -I.inf, 0.0, peak)
    left = I.exp2(a.peak - safe, approximate=True, flush_to_zero=True)
    right = I.exp2(b.peak - safe, approximate=True, flush_to_zero=True)
    return I.record(
        peak=peak,
        total=a.total * left + b.total * right,
        out=a.out * left[:, None] + b.out * right[:, None],
    )


@intent.kernel
def flash_attention(
    q: I.In[I.bf16, ("B", "H", "M", "D")],
    k: I.In[I.bf16, ("B", "G", "N", "D")],
    v: I.In[I.bf16, ("B", "G", "N", "D")],
    o: I.Out[I.bf16, ("B", "H", "M", "D")],
    scale: I.f32,
    GROUP: I.Constexpr[int],
    CAUSAL: I.Constexpr[bool],
    WINDOW: I.Constexpr[int],
):
    """``GROUP`` heads of queries share one head of keys and values."""
    B, H, M, D = q.shape
    N = k.shape[2]
    axis = I.domain(0, N)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        g = h // GROUP
        start = I.record(
            peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, D), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[b, g, axis, :], v=v[b, g, axis, :], at=I.indices(axis)),
            axis=0,
            summarize=attended,
            combine=merged,
            identity=start,
            operands=(q[b, h, :, :], I.indices(I.domain(0, M)), scale * I.LOG2E, CAUSAL, WINDOW),
        )
        o[b, h, :, :] = I.cast(s.out / s.total[:, None], I.bf16)


@intent.kernel
def attention_forward(
    q: I.In[I.bf16, ("B", "H", "M", "D")],
    k: I.In[I.bf16, ("B", "H", "N", "D")],
    v: I.In[I.bf16, ("B", "H", "N", "D")],
    o: I.Out[I.bf16, ("B", "H", "M", "D")],
    CAUSAL: I.Constexpr[bool],
):
    """As many heads of keys as of queries, logits over the root of the head's length."""
    B, H, M, D = q.shape
    N = k.shape[2]
    axis = I.domain(0, N)
    scale = I.rsqrt(I.cast(D, I.f32)) * I.LOG2E
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        start = I.record(
            peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, D), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[b, h, axis, :], v=v[b, h, axis, :], at=I.indices(axis)),
            axis=0,
            summarize=attended,
            combine=merged,
            identity=start,
            operands=(q[b, h, :, :], I.indices(I.domain(0, M)), scale, CAUSAL, 0),
        )
        o[b, h, :, :] = I.cast(s.out / s.total[:, None], I.bf16)


@intent.fn
def attended_below(kv, q, length):
    """Attention over the keys of a slice that stand before ``length``, in f32."""
    logits = I.mask(I.matmul(q, kv.k, transpose_rhs=True), (kv.at < length)[None, :], -I.inf)
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp(logits - safe[:, None])
    return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=I.matmul(weights, kv.v))


@intent.fn
def merged_exactly(a, b):
    peak = I.maximum(a.peak, b.peak)
    safe = I.select(peak == -I.inf, 0.0, peak)
    left, right = I.exp(a.peak - safe), I.exp(b.peak - safe)
    return I.record(
        peak=peak,
        total=a.total * left + b.total * right,
        out=a.out * left[:, None] + b.out * right[:, None],
    )


@intent.kernel
def padded_attention(
    q: I.In[I.f32, ("B", "M", "D")],
    k: I.In[I.f32, ("B", "N", "D")],
    v: I.In[I.f32, ("B", "N", "E")],
    lengths: I.In[I.i32, ("B",)],
    o: I.Out[I.f32, ("B", "M", "E")],
):
    """Keys from ``lengths[b]`` on are padding; without any key the result is 0. Padding may hold anything."""
    B, M, D = q.shape
    N, E = v.shape[1], v.shape[2]
    axis = I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        length = I.cast(lengths[b], I.index)
        start = I.record(
            peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, E), I.f32)
        )
        inside = (I.indices(axis) < length)[:, None]
        s = I.region_fold(
            source=I.record(k=k[b, axis, :], v=I.mask(v[b, axis, :], inside, 0.0), at=I.indices(axis)),
            axis=0,
            summarize=attended_below,
            combine=merged_exactly,
            identity=start,
            operands=(q[b, :, :], length),
        )
        o[b, :, :] = I.select(s.total[:, None] > 0.0, s.out / s.total[:, None], 0.0)


@intent.kernel
def softmax_attention(
    q: I.In[I.bf16, ("B", "H", "M", "D")],
    k: I.In[I.bf16, ("B", "H", "N", "D")],
    v: I.In[I.bf16, ("B", "H", "N", "D")],
    o: I.Out[I.bf16, ("B", "H", "M", "D")],
    scale: I.f32,
    CAUSAL: I.Constexpr[bool],
):
    """The definition: no fold, no running maximum."""
    B, H, M, D = q.shape
    N = k.shape[2]
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        logits = I.matmul(q[b, h, :, :], k[b, h, :, :], transpose_rhs=True, acc_dtype=I.f32) * scale
        if CAUSAL:
            rows, columns = I.indices(I.domain(0, M)), I.indices(I.domain(0, N))
            logits = I.mask(logits, columns[None, :] <= rows[:, None], -I.inf)
        weights = I.exp(logits - I.reduce.max(logits, axis=1)[:, None])
        shares = weights / I.reduce.sum(weights, axis=1)[:, None]
        o[b, h, :, :] = I.cast(I.matmul(I.cast(shares, I.bf16), v[b, h, :, :], acc_dtype=I.f32), I.bf16)
