"""Groups whose members are read from memory: offsets, lengths, index lists, windows."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def group_sums(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("G",)]):
    N = x.shape[0]
    G = y.shape[0]
    groups = I.ragged(outer=I.domain(0, G), members=I.domain(0, N), offsets=offsets[...])
    for g in I.parallel(groups.outer):
        y[g] = I.reduce.sum(x[I.members(groups[g])], axis=0)


@intent.kernel
def group_softmax(x: I.In[I.f32, ("N",)], offsets: I.In[I.i64, ("P",)], y: I.InOut[I.f32, ("N",)], G: I.i32):
    N = x.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        v = x[span]
        e = I.exp(v - I.reduce.max(v, axis=0))
        y[span] = e / I.reduce.sum(e, axis=0)


@intent.kernel
def indexed_group_sums(
    x: I.In[I.f32, ("N", "D")],
    offsets: I.In[I.i32, ("P",)],
    list_: I.In[I.i32, ("K",)],
    y: I.Out[I.f32, ("G", "D")],
):
    N = x.shape[0]
    G = y.shape[0]
    groups = I.ragged(outer=I.domain(0, G), members=I.domain(0, N), offsets=offsets[...], indices=list_[...])
    for g in I.parallel(groups.outer):
        y[g, :] = I.reduce.sum(x[I.members(groups[g]), :], axis=0)


@intent.kernel
def sparse_rows(
    values: I.In[I.f32, ("K",)],
    columns: I.In[I.i32, ("K",)],
    offsets: I.In[I.i32, ("P",)],
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("M",)],
):
    K = values.shape[0]
    M = y.shape[0]
    entries = I.domain(0, K)
    for i in I.parallel(I.domain(0, M)):
        acc = I.cast(0.0, I.f32)
        for e in entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]:
            acc = acc + values[e] * x[columns[e]]
        y[i] = acc


@intent.kernel
def masked_mean(x: I.In[I.f32, ("M", "N")], lengths: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for i in I.parallel(I.domain(0, M)):
        n = I.cast(lengths[i], I.index)
        total = I.reduce.sum(x[i, columns[0:n]], axis=0)
        y[i] = total / I.maximum(I.cast(n, I.f32), 1.0)


@intent.kernel
def group_extremes(
    x: I.In[I.i32, ("N",)],
    offsets: I.In[I.i32, ("P",)],
    high: I.Out[I.i32, ("G",)],
    product: I.Out[I.i32, ("G",)],
    every: I.Out[I.bool, ("G",)],
):
    N = x.shape[0]
    G = high.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        v = x[span]
        high[g] = I.reduce.max(v, axis=0)
        product[g] = I.reduce.prod(v, axis=0)
        every[g] = I.reduce.all(v > 0, axis=0)


@intent.kernel
def group_ranks(x: I.In[I.i32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.i32, ("N",)], G: I.i32):
    """For every member the running sum in its group."""
    N = x.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span] = I.cumsum(x[span], axis=0)


@intent.kernel
def grouped_matmul(
    x: I.In[I.f32, ("N", "K")],
    w: I.In[I.f32, ("G", "K", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.InOut[I.f32, ("N", "E")],
):
    N = x.shape[0]
    G = w.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span, :] = I.matmul(x[span, :], w[g, :, :])


@intent.kernel
def paged_sum(
    pages: I.In[I.f32, ("B", "S")],
    table: I.In[I.i32, ("M", "L")],
    lengths: I.In[I.i32, ("M",)],
    y: I.Out[I.f32, ("M",)],
):
    B, S = pages.shape
    M, L = table.shape
    tokens = I.domain(0, L * S)
    for i in I.parallel(I.domain(0, M)):
        t = I.indices(tokens[0 : I.cast(lengths[i], I.index)])
        page = table[i, t // S]
        y[i] = I.reduce.sum(pages[page, t % S], axis=0)


@intent.kernel
def sliding_window(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], W: I.Constexpr[int]):
    N = x.shape[0]
    axis = I.domain(0, N)
    for i in I.parallel(axis):
        window = axis[I.maximum(i - W, 0) : I.minimum(i + W + 1, N)]
        y[i] = I.reduce.max(x[window], axis=0)
