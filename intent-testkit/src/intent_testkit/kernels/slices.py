"""Subregions: shifts, halves, crops, steps and stencils. Slices keep source coordinates and never clamp."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def differences(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("K",)]):
    N = x.shape[0]
    y[...] = x[1:N] - x[0 : N - 1]


@intent.kernel
def swap_halves(x: I.In[I.f32, ("M", 10)], y: I.Out[I.f32, ("M", 10)]):
    y[:, 0:5] = x[:, 5:10]
    y[:, 5:10] = x[:, 0:5]


@intent.kernel
def crop(begin: I.i64, end: I.i64, x: I.In[I.i32, ("M", "N")], y: I.InOut[I.i32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)[begin:end]
    y[:, columns] = x[:, columns] * 2


@intent.kernel
def crop_coordinates(begin: I.i32, end: I.i32, y: I.InOut[I.i64, ("N",)]):
    N = y.shape[0]
    window = I.domain(0, N)[begin:end]
    y[window] = I.cast(I.indices(window), I.i64) * 3


@intent.kernel
def every_other(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N, 2)):
        y[i] = x[i] * 10.0


@intent.kernel
def blur(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(1, N - 1)):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]


@intent.kernel
def laplacian(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    inner = x[1 : M - 1, 1 : N - 1]
    around = x[0 : M - 2, 1 : N - 1] + x[2:M, 1 : N - 1] + x[1 : M - 1, 0 : N - 2] + x[1 : M - 1, 2:N]
    y[1 : M - 1, 1 : N - 1] = around - 4.0 * inner


@intent.kernel
def convolve(x: I.In[I.f32, ("N",)], taps: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("L",)]):
    K = taps.shape[0]
    L = y.shape[0]
    for i in I.parallel(I.domain(0, L)):
        acc = I.cast(0.0, I.f32)
        for k in range(K):
            acc = acc + x[i + k] * taps[k]
        y[i] = acc


@intent.kernel
def sum_window(begin: I.i64, end: I.i64, x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[:, begin:end], axis=1)


@intent.kernel
def triangle_rows(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        y[i] = I.reduce.sum(x[i, 0 : i + 1], axis=0)


@intent.kernel
def reverse(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    i = I.indices(I.domain(0, N))
    y[...] = x[N - 1 - i]


@intent.kernel
def sieve_by_domains(prime: I.Out[I.bool, ("N",)]):
    N = prime.shape[0]
    i = I.indices(I.domain(0, N))
    prime[...] = i > 1
    for p in range(2, N):
        if p * p >= N:
            break
        if prime[p]:
            prime[I.domain(p * p, N, p)] = False


@intent.kernel
def windows_in_place(begin: I.In[I.i32, ("K",)], end: I.In[I.i32, ("K",)], x: I.InOut[I.i64, ("N",)]):
    for k in range(begin.shape[0]):
        window = I.domain(begin[k], end[k])
        x[window] = x[window] * 3 + x[k]


@intent.kernel
def sums_up_a_tree(x: I.InOut[I.i32, ("B", "N")]):
    B, N = x.shape
    for b in I.parallel(I.domain(0, B)):
        half = 1
        while 2 * half <= N:
            pair = I.indices(I.domain(0, N // (2 * half))) * (2 * half)
            x[b, pair + (2 * half - 1)] += x[b, pair + (half - 1)]
            half *= 2
