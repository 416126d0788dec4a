"""Histograms and random bits."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def histogram_whole(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def histogram_of_bytes(x: I.In[I.u8, ("M", "N")], y: I.Out[I.i64, (300,)]):
    v = x[...]
    y[...] = I.histogram(v, bins=300, valid=v > 3, count_dtype=I.i64)


@intent.kernel
def histogram_of_rows(x: I.In[I.i32, ("M", "N")], lengths: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M", "K")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for i in I.parallel(I.domain(0, M)):
        y[i, :] = I.histogram(x[i, columns[0 : I.cast(lengths[i], I.index)]], bins=y.shape[1])


@intent.kernel
def counting_ranks(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    y[...] = I.cumsum(I.histogram(x[...], bins=y.shape[0]), axis=0, inclusive=False)


@intent.kernel
def random_words(seed: I.In[I.u64, ("M",)], counter: I.In[I.i64, ("N",)], y: I.Out[I.u32, ("M", "N")]):
    y[...] = I.random.bits(seed[...][:, None], counter[...][None, :])


@intent.kernel
def dropout(seed: I.i64, p: I.f32, x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    i = I.indices(I.domain(0, M))[:, None] * N + I.indices(I.domain(0, N))[None, :]
    u = I.random.uniform(seed, i)
    y[...] = I.select(u < p, 0.0, x[...] * 2.0)
