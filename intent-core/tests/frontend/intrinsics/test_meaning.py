"""What reductions, scans and contractions compute, against plain numpy."""

import numpy as np
import pytest

import intent
import intent.language as I


def f32(*shape):
    return np.full(shape, 7, np.float32)


@intent.kernel
def positions(
    x: I.In[I.f32, ("A", "B", "C")], v: I.Out[I.f32, ("B",)], p: I.Out[I.i64, ("B",)], q: I.Out[I.i64, ("B",)]
):
    value, index = I.arg_reduce.max(x, axis=(0, 2))
    v[...] = value
    p[...] = I.cast(index, I.i64)
    q[...] = I.cast(I.arg_reduce.min(x, axis=(0, -1))[1], I.i64)


def test_positions_count_in_the_reduced_axes_row_major(run, rng):
    x = rng.integers(0, 4, (3, 5, 4)).astype(np.float32)
    x[1, 2, 3] = np.nan
    got = run(positions, x=x, v=f32(5), p=np.zeros(5, np.int64), q=np.zeros(5, np.int64))
    flat = x.transpose(1, 0, 2).reshape(5, 12)
    np.testing.assert_array_equal(got["p"], flat.argmax(1))
    np.testing.assert_array_equal(got["q"], flat.argmin(1))
    np.testing.assert_array_equal(got["v"], flat[np.arange(5), flat.argmax(1)])


@intent.fn
def welford(a, b):
    n = a.n + b.n
    delta = b.mean - a.mean
    share = I.select(n > 0.0, b.n / I.maximum(n, 1.0), 0.0)
    return I.record(n=n, mean=a.mean + delta * share, m2=a.m2 + b.m2 + delta * delta * a.n * share)


@intent.kernel
def variance(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], var: I.Out[I.f32, ("M",)]):
    stats = I.reduce(
        I.record(n=1.0, mean=x[...], m2=0.0),
        axis=1,
        identity=I.record(n=I.cast(0.0, I.f32), mean=I.cast(0.0, I.f32), m2=I.cast(0.0, I.f32)),
        combine=welford,
    )
    mean[...] = stats.mean
    var[...] = stats.m2 / I.maximum(stats.n, 1.0)


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_generic_reduce_of_a_record(run, rng, n):
    x = rng.normal(size=(3, n)).astype(np.float32)
    got = run(variance, x=x, mean=f32(3), var=f32(3))
    np.testing.assert_allclose(got["mean"], x.mean(1) if n else np.zeros(3), atol=1e-5)
    np.testing.assert_allclose(got["var"], x.var(1) if n else np.zeros(3), atol=1e-5)


@intent.fn
def weighted(a, b, weight):
    return (a / weight + b / weight) * weight


@intent.kernel
def slice_operands(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce(x, axis=0, identity=0.0, combine=weighted, combine_operands=(w[...],))


def test_operands_of_a_slice(run, rng):
    x, w = rng.normal(size=(4, 3)).astype(np.float32), np.array([1, 2, 4], np.float32)
    np.testing.assert_allclose(run(slice_operands, x=x, w=w, y=f32(3))["y"], x.sum(0), rtol=1e-5)


@intent.fn
def affine(first, second):
    return I.record(scale=first.scale * second.scale, shift=second.scale * first.shift + second.shift)


@intent.kernel
def recurrence(
    a: I.In[I.f32, ("T", "D")],
    b: I.In[I.f32, ("T", "D")],
    y: I.Out[I.f32, ("T", "D")],
    z: I.Out[I.f32, ("T", "D")],
):
    pair = I.record(scale=a[...], shift=b[...])
    one = I.record(scale=I.full((a.shape[1],), 1.0, I.f32), shift=0.0)
    y[...] = I.scan(pair, axis=0, identity=one, combine=affine).shift
    z[...] = I.scan(pair, axis=0, identity=one, combine=affine, inclusive=False, reverse=True).shift


def test_a_scan_of_a_product_that_does_not_commute(run, rng):
    a, b = rng.normal(size=(2, 6, 2)).astype(np.float32)
    got = run(recurrence, a=a, b=b, y=f32(6, 2), z=f32(6, 2))
    state, forward = np.zeros(2), []
    for t in range(6):
        state = a[t] * state + b[t]
        forward.append(state)
    # Reverse is flip, scan, flip; exclusive: the prefix before the element.
    state, backward = np.zeros(2), {}
    for t in reversed(range(6)):
        backward[t] = state
        state = a[t] * state + b[t]
    np.testing.assert_allclose(got["y"], forward, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got["z"], [backward[t] for t in range(6)], rtol=1e-4, atol=1e-5)


@intent.kernel
def prefixes(
    x: I.In[I.i16, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i16, ("N",)], p: I.Out[I.i32, ("N",)]
):
    y[...] = I.cumsum(x, axis=0, reverse=True)
    z[...] = I.cummin(x, axis=-1)
    p[...] = I.cumprod(x, axis=0, inclusive=False)


def test_builtin_scans(run):
    x = np.array([3, -1, 4, -1, 5], np.int16)
    got = run(prefixes, x=x, y=np.zeros(5, np.int32), z=np.zeros(5, np.int16), p=np.zeros(5, np.int32))
    np.testing.assert_array_equal(got["y"], x[::-1].cumsum()[::-1])
    np.testing.assert_array_equal(got["z"], np.minimum.accumulate(x))
    np.testing.assert_array_equal(got["p"], [1, 3, -3, -12, 12])


@intent.kernel
def pairs(
    a: I.In[I.f64, ("B", "M", "K", "L")],
    b: I.In[I.f64, ("L", "K", "N", "B")],
    y: I.Out[I.f64, ("B", "M", "N")],
):
    y[...] = I.contract(a, b, reduce=((2, 1), (-1, 0)), batch=((0, 3),))


def test_contract_with_two_pairs_and_a_batch(run, rng):
    a, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(5, 4, 6, 2))
    got = run(pairs, a=a, b=b, y=np.zeros((2, 3, 6)))["y"]
    np.testing.assert_allclose(got, np.einsum("bmkl,lknb->bmn", a, b))


