"""Pointwise programs: one output element per input element."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def add(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    z[...] = x[...] + y[...]


@intent.kernel
def axpy(a: I.f32, x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("M", "N")], z: I.Out[I.f32, ("M", "N")]):
    z[...] = a * x[...] + y[...]


@intent.kernel
def axpy_bf16(a: I.f32, x: I.In[I.bf16, ("N",)], y: I.In[I.bf16, ("N",)], z: I.Out[I.bf16, ("N",)]):
    wide = a * I.cast(x[...], I.f32) + I.cast(y[...], I.f32)
    z[...] = I.cast(wide, I.bf16)


@intent.kernel
def add_f16(x: I.In[I.f16, ("N",)], y: I.In[I.f16, ("N",)], z: I.Out[I.f16, ("N",)]):
    z[...] = x[...] + y[...]


@intent.kernel
def swiglu(gate: I.In[I.bf16, ("M", "N")], up: I.In[I.bf16, ("M", "N")], y: I.Out[I.bf16, ("M", "N")]):
    g = I.cast(gate[...], I.f32)
    u = I.cast(up[...], I.f32)
    y[...] = I.cast(g * I.sigmoid(g) * u, I.bf16)


@intent.kernel
def narrowed_factors(
    x: I.In[I.f32, ("N",)],
    scale: I.In[I.f32, ("N",)],
    grown: I.Out[I.bf16, ("N",)],
    weighed: I.Out[I.bf16, ("N",)],
    gate: I.Out[I.f16, ("N",)],
    quotient: I.Out[I.bf16, ("N",)],
):
    v, s = x[...], scale[...]
    grown[...] = I.cast(I.exp(v), I.bf16)
    weighed[...] = I.cast(s * I.exp(-v) / 3.0, I.bf16)
    gate[...] = I.cast(v * I.sigmoid(v) * s, I.f16)
    quotient[...] = I.cast(I.abs(I.sigmoid(v)) / s, I.bf16)


@intent.kernel
def arithmetic_f64(
    x: I.In[I.f64, ("N",)],
    y: I.In[I.f64, ("N",)],
    total: I.Out[I.f64, ("N",)],
    difference: I.Out[I.f64, ("N",)],
    product: I.Out[I.f64, ("N",)],
    quotient: I.Out[I.f64, ("N",)],
    negated: I.Out[I.f64, ("N",)],
):
    a = x[...]
    b = y[...]
    total[...] = a + b
    difference[...] = a - b
    product[...] = a * b
    quotient[...] = a / b
    negated[...] = -a


@intent.kernel
def compare(
    x: I.In[I.f32, ("N",)],
    y: I.In[I.f32, ("N",)],
    less: I.Out[I.bool, ("N",)],
    less_equal: I.Out[I.bool, ("N",)],
    equal: I.Out[I.bool, ("N",)],
    different: I.Out[I.bool, ("N",)],
    greater: I.Out[I.bool, ("N",)],
    greater_equal: I.Out[I.bool, ("N",)],
):
    a = x[...]
    b = y[...]
    less[...] = a < b
    less_equal[...] = a <= b
    equal[...] = a == b
    different[...] = a != b
    greater[...] = a > b
    greater_equal[...] = a >= b


@intent.kernel
def select_and_mask(
    x: I.In[I.f32, ("M", "N")], chosen: I.Out[I.f32, ("M", "N")], lower: I.Out[I.f32, ("M", "N")]
):
    M, N = x.shape
    v = x[...]
    rows = I.indices(I.domain(0, M))
    cols = I.indices(I.domain(0, N))
    chosen[...] = I.select(v > 0.0, v, 0.25 * v)
    lower[...] = I.mask(v, cols[None, :] <= rows[:, None], -1.0)


@intent.kernel
def boolean_logic(
    p: I.In[I.bool, ("N",)],
    q: I.In[I.bool, ("N",)],
    both: I.Out[I.bool, ("N",)],
    either: I.Out[I.bool, ("N",)],
    one: I.Out[I.bool, ("N",)],
    neither: I.Out[I.bool, ("N",)],
):
    a = p[...]
    b = q[...]
    both[...] = a & b
    either[...] = a | b
    one[...] = a ^ b
    neither[...] = ~(a | b)


@intent.kernel
def constants(y: I.Out[I.f32, ("M", "N")], n: I.Out[I.i32, ("M",)]):
    M, N = y.shape
    y[...] = I.full((M, N), 2.5, I.f32)
    n[...] = I.zeros((M,), I.i32)


@intent.kernel
def coordinates(y: I.Out[I.i32, ("M", "N")]):
    M, N = y.shape
    i = I.indices(I.domain(0, M))
    j = I.indices(I.domain(0, N))
    y[...] = I.cast(i[:, None] * N + j[None, :], I.i32)
