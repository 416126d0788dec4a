"""Helpers: keyword arguments, defaults, tuples, records, provenance through calls."""

from __future__ import annotations

import intent
import intent.language as I

LEAK = 0.1


@intent.fn
def leaky(x, slope=LEAK):
    return I.select(x >= 0.0, x, x * slope)


@intent.fn
def affine(x, *, scale, shift):
    return x * scale + shift


@intent.fn
def mean_and_deviation(x, eps=1e-6):
    n = I.cast(x.shape[0], I.f32)
    mean = I.reduce.sum(x, axis=0) / n
    d = x - mean
    return mean, I.sqrt(I.reduce.sum(d * d, axis=0) / n + eps)


@intent.fn
def polar(re, im):
    return I.record(radius=I.sqrt(re * re + im * im), ratio=im / re)


@intent.fn
def neighbours(region):
    i = I.indices(region)
    return i, i + 1


@intent.kernel
def leaky_affine(x: I.In[I.f32, ("N",)], a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("N",)]):
    v = x[...]
    a[...] = leaky(v)
    b[...] = affine(leaky(v, slope=0.5), shift=1.0, scale=3.0)


@intent.kernel
def standardise(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        row = x[i, :]
        mean, deviation = mean_and_deviation(row)
        y[i, :] = (row - mean) / deviation


@intent.kernel
def to_polar(
    re: I.In[I.f32, ("N",)],
    im: I.In[I.f32, ("N",)],
    radius: I.Out[I.f32, ("N",)],
    ratio: I.Out[I.f32, ("N",)],
):
    p = polar(re[...], im=im[...])
    radius[...] = p.radius
    ratio[...] = p.ratio


@intent.kernel
def helper_coordinates(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("K",)]):
    here, there = neighbours(I.domain(0, y.shape[0]))
    y[...] = x[there] - x[here]


@intent.fn
def write_row(target, i, value):
    target[i, :] = value


@intent.kernel
def helper_effects(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        write_row(y, i, x[i, :] * 2.0)
