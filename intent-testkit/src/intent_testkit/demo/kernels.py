"""The demo's kernels, as an author writes them: what is computed, and nothing about how it is scheduled."""

from __future__ import annotations

import intent
import intent.language as I

RSQRT2 = 0.7071067811865476


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """Softmax of every row."""
    values = x[...]
    weights = I.exp(values - I.reduce.max(values, axis=1)[:, None])
    y[...] = weights / I.reduce.sum(weights, axis=1)[:, None]


@intent.kernel
def layer_norm(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    bias: I.In[I.f32, ("N",)],
    epsilon: I.f32,
    y: I.Out[I.f32, ("M", "N")],
):
    """Rows of ``x`` normalised, scaled and shifted by column."""
    values = x[...]
    count = I.cast(x.shape[1], I.f32)
    mean = I.reduce.sum(values, axis=1) / count
    centred = values - mean[:, None]
    variance = I.reduce.sum(centred * centred, axis=1) / count
    scale = I.rsqrt(variance + epsilon)
    y[...] = centred * scale[:, None] * weight[None, :] + bias[None, :]


@intent.kernel
def matmul_bias_gelu(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("K", "N")],
    bias: I.In[I.f32, ("N",)],
    c: I.Out[I.f16, ("M", "N")],
):
    """``gelu(a @ b + bias)``, accumulated in f32, rounded once."""
    z = I.matmul(a[...], b[...], acc_dtype=I.f32) + bias[None, :]
    c[...] = I.cast(0.5 * z * (1.0 + I.erf(z * RSQRT2)), I.f16)
