"""The programs of the benchmark that no conformance family holds already."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def layer_norm_bf16(
    x: I.In[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    bias: I.In[I.bf16, ("N",)],
    y: I.Out[I.bf16, ("M", "N")],
):
    M, N = x.shape
    v = I.cast(x[...], I.f32)
    mean = I.reduce.sum(v, axis=1) / I.cast(N, I.f32)
    centred = v - mean[:, None]
    variance = I.reduce.sum(centred * centred, axis=1) / I.cast(N, I.f32)
    scaled = centred * I.rsqrt(variance + 1e-5)[:, None]
    y[...] = I.cast(scaled * I.cast(weight[...], I.f32) + I.cast(bias[...], I.f32), I.bf16)


@intent.kernel
def rms_norm_bf16(x: I.In[I.bf16, ("M", "N")], weight: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("M", "N")]):
    M, N = x.shape
    v = I.cast(x[...], I.f32)
    scale = I.rsqrt(I.reduce.sum(v * v, axis=1) / I.cast(N, I.f32) + 1e-6)
    y[...] = I.cast(v * scale[:, None] * I.cast(weight[...], I.f32), I.bf16)


@intent.kernel
def cross_entropy_bf16(
    logits: I.In[I.bf16, ("M", "N")], target: I.In[I.i64, ("M",)], loss: I.Out[I.f32, ("M",)]
):
    M, N = logits.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.cast(logits[i, :], I.f32)
        peak = I.reduce.max(row, axis=0)
        total = I.reduce.sum(I.exp(row - peak), axis=0)
        loss[i] = I.log(total) + peak - I.cast(logits[i, target[i]], I.f32)


@intent.kernel
def quantise_rows(x: I.In[I.bf16, ("M", "N")], y: I.Out[I.f8e4m3fn, ("M", "N")], scale: I.Out[I.f32, ("M",)]):
    """Every row over its largest magnitude, which becomes 448, the largest number of the format."""
    v = I.cast(x[...], I.f32)
    peak = I.maximum(I.reduce.max(I.abs(v), axis=1), 1e-12)
    y[...] = I.cast(v * (448.0 / peak)[:, None], I.f8e4m3fn)
    scale[...] = peak / 448.0


@intent.kernel
def sum_of_vector(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[...], axis=0)


@intent.kernel
def gather_rows_bf16(table: I.In[I.bf16, ("V", "D")], ids: I.In[I.i64, ("N",)], y: I.Out[I.bf16, ("N", "D")]):
    y[...] = table[I.cast(ids[...], I.index), :]


@intent.kernel
def csr_matvec(
    values: I.In[I.f32, ("K",)],
    columns: I.In[I.i32, ("K",)],
    offsets: I.In[I.i32, ("P",)],
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("M",)],
):
    """A sparse matrix in compressed rows times a vector."""
    M, K = y.shape[0], values.shape[0]
    entries = I.domain(0, K)
    for i in I.parallel(I.domain(0, M)):
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]
        y[i] = I.reduce.sum(values[row] * x[columns[row]], axis=0)
