"""Contractions against einsum in double precision."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from intent import kir
from intent.reference.logical import Adversary
from intent.types.dtypes import BF16, F16, F32, F64, I32

CASES = [
    # lhs shape, rhs shape, reduce, batch, einsum
    ((3, 5), (5, 4), ((1, 0),), (), "mk,kn->mn"),
    ((5, 3), (5, 4), ((0, 0),), (), "km,kn->mn"),
    ((3, 5), (4, 5), ((1, 1),), (), "mk,nk->mn"),
    ((2, 3, 5), (2, 5, 4), ((2, 1),), ((0, 0),), "bmk,bkn->bmn"),
    ((3, 2, 5), (5, 4, 2), ((2, 0),), ((1, 2),), "mbk,knb->mbn"),
    ((3, 5, 2), (2, 5, 4), ((1, 1), (2, 0)), (), "mkj,jkn->mn"),
    ((3,), (4,), (), (), "m,n->mn"),
    ((5,), (5,), ((0, 0),), (), "k,k->"),
    ((2, 3, 4, 5), (4, 2, 5, 6), ((3, 2),), ((0, 1), (2, 0)), "bmck,cbkn->bmcn"),
    ((3, 0), (0, 4), ((1, 0),), (), "mk,kn->mn"),
]


def contracted(apply_op, a, b, reduce, batch, acc, out_shape, adversary=None):
    def make(build, lhs, rhs):
        return build.op(kir.Contract, (acc, out_shape), lhs=lhs, rhs=rhs, reduce=reduce, batch=batch)

    return apply_op(make, [(acc, out_shape)], a, b, adversary=adversary)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize(("lhs", "rhs", "reduce", "batch", "spec"), CASES)
def test_axes(apply_op, seed, lhs, rhs, reduce, batch, spec):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=lhs).astype(np.float32), rng.normal(size=rhs).astype(np.float32)
    expected = np.einsum(spec, a.astype(np.float64), b.astype(np.float64))
    adversary = None if seed is None else Adversary(np.random.default_rng(seed))
    out = contracted(apply_op, a, b, reduce, batch, F32, expected.shape, adversary)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dtype", "acc"), [(F16, F32), (BF16, F32), (F32, F64), (F64, F64)], ids=str)
def test_wide_accumulators(apply_op, dtype, acc):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(17, 17)).astype(dtype.numpy) for _ in range(2))
    out = contracted(apply_op, a, b, ((1, 0),), (), acc, (17, 17))
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)


def test_sixteen_bit_accumulator_rounds_every_step(apply_op):
    a = np.ones((1, 4096), np.float16)
    out = contracted(apply_op, a, a.T.copy(), ((1, 0),), (), F16, (1, 1))
    assert out[0, 0] == 2048  # 2048 + 1 ties to even


def test_integers_wrap(apply_op):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-(2**31), 2**31, size=(9, 9)).astype(np.int32) for _ in range(2))
    out = contracted(apply_op, a, b, ((1, 0),), (), I32, (9, 9))
    exact = a.astype(object) @ b.astype(object)
    assert out.tolist() == [[(v + 2**31) % 2**32 - 2**31 for v in row] for row in exact.tolist()]
    small = rng.integers(-128, 128, size=(9, 300)).astype(np.int8)
    out = contracted(apply_op, small, small, ((1, 1),), (), I32, (9, 9))
    assert (out == small.astype(np.int64) @ small.astype(np.int64).T).all()


E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]


def test_scaled_contraction(apply_op):
    rng = np.random.default_rng(3)
    m, g, n, group = 3, 2, 4, 8
    lhs = rng.integers(0, 256, size=(m, g, group // 2)).astype(np.uint8)
    rhs = rng.normal(size=(g, group, n)).astype(ml_dtypes.float8_e4m3fn)
    scales = [rng.integers(120, 134, size=s).astype(np.uint8) for s in ((m, g), (n, g))]

    def make(b, x, xs, y, ys):
        return b.op(
            kir.ScaledContract, (F32, (m, n)), lhs=x, lhs_scale=xs, rhs=y, rhs_scale=ys,
            lhs_format="e2m1", rhs_format="e4m3", lhs_group=group, rhs_group=group,
        )  # fmt: skip

    out = apply_op(make, [(F32, (m, n))], lhs, scales[0], rhs, scales[1])
    full = np.zeros((m, g, group))
    for i in np.ndindex(lhs.shape):
        full[i[0], i[1], 2 * i[2]] = E2M1[int(lhs[i]) & 15]
        full[i[0], i[1], 2 * i[2] + 1] = E2M1[int(lhs[i]) >> 4]
    xs, ys = (2.0 ** (s.astype(float) - 127) for s in scales)
    expected = np.einsum("mgc,mg,gcn,ng->mn", full, xs, rhs.astype(np.float64), ys)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    scales[0][1, 0] = 255
    out = apply_op(make, [(F32, (m, n))], lhs, scales[0], rhs, scales[1])
    assert np.isnan(out[1]).all()
    assert np.isfinite(out[[0, 2]]).all()


def test_two_of_four_sparsity(apply_op):
    rng = np.random.default_rng(4)
    m, k, n = 3, 8, 5
    kept = rng.normal(size=(m, k // 2)).astype(np.float32)
    first = rng.integers(0, 2, size=(m, k // 4)).astype(np.int32)
    second = rng.integers(2, 4, size=(m, k // 4)).astype(np.int32)
    dense = rng.normal(size=(k, n)).astype(np.float32)

    def make(b, c, p, q, d):
        return b.op(
            kir.SparseContract, (F32, (m, n)), compressed=c, metadata=(p, q), dense=d, format="two_of_four",
            reduce=((1, 0),),
        )  # fmt: skip

    full = np.zeros((m, k))
    for r in range(m):
        for g in range(k // 4):
            full[r, 4 * g + first[r, g]] = kept[r, 2 * g]
            full[r, 4 * g + second[r, g]] = kept[r, 2 * g + 1]
    out = apply_op(make, [(F32, (m, n))], kept, first, second, dense)
    np.testing.assert_allclose(out, full @ dense, rtol=1e-4, atol=1e-5)


def test_one_of_two_sparsity(apply_op):
    rng = np.random.default_rng(5)
    kept = rng.normal(size=(3, 4)).astype(np.float32)
    position = rng.integers(0, 2, size=(3, 4)).astype(np.int64)
    dense = rng.normal(size=(8, 5)).astype(np.float32)

    def make(b, c, p, d):
        return b.op(
            kir.SparseContract, (F32, (3, 5)), compressed=c, metadata=(p,), dense=d, format="one_of_two",
            reduce=((1, 0),),
        )  # fmt: skip

    full = np.zeros((3, 8))
    for r, g in np.ndindex(3, 4):
        full[r, 2 * g + position[r, g]] = kept[r, g]
    np.testing.assert_allclose(
        apply_op(make, [(F32, (3, 5))], kept, position, dense), full @ dense, rtol=1e-4, atol=1e-5
    )
