"""Products of narrow floats as models have them: epilogues, batches, groups, eight bits, convolution."""

from __future__ import annotations

import intent
import intent.language as I
from intent_testkit.kernels.matmul import gelu


@intent.kernel
def linear_gelu_bf16(
    a: I.In[I.bf16, ("M", "K")],
    b: I.In[I.bf16, ("K", "N")],
    bias: I.In[I.bf16, ("N",)],
    c: I.Out[I.bf16, ("M", "N")],
):
    hidden = I.matmul(a[...], b[...], acc_dtype=I.f32) + I.cast(bias[...], I.f32)
    c[...] = I.cast(gelu(hidden), I.bf16)


@intent.kernel
def linear_f8(x: I.In[I.f8e4m3fn, ("M", "K")], w: I.In[I.f8e4m3fn, ("N", "K")], y: I.Out[I.bf16, ("M", "N")]):
    """Weights in rows, as a linear layer keeps them."""
    y[...] = I.cast(I.matmul(x[...], w[...], transpose_rhs=True, acc_dtype=I.f32), I.bf16)


@intent.kernel
def matmul_batched_bf16(
    a: I.In[I.bf16, ("B", "M", "K")], b: I.In[I.bf16, ("B", "K", "N")], c: I.Out[I.bf16, ("B", "M", "N")]
):
    c[...] = I.cast(I.matmul(a[...], b[...], acc_dtype=I.f32), I.bf16)


@intent.kernel
def grouped_matmul_bf16(
    x: I.In[I.bf16, ("N", "K")],
    w: I.In[I.bf16, ("G", "K", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.InOut[I.bf16, ("N", "E")],
):
    """Rows ``offsets[g]`` to ``offsets[g + 1]`` times the matrix of group ``g``."""
    N, G = x.shape[0], w.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span, :] = I.cast(I.matmul(x[span, :], w[g, :, :], acc_dtype=I.f32), I.bf16)


@intent.kernel
def convolution_bf16(
    x: I.In[I.bf16, ("B", "H", "W", "C")],
    w: I.In[I.bf16, ("O", 3, 3, "C")],
    y: I.Out[I.bf16, ("P", "O")],
):
    """3 x 3 over images with channels last, one zero around each image; a row of ``y`` for each of B*H*W pixels."""
    B, H, W, C = x.shape
    P, O = y.shape
    pixel = I.indices(I.domain(0, P))
    image, row, column = pixel // (H * W), pixel // W % H, pixel % W
    channels = I.indices(I.domain(0, C))[None, :]
    total = I.zeros((P, O), I.f32)
    for r in range(3):
        for s in range(3):
            i, j = row + r - 1, column + s - 1
            inside = (i >= 0) & (i < H) & (j >= 0) & (j < W)
            at = (image[:, None], i[:, None], j[:, None], channels)
            shifted = I.gather(x, index=at, valid=inside[:, None], fill=0.0)
            total = total + I.matmul(shifted, w[:, r, s, :], transpose_rhs=True, acc_dtype=I.f32)
    y[...] = I.cast(total, I.bf16)
