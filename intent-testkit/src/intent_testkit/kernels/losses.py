"""Losses: reductions over pointwise expressions, indexed targets, rank-zero results."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def cross_entropy(logits: I.In[I.f32, ("M", "N")], target: I.In[I.i64, ("M",)], loss: I.Out[I.f32, ("M",)]):
    M, N = logits.shape
    for i in I.parallel(I.domain(0, M)):
        row = logits[i, :]
        peak = I.reduce.max(row, axis=0)
        total = I.reduce.sum(I.exp(row - peak), axis=0)
        loss[i] = I.log(total) + peak - logits[i, target[i]]


@intent.kernel
def mean_squared_error(x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("M", "N")], loss: I.Out[I.f32, ()]):
    M, N = x.shape
    d = x[...] - y[...]
    loss[...] = I.reduce.sum(d * d, axis=(0, 1)) / I.cast(M * N, I.f32)


@intent.kernel
def binary_cross_entropy(x: I.In[I.f32, ("M", "N")], t: I.In[I.f32, ("M", "N")], loss: I.Out[I.f32, ("M",)]):
    v = x[...]
    each = I.maximum(v, 0.0) - v * t[...] + I.log1p(I.exp(-I.abs(v)))
    loss[...] = I.reduce.sum(each, axis=1)


@intent.kernel
def smooth_l1(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], beta: I.f32, loss: I.Out[I.f32, ("N",)]):
    d = I.abs(x[...] - y[...])
    loss[...] = I.select(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)


@intent.kernel
def kl_divergence(
    log_q: I.In[I.f32, ("M", "N")],
    p: I.In[I.f32, ("M", "N")],
    each: I.Out[I.f32, ("M", "N")],
    row: I.Out[I.f32, ("M",)],
):
    d = p[...] * (I.log(p[...]) - log_q[...])
    each[...] = d
    row[...] = I.reduce.sum(d, axis=1)
