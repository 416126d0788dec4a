"""Guarded gathers, unique and colliding scatters, local buffers, updates in place."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def exclusive_or(a, b):
    return a ^ b


@intent.fn
def times(a, b):
    return a * b


@intent.kernel
def gather_with_fill(x: I.In[I.f32, ("N",)], at: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("K",)]):
    N = x.shape[0]
    i = I.cast(at[...], I.index)
    y[...] = I.gather(x, index=i, valid=(i >= 0) & (i < N), fill=-7.0)


@intent.kernel
def gather_of_value(x: I.In[I.i32, ("M", "N")], at: I.In[I.i64, ("K",)], y: I.Out[I.i32, ("M", "K")]):
    M, N = x.shape
    squares = x[...] * x[...]
    i = I.cast(at[...], I.index)[None, :]
    rows = I.indices(I.domain(0, M))[:, None]
    y[...] = I.gather(squares, index=(rows, i), valid=(i >= 0) & (i < N), fill=-1)


@intent.kernel
def shift_with_fill(x: I.In[I.i32, ("N",)], by: I.i64, y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    i = I.indices(I.domain(0, N)) - I.cast(by, I.index)
    y[...] = I.gather(x, index=i, valid=(i >= 0) & (i < N), fill=0)


@intent.kernel
def stencil_with_edges(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    r = I.indices(I.domain(0, M))[:, None]
    c = I.indices(I.domain(0, N))[None, :]
    up = I.gather(x, index=(r - 1, c), valid=r > 0, fill=0.0)
    down = I.gather(x, index=(r + 1, c), valid=r + 1 < M, fill=0.0)
    left = I.gather(x, index=(r, c - 1), valid=c > 0, fill=0.0)
    right = I.gather(x, index=(r, c + 1), valid=c + 1 < N, fill=0.0)
    y[...] = up + down + left + right - 4.0 * x[...]


@intent.kernel
def scatter_permutation(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    I.scatter_unique(y, index=at[...], value=x[...] * 2.0, valid=x[...] > 0.0)


@intent.kernel
def scatter_rows(x: I.In[I.f32, ("M", "N")], at: I.In[I.i32, ("M",)], y: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    I.scatter_unique(y, index=(at[...][:, None], I.indices(I.domain(0, N))[None, :]), value=x[...])


@intent.kernel
def scatter_add(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def scatter_max(x: I.In[I.i64, ("M", "N")], at: I.In[I.i32, ("M", "N")], y: I.InOut[I.i64, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.maximum, valid=x[...] > 0)


@intent.kernel
def scatter_float_max(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.maximum)


@intent.kernel
def scatter_xor(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=exclusive_or)


@intent.kernel
def scatter_product(x: I.In[I.u8, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.u8, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=times)


@intent.kernel
def sieve(y: I.Out[I.bool, ("N",)]):
    """Primes below N with a local buffer, marked in order."""
    N = y.shape[0]
    composite = I.buffer((N,), I.bool, init=False)
    for i in range(2, N):
        if not composite[i]:
            for j in I.domain(i * 2, N, i):
                composite[j] = True
    i = I.indices(I.domain(0, N))
    y[...] = (i >= 2) & ~composite[...]


@intent.kernel
def sort_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    """Insertion sort of every row in a local buffer."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.i32)
        for j in range(N):
            value = x[i, j]
            k = j
            while k > 0 and row[k - 1] > value:
                row[k] = row[k - 1]
                k = k - 1
            row[k] = value
        y[i, :] = row[...]


@intent.kernel
def local_counts(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 8)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        counts = I.buffer((8,), I.i32, init=0)
        for j in range(N):
            b = I.cast(x[i, j], I.index)
            counts[b] = counts[b] + 1
        y[i, :] = counts[...]


@intent.kernel
def rotate_in_place(x: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    first = x[0]
    x[0 : N - 1] = x[1:N]
    x[N - 1] = first


@intent.kernel
def swap_rows_in_place(x: I.InOut[I.f32, ("M", "N")], a: I.i64, b: I.i64):
    top = x[a, :]
    bottom = x[b, :]
    x[a, :] = bottom
    x[b, :] = top


@intent.kernel
def scatter_then_read(
    x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)], z: I.Out[I.i32, ("K",)]
):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)
    z[...] = y[...] * 2


@intent.kernel
def scatter_add_rows(x: I.In[I.f32, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K", "D")]):
    D = x.shape[1]
    columns = I.indices(I.domain(0, D))
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=x[...], combine=I.add)
