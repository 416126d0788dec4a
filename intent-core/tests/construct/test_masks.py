"""Padding lanes never reach a reduction, scan, contraction or store as a value."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I

PLANES = ((0, 3), (3, 0), (1, 1), (5, 7), (3, 33))


def plane(rng, m, n):
    return rng.normal(size=(m, n)).astype(np.float32)


def f32(*shape):
    return np.full(shape, 7, np.float32)


@intent.fn
def times(a, b):
    return a * b


@intent.kernel
def functions_of_zero(
    x: I.In[I.f32, ("M", "N")],
    total: I.Out[I.f32, ("M",)],
    product: I.Out[I.f32, ("M",)],
    least: I.Out[I.f32, ("M",)],
    ones: I.Out[I.f32, ("M",)],
):
    v = x[...]
    total[...] = I.reduce.sum(I.exp(v), axis=1)
    product[...] = I.reduce.prod(v * 0.25 + 1.0, axis=1)
    least[...] = I.reduce.min(I.exp(v), axis=1)
    ones[...] = I.reduce.sum(I.cos(v * 0.0), axis=1)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_padding_is_not_a_zero_that_functions_see(differ, rng, m, n):
    x = plane(rng, m, n)
    v = x.astype(np.float64)
    wanted = {
        "total": np.exp(v).sum(1),
        "product": (v * 0.25 + 1).prod(1),
        "least": np.exp(v).min(1, initial=np.inf),
        "ones": np.full(m, n),
    }
    arguments = {"x": x} | {k: f32(m) for k in wanted}
    differ(functions_of_zero, arguments, wanted, tolerance=1e-3)


@intent.kernel
def inverses(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], logs: I.Out[I.f32, ("N",)]):
    total[...] = I.reduce.sum(1.0 / x[...], axis=1)
    logs[...] = I.reduce.max(I.log(x[...]), axis=0)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_padding_that_would_be_infinite(differ, rng, m, n):
    x = rng.uniform(1, 2, (m, n)).astype(np.float32)
    v = x.astype(np.float64)
    wanted = {"total": (1 / v).sum(1), "logs": np.log(v).max(0, initial=-np.inf)}
    differ(inverses, {"x": x, "total": f32(m), "logs": f32(n)}, wanted, tolerance=1e-4)


@intent.kernel
def product_of_functions(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(1.0 / a[...], I.log(b[...]))


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a[...], b[...])


@pytest.mark.parametrize(("m", "k", "n"), [(3, 0, 2), (1, 1, 1), (5, 7, 3), (3, 33, 17)])
def test_both_sides_of_a_contraction_are_masked(differ, rng, m, k, n):
    # Padding is 1/0 on one side and log(0) on the other: masking either alone leaves NaN.
    a = rng.uniform(1, 2, (m, k)).astype(np.float32)
    b = rng.uniform(1, 2, (k, n)).astype(np.float32)
    wanted = (1 / a.astype(np.float64)) @ np.log(b.astype(np.float64))
    differ(product_of_functions, {"a": a, "b": b, "y": f32(m, n)}, {"y": wanted}, tolerance=1e-4)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (5, 7, 3), (3, 33, 17)])
def test_nan_and_infinity_in_members_stay_in_their_rows_and_columns(differ, rng, m, k, n):
    a, b = plane(rng, m, k), plane(rng, k, n)
    a[0, 0], b[-1, -1] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        wanted = a.astype(np.float64) @ b.astype(np.float64)
    differ(product, {"a": a, "b": b, "y": f32(m, n)}, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def truths(
    x: I.In[I.bool, ("M", "N")],
    any_false: I.Out[I.bool, ("M",)],
    every: I.Out[I.bool, ("N",)],
    one: I.Out[I.bool, ()],
):
    v = x[...]
    any_false[...] = I.reduce.any(~v, axis=1)
    every[...] = I.reduce.all(v, axis=0)
    one[...] = I.reduce.all(v | ~v, axis=(0, 1))


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_any_and_all(differ, rng, m, n):
    x = rng.random((m, n)) > 0.1
    wanted = {"any_false": (~x).any(1), "every": x.all(0), "one": True}
    arguments = {
        "x": x,
        "any_false": np.zeros(m, bool),
        "every": np.zeros(n, bool),
        "one": np.zeros((), bool),
    }
    differ(truths, arguments, wanted)


@intent.kernel
def positions(
    x: I.In[I.f32, ("M", "N")],
    high: I.Out[I.f32, ("M",)],
    at: I.Out[I.i64, ("M",)],
    low: I.Out[I.i64, ("M",)],
):
    v, i = I.arg_reduce.max(x[...], axis=1)
    high[...] = v
    at[...] = I.cast(i, I.i64)
    _, j = I.arg_reduce.min(I.exp(-I.abs(x[...])), axis=1)
    low[...] = I.cast(j, I.i64)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 7), (3, 33)])
def test_positions_in_rows_of_negative_infinity(differ, rng, m, n):
    x = np.full((m, n), -np.inf, np.float32)
    x[1::2] = rng.integers(-2, 3, x[1::2].shape)
    wanted = {"high": x.max(1), "at": x.argmax(1), "low": np.exp(-np.abs(x)).argmin(1)}
    differ(
        positions, {"x": x, "high": f32(m), "at": np.zeros(m, np.int64), "low": np.zeros(m, np.int64)}, wanted
    )


@intent.kernel
def guarded(
    x: I.In[I.f32, ("N",)], at: I.In[I.i64, ("K",)], product: I.Out[I.f32, ()], y: I.Out[I.f32, ("K",)]
):
    i = I.cast(at[...], I.index)
    g = I.gather(x, index=i, valid=(i >= 0) & (i < x.shape[0]), fill=1.0)
    product[...] = I.reduce.prod(g, axis=0)
    y[...] = I.exp(g)


@pytest.mark.parametrize("n", [0, 1, 5, 33])
def test_fill_is_not_padding(differ, rng, n):
    x = rng.uniform(0.5, 1.5, n).astype(np.float32)
    at = rng.integers(-3, n + 3, n + 2)
    g = np.array([x[i] if 0 <= i < n else 1.0 for i in at], np.float64)
    differ(
        guarded, {"x": x, "at": at, "product": f32(), "y": f32(n + 2)}, {"product": g.prod(), "y": np.exp(g)}
    )


@intent.kernel
def mirrored(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M", "N")]):
    n = x.shape[1]
    j = I.indices(I.domain(0, n))
    v = x[...]
    r = I.exp(v)[:, n - 1 - j]
    y[...] = I.reduce.sum(r * v, axis=1)
    z[...] = r


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_coordinates_that_leave_the_source_on_padding(differ, rng, m, n):
    x = plane(rng, m, n)
    v = x.astype(np.float64)
    wanted = {"y": (np.exp(v)[:, ::-1] * v).sum(1), "z": np.exp(v)[:, ::-1]}
    differ(mirrored, {"x": x, "y": f32(m), "z": f32(m, n)}, wanted, tolerance=1e-4)


@intent.kernel
def author_combine(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M", "N")]):
    v = I.exp(x[...])
    y[...] = I.reduce(v, axis=1, identity=1.0, combine=times)
    z[...] = I.scan(v, axis=1, identity=1.0, combine=times, inclusive=False)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_padding_of_an_authors_combine_is_its_identity(differ, rng, m, n):
    x = (plane(rng, m, n) * 0.1).astype(np.float32)
    v = np.exp(x.astype(np.float64))
    wanted = {"y": v.prod(1), "z": np.cumprod(v, axis=1) / v}
    differ(author_combine, {"x": x, "y": f32(m), "z": f32(m, n)}, wanted, tolerance=1e-4)


@intent.kernel
def bytes_(
    x: I.In[I.i8, ("M", "N")],
    high: I.Out[I.i8, ("M",)],
    low: I.Out[I.i8, ("M",)],
    total: I.Out[I.i32, ("M",)],
):
    v = x[...]
    high[...] = I.reduce.max(v - 1, axis=1)
    low[...] = I.reduce.min(v + 1, axis=1)
    total[...] = I.reduce.sum(v + 1, axis=1)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_identities_of_narrow_integers(differ, rng, m, n):
    x = rng.integers(-100, 100, (m, n)).astype(np.int8)
    v = x.astype(np.int64)
    wanted = {
        "high": (v - 1).max(1, initial=-128),
        "low": (v + 1).min(1, initial=127),
        "total": (v + 1).sum(1),
    }
    arguments = {
        "x": x,
        "high": np.zeros(m, np.int8),
        "low": np.zeros(m, np.int8),
        "total": np.zeros(m, np.int32),
    }
    differ(bytes_, arguments, wanted)
