"""Points of I.parallel whose domain depends on a point around it, or on data read there."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def triangles(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N", "N")]):
    axis = I.domain(0, x.shape[0])
    for i in I.parallel(axis):
        for j in I.parallel(axis[0:i]):
            y[i, j] = x[i] - x[j]
        for j in I.parallel(axis[i : x.shape[0]]):
            y[i, j] = x[i] * x[j]


@intent.kernel
def wedge(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N", "N", "N")]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        for j in I.parallel(I.domain(i, N)):
            for k in I.parallel(I.domain(j, N, 2)):
                y[i, j, k] = x[i] + x[j] * x[k]


@intent.kernel
def blocks_of_four(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    for b in I.parallel(I.domain(0, x.shape[0] // 4)):
        for k in I.parallel(I.domain(b * 4, b * 4 + 4)):
            y[k] = x[k] * I.cast(b, I.i32)


@intent.kernel
def parallel_members(
    offsets: I.In[I.i32, ("P",)],
    x: I.In[I.f32, ("N",)],
    y: I.InOut[I.f32, ("N",)],
    count: I.InOut[I.i32, ("G",)],
):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, count.shape[0])):
        for e in I.parallel(axis[offsets[g] : offsets[g + 1]]):
            y[e] = x[e] * I.cast(g, I.f32)
            I.atomic.add(count[g], 1)


@intent.kernel
def rows_of_read_lengths(
    length: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N", "N")], total: I.Out[I.i32, ("N",)]
):
    N = length.shape[0]
    for i in I.parallel(I.domain(0, N)):
        n = length[i]
        found = I.cast(0, I.i32)
        if n > 0:
            for j in I.parallel(I.domain(0, n)):
                before = I.reduce.sum(length[0:j], axis=0)
                if before % 2 == 0:
                    continue
                y[i, j] = before
            for j in range(n):
                found += length[j]
        total[i] = found
