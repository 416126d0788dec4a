"""Two axes of one class never share a lane or a coordinate, however the plan lays them out."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I

SIZES = (0, 1, 5, 17)


def square(rng, n):
    return rng.normal(size=(n, n)).astype(np.float32)


def f32(*shape):
    return np.full(shape, 7, np.float32)


@intent.kernel
def rows_of_symmetric(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    y[...] = I.reduce.sum(v + I.transpose(v), axis=1)


@intent.kernel
def symmetric(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    y[...] = v + I.transpose(v)


@intent.kernel
def diagonal_of_square(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.matmul(x[...], x[...])[i, i]


@intent.kernel
def gram(x: I.In[I.f32, ("N", "K")], y: I.Out[I.f32, ("N", "N")]):
    y[...] = I.matmul(x[...], x[...], transpose_rhs=True)


@intent.kernel
def cube(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    y[...] = I.matmul(I.matmul(v, v), v)


@intent.kernel
def gram_of_gram(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    g = I.matmul(v, v, transpose_rhs=True)
    y[...] = I.matmul(g, I.transpose(g)) + I.transpose(g)


@intent.kernel
def softmax_of_symmetric(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    s = v + I.transpose(v)
    e = I.exp(s - I.reduce.max(s, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None] + I.transpose(e)


@intent.kernel
def rows_then_columns(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = I.abs(x[...]) + 1.0
    r = v / I.reduce.sum(v, axis=1)[:, None]
    c = r / I.reduce.sum(r, axis=0)[None, :]
    y[...] = c / I.reduce.sum(c, axis=1)[:, None]


@intent.kernel
def farthest(x: I.In[I.f32, ("N", "D")], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    d = v[:, None, :] - v[None, :, :]
    y[...] = I.reduce.max(I.reduce.sum(d * d, axis=2), axis=1)


@intent.kernel
def three_axes(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    c = v[:, :, None] + v[None, :, :] + I.transpose(v)[:, None, :]
    y[...] = I.reduce.max(I.reduce.sum(c, axis=2), axis=1)


@intent.kernel
def outer_product(x: I.In[I.f32, ("N",)], whole: I.Out[I.f32, ()], trace: I.Out[I.f32, ()]):
    v = x[...]
    o = v[:, None] * v[None, :]
    i = I.indices(I.domain(0, x.shape[0]))
    whole[...] = I.reduce.sum(o, axis=(0, 1))
    trace[...] = I.reduce.sum(o[i, i], axis=0)


@intent.kernel
def batched(x: I.In[I.f32, ("N", "N", "N")], y: I.Out[I.f32, ("N", "N", "N")]):
    v = x[...]
    y[...] = I.matmul(v, v)


@intent.kernel
def two_pairs(x: I.In[I.f32, ("N", "N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    y[...] = I.contract(v, v, reduce=((0, 1), (2, 2)), acc_dtype=I.f32)


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_a_matrix_and_its_transpose(differ, rng, n):
    x = square(rng, n)
    wide = x.astype(np.float64) + x.T
    differ(rows_of_symmetric, {"x": x, "y": f32(n)}, {"y": wide.sum(1)})
    differ(symmetric, {"x": x, "y": f32(n, n)}, {"y": x + x.T})


@pytest.mark.parametrize("n", SIZES)
def test_products_of_a_matrix_with_itself(differ, rng, n):
    x = square(rng, n)
    wide = x.astype(np.float64)
    differ(diagonal_of_square, {"x": x, "y": f32(n)}, {"y": np.diag(wide @ wide)}, tolerance=1e-4)
    differ(cube, {"x": x, "y": f32(n, n)}, {"y": wide @ wide @ wide}, tolerance=1e-3)
    g = wide @ wide.T
    differ(gram_of_gram, {"x": x, "y": f32(n, n)}, {"y": g @ g.T + g.T}, tolerance=1e-3)


@pytest.mark.parametrize(("n", "k"), [(0, 3), (3, 0), (1, 1), (9, 5), (5, 9)])
def test_gram(differ, rng, n, k):
    x = rng.normal(size=(n, k)).astype(np.float32)
    differ(gram, {"x": x, "y": f32(n, n)}, {"y": x.astype(np.float64) @ x.T}, tolerance=1e-4)


@pytest.mark.parametrize("n", SIZES)
def test_normalisations_of_both_axes(differ, rng, n):
    x = square(rng, n)
    s = x.astype(np.float64) + x.T
    e = np.exp(s - s.max(1, initial=-np.inf, keepdims=True))
    wanted = e / e.sum(1, keepdims=True) + e.T
    differ(softmax_of_symmetric, {"x": x, "y": f32(n, n)}, {"y": wanted}, tolerance=1e-4)
    v = np.abs(x.astype(np.float64)) + 1
    r = v / v.sum(1, keepdims=True)
    c = r / r.sum(0, keepdims=True)
    differ(rows_then_columns, {"x": x, "y": f32(n, n)}, {"y": c / c.sum(1, keepdims=True)}, tolerance=1e-4)


@pytest.mark.parametrize("n", [1, 5, 9])
def test_one_source_at_three_coordinates(differ, rng, n):
    x = square(rng, n)
    wide = x.astype(np.float64)
    c = wide[:, :, None] + wide[None] + wide.T[:, None, :]
    differ(three_axes, {"x": x, "y": f32(n)}, {"y": c.sum(2).max(1)}, tolerance=1e-4)
    d = ((wide[:, None] - wide[None]) ** 2).sum(2)
    differ(farthest, {"x": x, "y": f32(n)}, {"y": d.max(1)}, tolerance=1e-4)


@pytest.mark.parametrize("n", SIZES)
def test_outer_product(differ, rng, n):
    x = rng.normal(size=n).astype(np.float32)
    wide = x.astype(np.float64)
    wanted = {"whole": wide.sum() ** 2, "trace": (wide**2).sum()}
    differ(outer_product, {"x": x, "whole": f32(), "trace": f32()}, wanted, tolerance=1e-4)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_every_axis_of_one_extent(differ, rng, n):
    x = rng.normal(size=(n, n, n)).astype(np.float32)
    wide = x.astype(np.float64)
    differ(batched, {"x": x, "y": f32(n, n, n)}, {"y": wide @ wide}, tolerance=1e-4)
    wanted = np.einsum("aib,jab->ij", wide, wide)
    differ(two_pairs, {"x": x, "y": f32(n, n)}, {"y": wanted}, tolerance=1e-4)
