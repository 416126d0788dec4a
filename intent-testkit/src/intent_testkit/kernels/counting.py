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
def histogram_of_wide(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("K",)]):
    v, K = x[...], y.shape[0]
    y[...] = I.histogram(v, bins=K, valid=(v >= 0) & (v < I.cast(K, I.i64)), count_dtype=I.i64)


@intent.kernel
def histogram_of_planes(x: I.In[I.i16, ("L", "M", "N")], y: I.Out[I.u32, (16,)]):
    y[...] = I.histogram(x[...], bins=16, count_dtype=I.u32)


@intent.kernel
def histograms_of_halves(x: I.In[I.u8, ("N",)], low: I.Out[I.i32, (16,)], high: I.Out[I.i16, (16,)]):
    v = x[...]
    low[...] = I.histogram(v % 16, bins=16)
    high[...] = I.histogram(v // 16, bins=16, count_dtype=I.i16)


@intent.kernel
def histogram_in_a_loop(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    M, K = x.shape[0], y.shape[0]
    total = I.zeros((K,), I.i32)
    for i in range(M):
        total = total * 2 + I.histogram(x[i, :], bins=K)
    y[...] = total


@intent.kernel
def frequencies(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    v = x[...]
    y[...] = I.gather(I.histogram(v, bins=40), index=(v,))


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
