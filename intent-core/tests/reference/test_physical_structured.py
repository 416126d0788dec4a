"""Reductions, scans, contractions and dims of the program evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from intent import physical
from intent.physical import Dim
from intent.reference.physical import execute
from intent.types import extent
from intent.types.dtypes import BF16, BOOL, F16, F32, F64, I32, INDEX

M = extent.symbol("M")
A, K, N = Dim("a", 3), Dim("k", 5), Dim("n", 7)
ROWS = 4


def run(b, make, out, *arrays):
    """One program per leading index: load [i, lanes...] of each array, ``make`` results, store [i, lanes...]."""
    views = [
        b.view(f"x{j}", dtype, (ROWS, *(d.size for d in dims))) for j, (_, dtype, dims) in enumerate(arrays)
    ]
    targets = [
        b.view(f"y{j}", dtype, (ROWS, *(d.size for d in dims)), "out") for j, (dtype, dims) in enumerate(out)
    ]

    def body(i):
        loaded = [
            b.load(v, i, *(b.lane(d) for d in dims)) for v, (_, _, dims) in zip(views, arrays, strict=True)
        ]
        results = make(*loaded)
        results = results if isinstance(results, tuple) else (results,)
        for target, result, (_, dims) in zip(targets, results, out, strict=True):
            b.store(target, result, i, *(b.lane(d) for d in dims), dims=dims)

    memory = {f"x{j}": a for j, (a, _, _) in enumerate(arrays)}
    outs = [np.zeros((ROWS, *(d.size for d in dims)), dtype.numpy) for dtype, dims in out]
    memory |= {f"y{j}": o for j, o in enumerate(outs)}
    execute(b.program(ROWS, body), memory, {}, {})
    return outs[0] if len(outs) == 1 else outs


def draw(*dims, seed=0, dtype=F32):
    values = np.random.default_rng(seed).normal(size=(ROWS, *(d.size for d in dims)))
    return values.astype(np.float32).astype(dtype.numpy)


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("dims", [(K,), (A, K), (A, K, N)])
def test_reductions(assemble, kind, dims):
    x = draw(A, K, N)
    free = tuple(d for d in (A, K, N) if d not in dims)
    out = run(
        assemble,
        lambda v: assemble.op(physical.Reduce, (F32, free), operands=(v,), dims=dims, kind=kind),
        [(F32, free)],
        (x, F32, (A, K, N)),
    )
    axes = tuple(1 + (A, K, N).index(d) for d in dims)
    np.testing.assert_allclose(out, getattr(np, kind)(x.astype(np.float64), axis=axes), rtol=1e-5, atol=1e-6)


def test_reduction_of_a_broadcast_value_counts_every_lane(assemble):
    b = assemble
    x = draw(K)

    def make(v):
        wide = b.op(physical.Broadcast, (F32, (A, K)), value=v)
        return b.op(physical.Reduce, (F32, (K,)), operands=(wide,), dims=(A,), kind="sum")

    np.testing.assert_allclose(run(b, make, [(F32, (K,))], (x, F32, (K,))), 3 * x, rtol=1e-6)


def test_integer_and_bool_reductions(assemble):
    b = assemble
    x = np.random.default_rng(1).integers(-(2**31), 2**31, size=(ROWS, 5)).astype(np.int32)

    def make(v):
        odd = b.pw("eq", b.pw("and", v, b.const(1, I32)), b.const(1, I32), dtype=BOOL)
        return (
            b.op(physical.Reduce, (I32, ()), operands=(v,), dims=(K,), kind="sum"),
            b.op(physical.Reduce, (BOOL, ()), operands=(odd,), dims=(K,), kind="any"),
            b.op(physical.Reduce, (BOOL, ()), operands=(odd,), dims=(K,), kind="all"),
        )

    total, some, every = run(b, make, [(I32, ()), (BOOL, ()), (BOOL, ())], (x, I32, (K,)))
    assert total.tolist() == [(v + 2**31) % 2**32 - 2**31 for v in x.astype(object).sum(axis=1)]
    assert some.tolist() == (x & 1).any(axis=1).tolist()
    assert every.tolist() == (x & 1).all(axis=1).tolist()


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
@pytest.mark.parametrize("kind", ["argmax", "argmin"])
def test_arg_reduce_takes_the_lowest_position_wherever_it_stands(assemble, dtype, kind):
    b = assemble
    sign = 1 if kind == "argmax" else -1
    rows = [[1, 3, 3, 2, 0], [-np.inf] * 5, [5, np.nan, 9, np.nan, np.inf], [7, 7, 7, 7, 7]]
    x = (sign * np.array(rows, np.float32)).astype(dtype.numpy)

    def make(v):
        position = b.pw("sub", b.const(4), b.lane(K))  # positions run against the lanes
        return b.op(physical.Reduce, (dtype, ()), (INDEX, ()), operands=(v, position), dims=(K,), kind=kind)

    values, positions = run(b, make, [(dtype, ()), (INDEX, ())], (x, dtype, (K,)))
    assert positions.tolist() == [2, 0, 1, 0]
    wide = values.astype(np.float64) * sign
    assert wide[[0, 1, 3]].tolist() == [3, -np.inf, 7]
    assert np.isnan(wide[2])


def affine(b):
    def body(a1, c1, a2, c2):
        return b.pw("mul", a1, a2), b.pw("add", b.pw("mul", c1, a2), c2)

    return b.region([(I32, ())] * 4, body)


@pytest.mark.parametrize("reverse", [False, True])
def test_generic_scan_keeps_the_order(assemble, reverse):
    b = assemble
    rng = np.random.default_rng(2)
    a, c = (rng.integers(-3, 4, size=(ROWS, 3, 7)).astype(np.int32) for _ in range(2))

    def make(first, second):
        return b.op(
            physical.Scan,
            *[(I32, (A, N))] * 2,
            operands=(first, second),
            dim=N,
            combine=affine(b),
            reverse=reverse,
        )

    got = run(b, make, [(I32, (A, N))] * 2, (a, I32, (A, N)), (c, I32, (A, N)))
    steps = range(6, -1, -1) if reverse else range(7)
    pa, pc = np.ones((ROWS, 3), np.int64), np.zeros((ROWS, 3), np.int64)
    for k in steps:
        pa, pc = pa * a[..., k], pc * a[..., k] + c[..., k]
        assert (got[0][..., k] == pa).all()
        assert (got[1][..., k] == pc).all()


@pytest.mark.parametrize(("kind", "fn"), [("sum", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_builtin_scan_over_a_leading_dim(assemble, kind, fn):
    b = assemble
    x = draw(K, N)
    make = lambda v: b.op(physical.Scan, (F32, (K, N)), operands=(v,), dim=K, kind=kind)  # noqa: E731
    out = run(b, make, [(F32, (K, N))], (x, F32, (K, N)))
    np.testing.assert_allclose(out, fn.accumulate(x.astype(np.float64), axis=1), rtol=1e-5, atol=1e-6)


def test_generic_reduce_with_a_capture_over_free_dims(assemble):
    """The maximum, held below a bound that differs per free lane and instance."""
    b = assemble
    x, bound = draw(A, K), np.abs(draw(A, seed=5))

    def make(v, top):
        combine = b.region([(F32, ())] * 3, lambda p, q, t: b.pw("minimum", b.pw("maximum", p, q), t))
        return b.op(
            physical.Reduce, (F32, (A,)), operands=(v,), dims=(K,), identity=(b.const(-np.inf, F32),),
            captures=(top,), combine=combine,
        )  # fmt: skip

    out = run(b, make, [(F32, (A,))], (x, F32, (A, K)), (bound, F32, (A,)))
    assert (out == np.minimum(x.max(axis=2), bound)).all()


@pytest.mark.parametrize(
    ("lhs", "rhs", "summed", "result", "spec"),
    [
        ((A, K), (K, N), (K,), (A, N), "iak,ikn->ian"),
        ((K, A), (N, K), (K,), (N, A), "ika,ink->ina"),
        ((A, K), (A, K), (K,), (A,), "iak,iak->ia"),
        ((A, K, N), (K, N), (K, N), (A,), "iakn,ikn->ia"),
        ((A, K), (A, K, N), (K,), (A, N), "iak,iakn->ian"),
        ((K,), (K,), (K,), (), "ik,ik->i"),
        ((A,), (N,), (), (A, N), "ia,in->ian"),
    ],
)
@pytest.mark.parametrize("dtype", [F32, F16, BF16, F64], ids=str)
def test_contract(assemble, lhs, rhs, summed, result, spec, dtype):
    b = assemble
    acc = F64 if dtype is F64 else F32
    x, y, z = draw(*lhs, dtype=dtype), draw(*rhs, seed=1, dtype=dtype), draw(*result, seed=2, dtype=acc)

    def make(left, right, start):
        return b.op(physical.Contract, (acc, result), lhs=left, rhs=right, accumulator=start, dims=summed)

    out = run(b, make, [(acc, result)], (x, dtype, lhs), (y, dtype, rhs), (z, acc, result))
    expected = np.einsum(spec, x.astype(np.float64), y.astype(np.float64)) + z
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_large_contract(assemble):
    b = assemble
    i, k, j = Dim("i", 32), Dim("k", 48), Dim("j", 40)
    x, y = draw(i, k), draw(k, j, seed=1)
    make = lambda p, q: b.op(physical.Contract, (F32, (i, j)), lhs=p, rhs=q, dims=(k,))  # noqa: E731
    out = run(b, make, [(F32, (i, j))], (x, F32, (i, k)), (y, F32, (k, j)))
    np.testing.assert_allclose(out, np.matmul(x.astype(np.float64), y), rtol=1e-4, atol=1e-4)


def test_rename_gives_an_outer_product_with_itself(assemble):
    b = assemble
    other = Dim("z", 5)
    x = draw(K)

    def make(v):
        return b.pw("mul", v, b.op(physical.Rename, (F32, (other,)), value=v, source=K, target=other))

    out = run(b, make, [(F32, (K, other))], (x, F32, (K,)))
    assert (out == x[:, :, None] * x[:, None, :]).all()


def test_narrow_sums_round_at_every_step(assemble):
    b = assemble
    lanes = Dim("n", 4096)
    x = np.ones((ROWS, 4096), np.float16)
    x[:, 0] = 2048
    make = lambda v: b.op(physical.Reduce, (F16, ()), operands=(v,), dims=(lanes,), kind="sum")  # noqa: E731
    out = run(b, make, [(F16, ())], (x, F16, (lanes,)))
    assert (out.astype(float) != 2048 + 4095).all()
    assert (np.abs(out.astype(float) - 6143) <= 8).all()
