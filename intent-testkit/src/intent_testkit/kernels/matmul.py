"""Products: matmul and its relatives, with epilogues, transposes, batches and odd reduction extents."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def matmul_f16(a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], c: I.Out[I.f16, ("M", "N")]):
    c[...] = I.cast(I.matmul(a[...], b[...], acc_dtype=I.f32), I.f16)


@intent.kernel
def matmul_bf16(a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("K", "N")], c: I.Out[I.bf16, ("M", "N")]):
    c[...] = I.cast(I.matmul(a[...], b[...], acc_dtype=I.f32), I.bf16)


@intent.kernel
def matmul_i8(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("K", "N")], c: I.Out[I.i32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...], acc_dtype=I.i32)


@intent.kernel
def matmul_f64(a: I.In[I.f64, ("M", "K")], b: I.In[I.f64, ("K", "N")], c: I.Out[I.f64, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.fn
def gelu(x):
    return 0.5 * x * (1.0 + I.erf(x * 0.7071067811865476))


@intent.kernel
def matmul_bias_gelu(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("K", "N")],
    bias: I.In[I.f32, ("N",)],
    c: I.Out[I.f16, ("M", "N")],
):
    c[...] = I.cast(gelu(I.matmul(a[...], b[...], acc_dtype=I.f32) + bias[...]), I.f16)


@intent.kernel
def matmul_transposed(a: I.In[I.f32, ("K", "M")], b: I.In[I.f32, ("N", "K")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...], transpose_lhs=True, transpose_rhs=True)


@intent.kernel
def linear(x: I.In[I.f32, ("M", "K")], w: I.In[I.f32, ("N", "K")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(x[...], w[...], transpose_rhs=True)


@intent.kernel
def matmul_batched(
    a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("B", "K", "N")], c: I.Out[I.f32, ("B", "M", "N")]
):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def matmul_shared_rhs(
    a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("B", "M", "N")]
):
    c[...] = I.contract(a[...], b[...], reduce=((2, 0),))


@intent.kernel
def contract_leading(a: I.In[I.f32, ("K", "M")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.contract(a[...], b[...], reduce=((0, 0),))


@intent.kernel
def matvec(a: I.In[I.f32, ("M", "K")], x: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.matvec(a[...], x[...])


@intent.kernel
def vecmat(x: I.In[I.f32, ("K",)], a: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("N",)]):
    y[...] = I.vecmat(x[...], a[...])


@intent.kernel
def dot(x: I.In[I.f32, ("K",)], y: I.In[I.f32, ("K",)], z: I.Out[I.f32, ()]):
    z[...] = I.dot(x[...], y[...])


@intent.kernel
def outer(x: I.In[I.f32, ("M",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("M", "N")]):
    z[...] = I.outer(x[...], y[...])


@intent.kernel
def gram(a: I.In[I.f32, ("M", "K")], c: I.Out[I.f32, ("M", "M")]):
    v = a[...]
    c[...] = I.matmul(v, I.transpose(v))


@intent.kernel
def chained(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    w: I.In[I.f32, ("N", "P")],
    y: I.Out[I.f32, ("M", "P")],
):
    y[...] = I.matmul(I.matmul(a[...], b[...]), w[...])


@intent.kernel
def attention_scores(
    q: I.In[I.f32, ("M", "D")],
    k: I.In[I.f32, ("N", "D")],
    v: I.In[I.f32, ("N", "D")],
    y: I.Out[I.f32, ("M", "D")],
):
    s = I.matmul(q[...], k[...], transpose_rhs=True) * 0.25
    e = I.exp(s - I.reduce.max(s, axis=1)[:, None])
    p = e / I.reduce.sum(e, axis=1)[:, None]
    y[...] = I.matmul(p, v[...])


@intent.kernel
def matmul_row_norm(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
    s: I.Out[I.f32, ("M",)],
):
    t = I.matmul(a[...], b[...])
    c[...] = t
    s[...] = I.reduce.sum(t * t, axis=1)