@intent.kernel
def products(
    a: I.In[I.f64, ("B", 1, "M", "K")], b: I.In[I.f64, ("H", "N", "K")], v: I.In[I.f64, ("K",)],
    y: I.Out[I.f64, ("B", "H", "M", "N")], z: I.Out[I.f64, ("B", 1, "M")], w: I.Out[I.f64, ("H", "N")],
    o: I.Out[I.f64, ("K", "K")], t: I.Out[I.f64, ("H", "M", "N")],
):  # fmt: skip
    y[...] = I.matmul(a, b, transpose_rhs=True)
    z[...] = I.matvec(a, v)
    w[...] = I.vecmat(v, b, transpose=True)
    o[...] = I.outer(v, v) * I.dot(v, v)
    t[...] = I.matmul(a[0, 0], b, transpose_rhs=True)


def test_named_products(run, rng):
    a, b, v = rng.normal(size=(2, 1, 3, 4)), rng.normal(size=(5, 6, 4)), rng.normal(size=4)
    empty = {"y": (2, 5, 3, 6), "z": (2, 1, 3), "w": (5, 6), "o": (4, 4), "t": (5, 3, 6)}
    got = run(products, a=a, b=b, v=v, **{name: np.zeros(shape) for name, shape in empty.items()})
    np.testing.assert_allclose(got["y"], a @ b.transpose(0, 2, 1))
    np.testing.assert_allclose(got["z"], a @ v)
    np.testing.assert_allclose(got["w"], b @ v)
    np.testing.assert_allclose(got["o"], np.outer(v, v) * (v @ v))
    np.testing.assert_allclose(got["t"], a[0, 0] @ b.transpose(0, 2, 1))


@intent.kernel
def sparse(
    a: I.In[I.f32, ("M", "KC")],
    p: I.In[I.i8, ("M", "G")],
    q: I.In[I.i8, ("M", "G")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.sparse_contract(
        a[...],
        I.record(first=I.cast(p, I.index), second=I.cast(q, I.index)),
        b[...],
        format=I.sparse.two_of_four(compression_axis=1, logical_extent=b.shape[0]),
        acc_dtype=I.f32,
    )


def test_two_of_four(run, rng):
    dense = np.zeros((3, 8), np.float32)
    first, second = np.array([[0, 1], [2, 0], [1, 1]], np.int8), np.array([[3, 2], [3, 1], [2, 3]], np.int8)
    values = rng.normal(size=(3, 4)).astype(np.float32)
    for row in range(3):
        for group in range(2):
            dense[row, 4 * group + first[row, group]] = values[row, 2 * group]
            dense[row, 4 * group + second[row, group]] = values[row, 2 * group + 1]
    b = rng.normal(size=(8, 5)).astype(np.float32)
    got = run(sparse, a=values, p=first, q=second, b=b, y=f32(3, 5))["y"]
    np.testing.assert_allclose(got, dense @ b, rtol=1e-5)


@intent.kernel
def scaled(
    a: I.In[I.u8, ("M", "G", 2)], sa: I.In[I.u8, ("M", "G")], b: I.In[I.f8e4m3fn, ("G", 4, "N")],
    sb: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.scaled_matmul(
        a, sa, b, sb, lhs_format=I.e2m1, rhs_format=I.e4m3, group_size=4, acc_dtype=I.f32
    )


def test_scaled_matmul(run, rng):
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    codes = rng.integers(0, 16, (3, 2, 4))
    packed = (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)
    b = rng.integers(-4, 5, (2, 4, 5)).astype(I.f8e4m3fn.numpy)
    sa, sb = rng.integers(126, 129, (3, 2)).astype(np.uint8), rng.integers(126, 129, (5, 2)).astype(np.uint8)
    got = run(scaled, a=packed, sa=sa, b=b, sb=sb, y=f32(3, 5))["y"]
    left = table[codes] * 2.0 ** (sa.astype(float) - 127)[..., None]
    right = b.astype(float) * 2.0 ** (sb.astype(float).T - 127)[:, None, :]
    np.testing.assert_allclose(got, np.einsum("mgc,gcn->mn", left, right), rtol=1e-6)
