"""Parallel and ordered loops with scalar and tensor carries."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def nested_parallel(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            y[j, i] = x[i, j] + 1.0


@intent.kernel
def horner(x: I.In[I.f32, ("N",)], coefficients: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("N",)]):
    K = coefficients.shape[0]
    v = x[...]
    acc = I.zeros(v.shape, I.f32)
    for k in range(K):
        acc = acc * v + coefficients[k]
    y[...] = acc


@intent.kernel
def recurrence(
    a: I.In[I.f32, ("T", "D")],
    x: I.In[I.f32, ("T", "D")],
    h: I.Out[I.f32, ("T", "D")],
    last: I.Out[I.f32, ("D",)],
):
    T, D = x.shape
    state = I.zeros((D,), I.f32)
    for t in range(T):
        state = a[t, :] * state + x[t, :]
        h[t, :] = state
    last[...] = state


@intent.kernel
def running_total(x: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        total = I.cast(0, I.i64)
        for j in range(N):
            total = total + x[i, j]
            y[i, j] = total


@intent.kernel
def power_iteration(a: I.In[I.f32, (5, 5)], steps: I.i32, v: I.In[I.f32, (5,)], y: I.Out[I.f32, (5,)]):
    state = v[...]
    for _ in range(steps):
        w = I.matvec(a[...], state)
        state = w / I.sqrt(I.reduce.sum(w * w, axis=0))
    y[...] = state


@intent.kernel
def fibonacci(n: I.i32, y: I.Out[I.i64, ()]):
    a = I.cast(0, I.i64)
    b = I.cast(1, I.i64)
    for _ in range(n):
        a, b = b, a + b
    y[...] = a


@intent.kernel
def newton_sqrt(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    r = v
    for _ in range(20):
        r = 0.5 * (r + v / r)
    y[...] = r


@intent.kernel
def matmul_by_loop(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    M, K = a.shape
    N = b.shape[1]
    acc = I.zeros((M, N), I.f32)
    for k in range(K):
        acc = acc + a[:, k][:, None] * b[k, :][None, :]
    c[...] = acc


@intent.kernel
def nested_ordered(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ()]):
    M, N = x.shape
    h = I.cast(17, I.i32)
    for i in range(M):
        for j in range(N):
            h = h * 31 + x[i, j]
    y[...] = h


@intent.kernel
def stepped_loop(begin: I.i64, end: I.i64, step: I.i64, y: I.Out[I.i64, (2,)]):
    total = I.cast(0, I.i64)
    count = I.cast(0, I.i64)
    for k in range(begin, end, step):
        total = total + I.cast(k, I.i64)
        count = count + 1
    y[0] = total
    y[1] = count


@intent.kernel
def breadth_first(edge: I.In[I.bool, ("N", "N")], start: I.i32, depth: I.Out[I.i32, ("N",)]):
    N = edge.shape[0]
    front = I.indices(I.domain(0, N)) == I.cast(start, I.index)
    depth[...] = I.select(front, 0, -1)
    level = 0
    while I.reduce.any(front, axis=0):
        level += 1
        reached = I.reduce.any(edge[...] & front[:, None], axis=0)
        front = reached & (depth[...] < 0)
        depth[...] = I.select(front, level, depth[...])
