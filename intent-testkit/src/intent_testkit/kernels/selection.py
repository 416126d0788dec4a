"""Largest and smallest elements with their positions."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def argmax_rows(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M",)], where: I.Out[I.i64, ("M",)]):
    v, i = I.arg_reduce.max(x[...], axis=1)
    value[...] = v
    where[...] = I.cast(i, I.i64)


@intent.kernel
def argmin_columns(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("N",)], where: I.Out[I.i64, ("N",)]):
    v, i = I.arg_reduce.min(x[...], axis=0)
    value[...] = v
    where[...] = I.cast(i, I.i64)


@intent.kernel
def argmax_of_integers(
    x: I.In[I.i64, ("B", "M", "N")], value: I.Out[I.i64, ("B", "N")], where: I.Out[I.i64, ("B", "N")]
):
    v, i = I.arg_reduce.max(x[...], axis=1)
    value[...] = v
    where[...] = I.cast(i, I.i64)


@intent.kernel
def argmin_of_bytes(x: I.In[I.u8, ("N",)], value: I.Out[I.u8, ()], where: I.Out[I.i64, ()]):
    v, i = I.arg_reduce.min(x[...], axis=0)
    value[...] = v
    where[...] = I.cast(i, I.i64)


@intent.kernel
def argmax_flat(x: I.In[I.f16, ("M", "N")], where: I.Out[I.i64, ()]):
    M, N = x.shape
    _, i = I.arg_reduce.max(I.reshape(x[...], (M * N,)), axis=0)
    where[...] = I.cast(i, I.i64)


@intent.kernel
def argmax_of_window(begin: I.i64, end: I.i64, x: I.In[I.f32, ("M", "N")], where: I.Out[I.i64, ("M",)]):
    N = x.shape[1]
    window = I.domain(0, N)[begin:end]
    _, i = I.arg_reduce.max(x[:, window], axis=1)
    where[...] = I.cast(i, I.i64) + begin


@intent.kernel
def nearest(
    points: I.In[I.f32, ("M", "D")],
    centres: I.In[I.f32, ("K", "D")],
    label: I.Out[I.i32, ("M",)],
    far: I.Out[I.f32, ("M",)],
):
    d = points[...][:, None, :] - centres[...][None, :, :]
    distance, which = I.arg_reduce.min(I.reduce.sum(d * d, axis=2), axis=1)
    label[...] = I.cast(which, I.i32)
    far[...] = distance


@intent.kernel
def top_two(x: I.In[I.f32, ("M", "N")], first: I.Out[I.i64, ("M",)], second: I.Out[I.i64, ("M",)]):
    N = x.shape[1]
    v = x[...]
    _, i = I.arg_reduce.max(v, axis=1)
    rest = I.mask(v, I.indices(I.domain(0, N))[None, :] != i[:, None], -I.inf)
    _, j = I.arg_reduce.max(rest, axis=1)
    first[...] = I.cast(i, I.i64)
    second[...] = I.cast(j, I.i64)


@intent.kernel
def gather_best(x: I.In[I.f32, ("M", "N")], table: I.In[I.i32, ("N", "D")], y: I.Out[I.i32, ("M", "D")]):
    _, i = I.arg_reduce.max(x[...], axis=1)
    y[...] = table[i, :]
