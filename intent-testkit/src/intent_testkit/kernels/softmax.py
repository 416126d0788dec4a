"""Softmax in the forms authors write it."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def softmax_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = x[i, :]
        e = I.exp(row - I.reduce.max(row, axis=0))
        y[i, :] = e / I.reduce.sum(e, axis=0)


@intent.kernel
def softmax_bf16(x: I.In[I.bf16, ("M", "N")], y: I.Out[I.bf16, ("M", "N")]):
    v = I.cast(x[...], I.f32)
    e = I.exp(v - I.reduce.max(v, axis=-1)[:, None])
    y[...] = I.cast(e / I.reduce.sum(e, axis=-1)[:, None], I.bf16)


@intent.kernel
def log_softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    shifted = v - I.reduce.max(v, axis=1)[:, None]
    y[...] = shifted - I.log(I.reduce.sum(I.exp(shifted), axis=1))[:, None]


@intent.kernel
def softmax_columns(temperature: I.f32, x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...] / temperature
    e = I.exp(v - I.reduce.max(v, axis=0)[None, :])
    y[...] = e / I.reduce.sum(e, axis=0)[None, :]


@intent.kernel
def softmax_valid_length(
    x: I.In[I.f32, ("M", "N")], lengths: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M", "N")]
):
    M, N = x.shape
    cols = I.indices(I.domain(0, N))
    valid = cols[None, :] < I.cast(lengths[...], I.index)[:, None]
    v = I.mask(x[...], valid, -I.inf)
    e = I.mask(I.exp(v - I.reduce.max(v, axis=1)[:, None]), valid, 0.0)
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def sinkhorn(x: I.In[I.f32, ("B", 4, 4)], y: I.Out[I.f32, ("B", 4, 4)]):
    p = I.exp(x[...])
    p = p / I.reduce.sum(p, axis=2)[:, :, None]
    p = p / I.reduce.sum(p, axis=1)[:, None, :]
    p = p / I.reduce.sum(p, axis=2)[:, :, None]
    p = p / I.reduce.sum(p, axis=1)[:, None, :]
    p = p / I.reduce.sum(p, axis=2)[:, :, None]
    y[...] = p / I.reduce.sum(p, axis=1)[:, None, :]
