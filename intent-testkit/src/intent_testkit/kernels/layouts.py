"""Transpose, permute, reshape, join and what is built from them."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def transpose(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    y[...] = I.transpose(x[...])


@intent.kernel
def transpose_f16(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("N", "M")]):
    y[...] = I.transpose(x[...], (1, 0))


@intent.kernel
def permute(x: I.In[I.i32, ("A", "B", "C")], y: I.Out[I.i32, ("C", "A", "B")]):
    y[...] = I.transpose(x[...], (2, 0, 1))


@intent.kernel
def flatten(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("L",)]):
    M, N = x.shape
    y[...] = I.reshape(x[...], (M * N,))


@intent.kernel
def split_last(x: I.In[I.f32, ("M", 12)], y: I.Out[I.f32, ("M", 3, 4)]):
    M = x.shape[0]
    y[...] = I.reshape(x[...], (M, 3, -1))


@intent.kernel
def transpose_blocks(x: I.In[I.f32, ("M", 6)], y: I.Out[I.f32, ("M", 6)]):
    M = x.shape[0]
    v = I.reshape(x[...], (M, 2, 3))
    y[...] = I.reshape(I.transpose(v, (0, 2, 1)), (M, 6))


@intent.kernel
def refold(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    y[...] = I.reshape(x[...], (N, M))


@intent.kernel
def join_pairs(a: I.In[I.f32, ("M", "N")], b: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N", 2)]):
    y[...] = I.join(a[...], b[...])


@intent.kernel
def interleave(a: I.In[I.i32, ("N",)], b: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("L",)]):
    N = a.shape[0]
    y[...] = I.reshape(I.join(a[...], b[...]), (N * 2,))


@intent.kernel
def rope(
    x: I.In[I.f32, ("M", 8)],
    cosine: I.In[I.f32, ("M", 4)],
    sine: I.In[I.f32, ("M", 4)],
    y: I.Out[I.f32, ("M", 8)],
):
    M = x.shape[0]
    pairs = I.reshape(x[...], (M, 4, 2))
    even = pairs[:, :, 0]
    odd = pairs[:, :, 1]
    c = cosine[...]
    s = sine[...]
    y[...] = I.reshape(I.join(even * c - odd * s, even * s + odd * c), (M, 8))


@intent.kernel
def sum_of_blocks(x: I.In[I.f32, ("M", 8)], y: I.Out[I.f32, ("M", 2)]):
    M = x.shape[0]
    y[...] = I.reduce.sum(I.reshape(x[...], (M, 2, 4)), axis=2)
