"""Conditions: runtime if with carries, conditional expressions, specialised branches."""

from __future__ import annotations

import intent
import intent.language as I


class Activation(I.Enum):
    """What is applied to each element."""

    IDENTITY = 0
    RELU = 1
    SIGMOID = 2


@intent.kernel
def activation(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], KIND: I.Constexpr[Activation]):
    v = x[...]
    if KIND == Activation.RELU:
        v = I.maximum(v, 0.0)
    elif KIND == Activation.SIGMOID:
        v = I.sigmoid(v)
    y[...] = v


@intent.kernel
def causal_mask(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], CAUSAL: I.Constexpr[bool]):
    M, N = x.shape
    v = x[...]
    if CAUSAL:
        rows = I.indices(I.domain(0, M))
        cols = I.indices(I.domain(0, N))
        v = I.mask(v, cols[None, :] <= rows[:, None], 0.0)
    y[...] = v


@intent.kernel
def scaled_by_constant(
    x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], K: I.Constexpr[int], S: I.Constexpr[float]
):
    v = x[...]
    for _ in range(K):
        v = v * S
    y[...] = v


@intent.kernel
def runtime_branch(flag: I.i32, x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    if flag > 0:
        v = v * 2.0
    elif flag < 0:
        v = -v
    else:
        v = v + 0.5
    y[...] = v


@intent.kernel
def branch_effects(flag: I.i32, x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)]):
    if flag > 0:
        y[...] = x[...] + 1.0
    else:
        z[...] = x[...] - 1.0


@intent.kernel
def conditional_expression(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        s = I.reduce.sum(x[i, :], axis=0)
        y[i] = s if s > 0.0 else s * 0.125


@intent.kernel
def guarded_neighbour(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        previous = I.cast(0, I.i32)
        if i > 0 and x[i - 1] > 0:
            previous = x[i - 1]
        y[i] = x[i] + previous


@intent.kernel
def longest_run(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        best = I.cast(0, I.i32)
        run = I.cast(0, I.i32)
        for j in range(N):
            if x[i, j] > 0:
                run = run + 1
                best = I.maximum(best, run)
            else:
                run = I.cast(0, I.i32)
        y[i] = best
