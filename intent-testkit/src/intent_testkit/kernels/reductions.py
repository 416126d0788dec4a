"""Built-in reductions over one, several and negative axes, with every accumulator rule."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def sum_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def sum_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce.sum(x[...], axis=0)


@intent.kernel
def sum_all(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[...], axis=(0, 1))


@intent.kernel
def sum_outer_axes(x: I.In[I.f32, ("A", "B", "C")], y: I.Out[I.f32, ("B",)]):
    y[...] = I.reduce.sum(x[...], axis=(0, -1))


@intent.kernel
def sum_middle_axis(x: I.In[I.f64, ("A", "B", "C")], y: I.Out[I.f64, ("A", "C")]):
    y[...] = I.reduce.sum(x[...], axis=-2)


@intent.kernel
def row_max(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...], axis=1)


@intent.kernel
def extrema(
    x: I.In[I.f32, ("M", "N")],
    high: I.Out[I.f32, ("M",)],
    low: I.Out[I.f32, ("M",)],
    span: I.Out[I.f32, ("M",)],
):
    v = x[...]
    hi = I.reduce.max(v, axis=-1)
    lo = I.reduce.min(v, axis=-1)
    high[...] = hi
    low[...] = lo
    span[...] = hi - lo


@intent.kernel
def extrema_integers(x: I.In[I.i32, ("M", "N")], high: I.Out[I.i32, ("N",)], low: I.Out[I.i32, ("M",)]):
    high[...] = I.reduce.max(x[...], axis=0)
    low[...] = I.reduce.min(x[...], axis=1)


@intent.kernel
def products(
    x: I.In[I.f32, ("M", "N")], k: I.In[I.i32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.i32, ("M",)]
):
    y[...] = I.reduce.prod(x[...], axis=1)
    z[...] = I.reduce.prod(k[...], axis=1)


@intent.kernel
def any_and_all(x: I.In[I.f32, ("M", "N")], some: I.Out[I.bool, ("M",)], every: I.Out[I.bool, ("M",)]):
    positive = x[...] > 0.0
    some[...] = I.reduce.any(positive, axis=1)
    every[...] = I.reduce.all(positive, axis=1)


@intent.kernel
def sum_f16(x: I.In[I.f16, ("M", "N")], wide: I.Out[I.f32, ("M",)], narrow: I.Out[I.f16, ("M",)]):
    s = I.reduce.sum(x[...], axis=1)
    wide[...] = s
    narrow[...] = I.cast(s, I.f16)


@intent.kernel
def sum_small_integers(
    a: I.In[I.i8, ("M", "N")], b: I.In[I.u8, ("M", "N")], x: I.Out[I.i32, ("M",)], y: I.Out[I.u32, ("M",)]
):
    x[...] = I.reduce.sum(a[...], axis=1)
    y[...] = I.reduce.sum(b[...], axis=1)


@intent.kernel
def sum_i64(x: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def sum_in_f64(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f64, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1, acc_dtype=I.f64)


@intent.kernel
def variance(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    v = x[...]
    n = I.cast(N, I.f32)
    d = v - (I.reduce.sum(v, axis=1) / n)[:, None]
    y[...] = I.reduce.sum(d * d, axis=1) / n


@intent.kernel
def trace_and_symmetric_sum(x: I.In[I.f32, ("N", "N")], trace: I.Out[I.f32, ()], rows: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    i = I.indices(I.domain(0, N))
    v = x[...]
    trace[...] = I.reduce.sum(I.mask(v, i[:, None] == i[None, :], 0.0), axis=(0, 1))
    rows[...] = I.reduce.sum(v + I.transpose(v), axis=1)


@intent.kernel
def eight_bit_floats(
    a: I.In[I.f8e4m3fn, ("M", "N")],
    b: I.In[I.f8e5m2, ("M", "N")],
    low: I.Out[I.f8e4m3fn, ("M",)],
    high: I.Out[I.f8e5m2, ("M",)],
    where: I.Out[I.i64, ("M",)],
    capped: I.Out[I.f8e4m3fn, ("M", "N")],
):
    low[...] = I.reduce.min(a[...], axis=1)
    high[...] = I.reduce.max(b[...], axis=1)
    where[...] = I.cast(I.arg_reduce.max(a[...], axis=1)[1], I.i64)
    capped[...] = I.select(a[...] > 1.5, 1.5, a[...])
