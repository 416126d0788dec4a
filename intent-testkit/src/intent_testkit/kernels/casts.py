"""Casts between all pairs of dtypes: one program per source, one output per destination."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def cast_f32(
    x: I.In[I.f32, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    i16: I.Out[I.i16, ("N",)],
    i32: I.Out[I.i32, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    f16[...] = I.cast(v, I.f16)
    bf16[...] = I.cast(v, I.bf16)
    f64[...] = I.cast(v, I.f64)
    i8[...] = I.cast(v, I.i8)
    i16[...] = I.cast(v, I.i16)
    i32[...] = I.cast(v, I.i32)
    i64[...] = I.cast(v, I.i64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_f32_unsigned(
    x: I.In[I.f32, ("N",)],
    u8: I.Out[I.u8, ("N",)],
    u16: I.Out[I.u16, ("N",)],
    u32: I.Out[I.u32, ("N",)],
    u64: I.Out[I.u64, ("N",)],
):
    v = x[...]
    u8[...] = I.cast(v, I.u8)
    u16[...] = I.cast(v, I.u16)
    u32[...] = I.cast(v, I.u32)
    u64[...] = I.cast(v, I.u64)


@intent.kernel
def cast_f64(
    x: I.In[I.f64, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    i32: I.Out[I.i32, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    f16[...] = I.cast(v, I.f16)
    bf16[...] = I.cast(v, I.bf16)
    f32[...] = I.cast(v, I.f32)
    i8[...] = I.cast(v, I.i8)
    i32[...] = I.cast(v, I.i32)
    i64[...] = I.cast(v, I.i64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_f16(
    x: I.In[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    i32: I.Out[I.i32, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    bf16[...] = I.cast(v, I.bf16)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)
    i8[...] = I.cast(v, I.i8)
    i32[...] = I.cast(v, I.i32)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_bf16(
    x: I.In[I.bf16, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    i16: I.Out[I.i16, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    f16[...] = I.cast(v, I.f16)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)
    i16[...] = I.cast(v, I.i16)
    i64[...] = I.cast(v, I.i64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_i64(
    x: I.In[I.i64, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    i16: I.Out[I.i16, ("N",)],
    i32: I.Out[I.i32, ("N",)],
    u8: I.Out[I.u8, ("N",)],
    u16: I.Out[I.u16, ("N",)],
    u32: I.Out[I.u32, ("N",)],
    u64: I.Out[I.u64, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    i8[...] = I.cast(v, I.i8)
    i16[...] = I.cast(v, I.i16)
    i32[...] = I.cast(v, I.i32)
    u8[...] = I.cast(v, I.u8)
    u16[...] = I.cast(v, I.u16)
    u32[...] = I.cast(v, I.u32)
    u64[...] = I.cast(v, I.u64)
    f16[...] = I.cast(v, I.f16)
    bf16[...] = I.cast(v, I.bf16)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_i32(
    x: I.In[I.i32, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    u16: I.Out[I.u16, ("N",)],
    u64: I.Out[I.u64, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    i8[...] = I.cast(v, I.i8)
    i64[...] = I.cast(v, I.i64)
    u16[...] = I.cast(v, I.u16)
    u64[...] = I.cast(v, I.u64)
    f16[...] = I.cast(v, I.f16)
    bf16[...] = I.cast(v, I.bf16)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_u64(
    x: I.In[I.u64, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    u32: I.Out[I.u32, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
    b: I.Out[I.bool, ("N",)],
):
    v = x[...]
    i8[...] = I.cast(v, I.i8)
    u32[...] = I.cast(v, I.u32)
    i64[...] = I.cast(v, I.i64)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)
    b[...] = I.cast(v, I.bool)


@intent.kernel
def cast_narrow_integers(
    a: I.In[I.i8, ("N",)],
    b: I.In[I.u8, ("N",)],
    c: I.In[I.i16, ("N",)],
    d: I.In[I.u16, ("N",)],
    e: I.In[I.u32, ("N",)],
    a_u8: I.Out[I.u8, ("N",)],
    a_i64: I.Out[I.i64, ("N",)],
    a_f16: I.Out[I.f16, ("N",)],
    b_i8: I.Out[I.i8, ("N",)],
    b_i32: I.Out[I.i32, ("N",)],
    b_f32: I.Out[I.f32, ("N",)],
    c_u16: I.Out[I.u16, ("N",)],
    c_i32: I.Out[I.i32, ("N",)],
    c_bf16: I.Out[I.bf16, ("N",)],
    d_i16: I.Out[I.i16, ("N",)],
    d_u32: I.Out[I.u32, ("N",)],
    e_i32: I.Out[I.i32, ("N",)],
    e_u64: I.Out[I.u64, ("N",)],
    e_f32: I.Out[I.f32, ("N",)],
):
    a_u8[...] = I.cast(a[...], I.u8)
    a_i64[...] = I.cast(a[...], I.i64)
    a_f16[...] = I.cast(a[...], I.f16)
    b_i8[...] = I.cast(b[...], I.i8)
    b_i32[...] = I.cast(b[...], I.i32)
    b_f32[...] = I.cast(b[...], I.f32)
    c_u16[...] = I.cast(c[...], I.u16)
    c_i32[...] = I.cast(c[...], I.i32)
    c_bf16[...] = I.cast(c[...], I.bf16)
    d_i16[...] = I.cast(d[...], I.i16)
    d_u32[...] = I.cast(d[...], I.u32)
    e_i32[...] = I.cast(e[...], I.i32)
    e_u64[...] = I.cast(e[...], I.u64)
    e_f32[...] = I.cast(e[...], I.f32)


@intent.kernel
def cast_bool(
    x: I.In[I.bool, ("N",)],
    i8: I.Out[I.i8, ("N",)],
    u8: I.Out[I.u8, ("N",)],
    i32: I.Out[I.i32, ("N",)],
    i64: I.Out[I.i64, ("N",)],
    f16: I.Out[I.f16, ("N",)],
    bf16: I.Out[I.bf16, ("N",)],
    f32: I.Out[I.f32, ("N",)],
    f64: I.Out[I.f64, ("N",)],
):
    v = x[...]
    i8[...] = I.cast(v, I.i8)
    u8[...] = I.cast(v, I.u8)
    i32[...] = I.cast(v, I.i32)
    i64[...] = I.cast(v, I.i64)
    f16[...] = I.cast(v, I.f16)
    bf16[...] = I.cast(v, I.bf16)
    f32[...] = I.cast(v, I.f32)
    f64[...] = I.cast(v, I.f64)


@intent.kernel
def narrow_f32(x: I.In[I.f32, ("N",)], f16: I.Out[I.f16, ("N",)], bf16: I.Out[I.bf16, ("N",)]):
    f16[...] = I.cast(x[...], I.f16)
    bf16[...] = I.cast(x[...], I.bf16)


@intent.kernel
def bitcasts(
    x: I.In[I.f32, ("N",)], h: I.In[I.f16, ("N",)], bits: I.Out[I.u32, ("N",)], half: I.Out[I.i16, ("N",)]
):
    bits[...] = I.bitcast(x[...], I.u32)
    half[...] = I.bitcast(h[...], I.i16)


@intent.kernel
def signed_zeros(x: I.In[I.f32, ("N",)], negated: I.Out[I.u32, ("N",)], scaled: I.Out[I.u32, ("N",)]):
    negated[...] = I.bitcast(-x[...], I.u32)
    scaled[...] = I.bitcast(x[...] * 0.5, I.u32)
