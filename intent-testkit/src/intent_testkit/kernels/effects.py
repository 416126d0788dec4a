"""Updates in place, partial writes, several outputs and several segments."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def scale_in_place(a: I.f32, x: I.InOut[I.f32, ("M", "N")]):
    x[...] = x[...] * a


@intent.kernel
def accumulate(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")]):
    y[...] = y[...] + x[...]


@intent.kernel
def shift_in_place(x: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    x[1:N] = x[0 : N - 1]


@intent.kernel
def parts_in_place(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    y[...] *= 2.0
    y[1:, :] += x[:-1, :]
    y[:, ::2] -= 1.0
    at = I.indices(I.domain(0, M * N))
    y[at // N, at % N] += 3.0


@intent.kernel
def transpose_in_place(x: I.InOut[I.f32, ("N", "N")]):
    x[...] = I.transpose(x[...])


@intent.kernel
def normalise_in_place(x: I.InOut[I.f32, ("M", "N")]):
    v = x[...]
    x[...] = v / I.reduce.max(I.abs(v), axis=1)[:, None]


@intent.kernel
def partial_write(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    y[:, 0 : N // 2] = x[:, 0 : N // 2]


@intent.kernel
def write_then_overwrite(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0
    y[0] = x[0] + 100.0


@intent.kernel
def read_back(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    y[...] = x[...] + 1.0
    z[...] = y[...] * 2.0


@intent.kernel
def shared_producer(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], s: I.Out[I.f32, ("M",)]):
    e = I.exp(x[...])
    total = I.reduce.sum(e, axis=1)
    y[...] = e / total[:, None]
    s[...] = total


@intent.kernel
def two_shapes(
    x: I.In[I.f32, ("M",)], z: I.In[I.i64, ("P", "Q")], y: I.Out[I.f32, ("M",)], w: I.Out[I.i64, ("P", "Q")]
):
    y[...] = x[...] * 3.0
    w[...] = z[...] + 5


@intent.kernel
def three_shapes(
    a: I.In[I.f32, ("M", "N")],
    b: I.In[I.f32, ("K",)],
    rows: I.Out[I.f32, ("M",)],
    squares: I.Out[I.f32, ("K",)],
    total: I.Out[I.f32, ()],
):
    rows[...] = I.reduce.sum(a[...], axis=1)
    squares[...] = b[...] * b[...]
    total[...] = I.reduce.sum(b[...], axis=0)


@intent.kernel
def rank_zero(a: I.In[I.f32, ()], b: I.In[I.i64, ()], x: I.Out[I.f32, ()], y: I.Out[I.i64, ()]):
    x[...] = a[()] * 2.0
    y[()] = b[...] - 1


@intent.kernel
def scalar_arguments(
    p: I.bool, i: I.i32, n: I.i64, u: I.u8, h: I.f16, f: I.f32, d: I.f64, y: I.Out[I.f64, (7,)]
):
    y[0] = I.cast(p, I.f64)
    y[1] = I.cast(i, I.f64)
    y[2] = I.cast(n, I.f64)
    y[3] = I.cast(u, I.f64)
    y[4] = I.cast(h, I.f64)
    y[5] = I.cast(f, I.f64)
    y[6] = d
