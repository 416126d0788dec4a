"""Integer arithmetic: floor division, remainders, shifts, bits, wrapping."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def divide_i32(
    a: I.In[I.i32, ("N",)],
    b: I.In[I.i32, ("N",)],
    quotient: I.Out[I.i32, ("N",)],
    remainder: I.Out[I.i32, ("N",)],
):
    quotient[...] = a[...] // b[...]
    remainder[...] = a[...] % b[...]


@intent.kernel
def divide_i64(
    a: I.In[I.i64, ("N",)],
    b: I.In[I.i64, ("N",)],
    quotient: I.Out[I.i64, ("N",)],
    remainder: I.Out[I.i64, ("N",)],
):
    quotient[...] = a[...] // b[...]
    remainder[...] = a[...] % b[...]


@intent.kernel
def divide_u8(
    a: I.In[I.u8, ("N",)],
    b: I.In[I.u8, ("N",)],
    quotient: I.Out[I.u8, ("N",)],
    remainder: I.Out[I.u8, ("N",)],
):
    quotient[...] = a[...] // b[...]
    remainder[...] = a[...] % b[...]


@intent.kernel
def divide_by_literal(
    a: I.In[I.i32, ("N",)], quotient: I.Out[I.i32, ("N",)], remainder: I.Out[I.i32, ("N",)]
):
    quotient[...] = a[...] // -7
    remainder[...] = a[...] % -7


@intent.kernel
def wrap_i32(
    a: I.In[I.i32, ("N",)],
    b: I.In[I.i32, ("N",)],
    total: I.Out[I.i32, ("N",)],
    difference: I.Out[I.i32, ("N",)],
    product: I.Out[I.i32, ("N",)],
    negated: I.Out[I.i32, ("N",)],
    least: I.Out[I.i32, ("N",)],
):
    x = a[...]
    y = b[...]
    total[...] = x + y
    difference[...] = x - y
    product[...] = x * y
    negated[...] = -x
    least[...] = I.minimum(x, y)


@intent.kernel
def wrap_u8(
    a: I.In[I.u8, ("N",)], b: I.In[I.u8, ("N",)], total: I.Out[I.u8, ("N",)], product: I.Out[I.u8, ("N",)]
):
    total[...] = a[...] + b[...]
    product[...] = a[...] * b[...]


@intent.kernel
def wrap_i8(
    a: I.In[I.i8, ("N",)], b: I.In[I.i8, ("N",)], total: I.Out[I.i8, ("N",)], product: I.Out[I.i8, ("N",)]
):
    total[...] = a[...] + b[...]
    product[...] = a[...] * b[...]


@intent.kernel
def shifts_i32(
    a: I.In[I.i32, ("N",)], s: I.In[I.i32, ("N",)], left: I.Out[I.i32, ("N",)], right: I.Out[I.i32, ("N",)]
):
    left[...] = a[...] << s[...]
    right[...] = a[...] >> s[...]


@intent.kernel
def shifts_u32(
    a: I.In[I.u32, ("N",)], s: I.In[I.u32, ("N",)], left: I.Out[I.u32, ("N",)], right: I.Out[I.u32, ("N",)]
):
    left[...] = a[...] << s[...]
    right[...] = a[...] >> s[...]


@intent.kernel
def bits_i64(
    a: I.In[I.i64, ("N",)],
    b: I.In[I.i64, ("N",)],
    both: I.Out[I.i64, ("N",)],
    either: I.Out[I.i64, ("N",)],
    one: I.Out[I.i64, ("N",)],
    inverted: I.Out[I.i64, ("N",)],
):
    x = a[...]
    y = b[...]
    both[...] = x & y
    either[...] = x | y
    one[...] = x ^ y
    inverted[...] = ~x


@intent.kernel
def unpack_nibbles(packed: I.In[I.u8, ("N",)], low: I.Out[I.u8, ("N",)], high: I.Out[I.u8, ("N",)]):
    low[...] = packed[...] & 15
    high[...] = packed[...] >> 4


@intent.kernel
def integer_scalars(n: I.i64, k: I.i32, x: I.In[I.i32, ("N",)], y: I.Out[I.i64, ("N",)]):
    y[...] = I.cast(x[...] * k, I.i64) + n
