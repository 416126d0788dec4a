"""Broadcasting: rows, columns, scalars, size-one axes."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def add_row_and_column(
    x: I.In[I.f32, ("M", "N")],
    row: I.In[I.f32, ("N",)],
    column: I.In[I.f32, ("M",)],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = x[...] + row[...] * column[:, None]


@intent.kernel
def outer_sum(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    y[...] = a[:, None] + b[None, :]


@intent.kernel
def size_one_axes(
    x: I.In[I.f32, ("M", 1)], y: I.In[I.f32, (1, "N")], s: I.In[I.f32, ()], z: I.Out[I.f32, ("M", "N")]
):
    z[...] = (x[...] - y[...]) * s[...]


@intent.kernel
def trailing_alignment(
    x: I.In[I.f32, ("B", "M", "N")], bias: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("B", "M", "N")]
):
    y[...] = x[...] * bias[...]


@intent.kernel
def scalar_to_matrix(s: I.f32, y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.full(y.shape, s * 2.0, I.f32)
