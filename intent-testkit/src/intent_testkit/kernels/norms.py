"""Normalisations: layer, rms, group, batch."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def layer_norm(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    bias: I.In[I.f32, ("N",)],
    eps: I.f32,
    y: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    v = x[...]
    mean = I.reduce.sum(v, axis=1) / I.cast(N, I.f32)
    centred = v - mean[:, None]
    variance = I.reduce.sum(centred * centred, axis=1) / I.cast(N, I.f32)
    y[...] = centred * I.rsqrt(variance + eps)[:, None] * weight[...] + bias[...]


@intent.kernel
def layer_norm_statistics(
    x: I.In[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    bias: I.In[I.bf16, ("N",)],
    y: I.Out[I.bf16, ("M", "N")],
    mean: I.Out[I.f32, ("M",)],
    inverse_deviation: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.cast(x[i, :], I.f32)
        mu = I.reduce.sum(row, axis=0) / I.cast(N, I.f32)
        centred = row - mu
        scale = I.rsqrt(I.reduce.sum(centred * centred, axis=0) / I.cast(N, I.f32) + 1e-5)
        y[i, :] = I.cast(centred * scale * I.cast(weight[...], I.f32) + I.cast(bias[...], I.f32), I.bf16)
        mean[i] = mu
        inverse_deviation[i] = scale


@intent.kernel
def rms_norm(x: I.In[I.f16, ("M", "N")], weight: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("M", "N")]):
    M, N = x.shape
    v = I.cast(x[...], I.f32)
    scale = I.rsqrt(I.reduce.sum(v * v, axis=1) / I.cast(N, I.f32) + 1e-6)
    y[...] = I.cast(v * scale[:, None] * I.cast(weight[...], I.f32), I.f16)


@intent.kernel
def group_norm(x: I.In[I.f32, ("B", "G", "C", "L")], y: I.Out[I.f32, ("B", "G", "C", "L")]):
    B, G, C, L = x.shape
    v = x[...]
    count = I.cast(C * L, I.f32)
    mean = I.reduce.sum(v, axis=(2, 3)) / count
    centred = v - mean[:, :, None, None]
    variance = I.reduce.sum(centred * centred, axis=(-2, -1)) / count
    y[...] = centred * I.rsqrt(variance + 1e-5)[:, :, None, None]


@intent.kernel
def group_norm_reshaped(x: I.In[I.f32, ("B", 6, "L")], y: I.Out[I.f32, ("B", 6, "L")], G: I.Constexpr[int]):
    B, C, L = x.shape
    v = I.reshape(x[...], (B, G, (6 // G) * L))
    count = I.cast((6 // G) * L, I.f32)
    centred = v - (I.reduce.sum(v, axis=2) / count)[:, :, None]
    variance = I.reduce.sum(centred * centred, axis=2) / count
    y[...] = I.reshape(centred * I.rsqrt(variance + 1e-5)[:, :, None], (B, 6, L))


@intent.kernel
def batch_norm(x: I.In[I.f32, ("B", "C", "L")], y: I.Out[I.f32, ("B", "C", "L")]):
    B, C, L = x.shape
    v = x[...]
    count = I.cast(B * L, I.f32)
    mean = I.reduce.sum(v, axis=(0, 2)) / count
    centred = v - mean[None, :, None]
    variance = I.reduce.sum(centred * centred, axis=(0, 2)) / count
    y[...] = centred * I.rsqrt(variance + 1e-5)[None, :, None]
