"""Reads through index tensors."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def embedding(table: I.In[I.f32, ("V", "D")], ids: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N", "D")]):
    N = ids.shape[0]
    for n in I.parallel(I.domain(0, N)):
        y[n, :] = table[ids[n], :]


@intent.kernel
def embedding_whole(table: I.In[I.f16, ("V", "D")], ids: I.In[I.i64, ("N",)], y: I.Out[I.f16, ("N", "D")]):
    y[...] = table[ids[...], :]


@intent.kernel
def permute_columns(x: I.In[I.f32, ("M", "N")], order: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[:, order[...]]


@intent.kernel
def paired_gather(
    x: I.In[I.f32, ("M", "N")], r: I.In[I.i64, ("K",)], c: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("K",)]
):
    y[...] = x[r[...], c[...]]


@intent.kernel
def gather_sum(x: I.In[I.f32, ("V", "D")], ids: I.In[I.i32, ("N", "K")], y: I.Out[I.f32, ("N", "D")]):
    y[...] = I.reduce.sum(x[ids[...], :], axis=1)


@intent.kernel
def diagonal(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = x[i, i]
