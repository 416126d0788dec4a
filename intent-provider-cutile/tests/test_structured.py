"""Reductions, scans and contractions against numpy; NaN, ties and wrap-around included."""

from __future__ import annotations

import cutile_programs as programs
import numpy as np
import pytest
from cutile_builder import Builder, view
from cutile_execution import run
from cutile_pointwise_programs import reduction, scan
from test_pointwise import computed, floats, same

from intent.physical import Dim
from intent.types.dtypes import BY_NAME, F32
from intent.types.extent import symbol

RNG = np.random.default_rng(11)
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]


def block(dtype: str, rows: int = 4, columns: int = 32) -> np.ndarray:
    kind = BY_NAME[dtype]
    if kind.is_float:
        return RNG.standard_normal((rows, columns)).astype(kind.numpy)
    if dtype == "bool":
        return RNG.integers(0, 2, (rows, columns)).astype(np.bool_)
    return RNG.integers(kind.minimum, kind.maximum, (rows, columns), dtype=kind.numpy, endpoint=True)


def reduced(kind: str, dtype: str, x: np.ndarray) -> np.ndarray:
    program = reduction(kind, dtype, *x.shape)
    y = np.zeros(x.shape[0], program.params[1].dtype.numpy)
    run(program, {"x": x, "y": y})
    return y


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
def test_integer_reductions_wrap_in_their_dtype(kind, dtype):
    x = block(dtype)
    fold = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
    same(reduced(kind, dtype, x), fold.reduce(x, axis=1, dtype=x.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
def test_float_reductions(kind, dtype):
    x = block(dtype) if kind != "prod" else RNG.uniform(0.9, 1.1, (4, 32)).astype(BY_NAME[dtype].numpy)
    wide = x.astype(np.float64)
    wanted = {"sum": wide.sum(1), "prod": wide.prod(1), "max": wide.max(1), "min": wide.min(1)}[kind]
    eps = {"f16": 2e-3, "bf16": 1e-2, "f32": 1e-5, "f64": 1e-13}[dtype]
    scale = np.abs(wide).sum(1) if kind == "sum" else np.abs(wanted)
    assert (np.abs(reduced(kind, dtype, x).astype(np.float64) - wanted) <= eps * scale).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_wins_a_maximum_wherever_it_stands(kind, dtype):
    x = np.tile(block(dtype, 1), (32, 1))
    np.fill_diagonal(x, np.nan)
    assert np.isnan(reduced(kind, dtype, x).astype(np.float64)).all()


@pytest.mark.parametrize("kind", ["any", "all"])
def test_bool_reductions(kind):
    x = np.stack([np.zeros(32, np.bool_), np.ones(32, np.bool_), np.arange(32) == 5, np.arange(32) != 5])
    same(reduced(kind, "bool", x), x.any(1) if kind == "any" else x.all(1))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64", "i32", "u8", "i64"])
@pytest.mark.parametrize("kind", ["argmax", "argmin"])
def test_arg_reductions_take_the_lowest_position_and_nan_first(kind, dtype):
    kind_of = BY_NAME[dtype]
    x = RNG.integers(0, 3, (16, 32)).astype(kind_of.numpy)
    if kind_of.is_float:
        x[0] = -np.inf
        x[1] = np.inf
        x[2, 7] = x[2, 20] = np.nan
        x[3, 0], x[3, 1] = 0.0, -0.0
        x[4, 31] = np.nan
    wide = x.astype(np.float64)
    wanted = wide.argmax(1) if kind == "argmax" else wide.argmin(1)  # numpy: the first NaN wins
    same(reduced(kind, dtype, x), wanted)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "i32", "i8", "u16", "i64", "f64", "bf16"])
@pytest.mark.parametrize("kind", ["sum", "max", "min", "prod"])
def test_scans(kind, dtype, reverse):
    x = block(dtype) if BY_NAME[dtype].is_float else RNG.integers(0, 5, (4, 32)).astype(BY_NAME[dtype].numpy)
    fold = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
    y = np.zeros_like(x)
    run(scan(kind, dtype, reverse), {"x": x, "y": y})
    wide = x.astype(np.float64) if BY_NAME[dtype].is_float else x
    turned = wide[:, ::-1] if reverse else wide
    wanted = fold.accumulate(turned, axis=1, dtype=turned.dtype)
    wanted = wanted[:, ::-1] if reverse else wanted
    if BY_NAME[dtype].is_float:
        eps = {"f32": 1e-5, "f64": 1e-12, "bf16": 2e-2}[dtype]
        scale = np.abs(wanted) + (np.abs(wide).sum(1, keepdims=True) if kind == "sum" else 0)
        assert (np.abs(y.astype(np.float64) - wanted) <= eps * scale).all()
    else:
        same(y, wanted)


def test_generic_reduce_with_two_components_and_a_capture():
    """Mean and a scaled sum of squares: the combine reads a run-time scalar."""
    lane = Dim("n", 32)
    b = Builder(lane)
    x, s, y = view("x", "f32", "M 32"), view("s", "f32", "M"), view("y", "f32", "M 2", "out")

    def body(row):
        value = b.load(x, row, b.lane(lane))
        scale = b.load(s, row)
        args = [b.fragment(F32, (), n) for n in ("total", "squares", "item", "square", "scale")]

        def combine(total, squares, item, square, held):
            grown = b.op("add", squares, square)
            return b.op("add", total, item), b.op("minimum", grown, held)

        region = b.region(args, combine)
        total, squares = b.reduce_with([value, b.op("mul", value, value)], [lane], region, [scale])
        b.store(y, [row, b.constant(0)], total)
        b.store(y, [row, b.constant(1)], squares)

    program = b.program("moments", [x, s, y], b.segment([("m", symbol("M"), 1)], body))
    values, limit = RNG.standard_normal((5, 32)).astype(np.float32), np.array([1, 2, 100, 3, 100], np.float32)
    out = np.zeros((5, 2), np.float32)
    run(program, {"x": values, "s": limit, "y": out})
    np.testing.assert_allclose(out[:, 0], values.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out[:, 1], np.minimum((values**2).sum(1), limit), rtol=1e-4)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_keeps_the_order_of_a_combine_that_does_not_commute(reverse):
    """x -> a*x + b composes without commuting."""
    lane = Dim("n", 32)
    b = Builder(lane)
    views = [
        view("p", "f32", "32"),
        view("q", "f32", "32"),
        view("u", "f32", "32", "out"),
        view("v", "f32", "32", "out"),
    ]

    def body(_pid):
        i = b.lane(lane)
        args = [b.fragment(F32, (), n) for n in ("a1", "b1", "a2", "b2")]

        def combine(a1, b1, a2, b2):
            return b.op("mul", a1, a2), b.op("add", b.op("mul", a2, b1), b2)

        first, second = b.scan_with(
            [b.load(views[0], i), b.load(views[1], i)], lane, b.region(args, combine), reverse
        )
        b.store(views[2], [i], first)
        b.store(views[3], [i], second)

    program = b.program("affine", views, b.segment([("one", 1, 1)], body))
    p = RNG.uniform(0.5, 1.5, 32).astype(np.float32)
    q = RNG.standard_normal(32).astype(np.float32)
    u, v = np.zeros(32, np.float32), np.zeros(32, np.float32)
    run(program, {"p": p, "q": q, "u": u, "v": v})
    order = range(31, -1, -1) if reverse else range(32)
    state = None
    for i in order:
        state = (p[i], q[i]) if state is None else (state[0] * p[i], p[i] * state[1] + q[i])
        np.testing.assert_allclose([u[i], v[i]], state, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("order", ["mkn", "mnk", "nkm", "knm"])
@pytest.mark.parametrize(
    ("dtype", "out", "tile"),
    [("f16", "f32", 32), ("bf16", "bf16", 16), ("f32", "f32", 16), ("f64", "f64", 16), ("i8", "i32", 32),
     ("f32", "f32", 8), ("i32", "i32", 8)],
)  # fmt: skip
def test_matmul(order, dtype, out, tile):
    m, k, n = 45, 70, 50
    if BY_NAME[dtype].is_float:
        a, b = (RNG.standard_normal(s).astype(BY_NAME[dtype].numpy) for s in ((m, k), (k, n)))
    else:
        a, b = (RNG.integers(-50, 50, s).astype(BY_NAME[dtype].numpy) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), BY_NAME[out].numpy)
    run(
        programs.matmul(tile, tile, max(tile, 32 if dtype == "i8" else 0), dtype, out, order),
        {"a": a, "b": b, "c": c},
    )
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    eps = {"f32": 2e-6, "f64": 1e-14, "bf16": 4e-3, "i32": 0}[out]
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    assert (np.abs(c.astype(np.float64) - wanted) <= eps * scale).all()


def test_batched_contraction_and_rename():
    """x @ x.T per batch: the second operand is the first one, renamed."""
    batch, m, k, n = Dim("b", 2), Dim("m", 16), Dim("k", 16), Dim("n", 16)
    b = Builder(batch, m, n, k)
    x, y = view("x", "f32", "2 16 16"), view("y", "f32", "2 16 16", "out")

    def body(_pid):
        lanes = [b.lane(batch), b.lane(m), b.lane(k)]
        value = b.load(x, *lanes)
        product = b.contract(value, b.rename(value, m, n), k, dtype=F32)
        b.store(y, [lanes[0], lanes[1], b.rename(lanes[1], m, n)], product)

    values, out = RNG.standard_normal((2, 16, 16)).astype(np.float32), np.zeros((2, 16, 16), np.float32)
    run(b.program("gram", [x, y], b.segment([("one", 1, 1)], body)), {"x": values, "y": out})
    np.testing.assert_allclose(out, values @ values.transpose(0, 2, 1), rtol=1e-4, atol=1e-4)


def test_reduction_over_two_dims_and_broadcast_back():
    m, n = Dim("m", 8), Dim("n", 16)
    b = Builder(m, n)
    x, y = view("x", "i32", "8 16"), view("y", "i32", "8 16", "out")

    def body(_pid):
        i, j = b.lane(m), b.lane(n)
        value = b.load(x, i, j)
        b.store(y, [i, j], b.op("sub", value, b.reduce(value, m, n)))

    values, out = RNG.integers(-9, 9, (8, 16)).astype(np.int32), np.zeros((8, 16), np.int32)
    run(b.program("centred", [x, y], b.segment([("one", 1, 1)], body)), {"x": values, "y": out})
    same(out, values - values.sum())


def test_sums_of_coordinates_are_64_bit():
    """The sum of lanes times a factor exceeds 32 bits although every lane is small."""
    lane = Dim("n", 64)
    b = Builder(lane)
    y = view("y", "i64", "2", "out")

    def body(_pid):
        big = b.op("mul", b.lane(lane), b.constant(1 << 25))
        b.store(y, [b.constant(0)], b.cast(b.reduce(big, lane), BY_NAME["i64"]))
        prefix = b.scan(big, lane)
        b.store(y, [b.constant(1)], b.cast(b.reduce(prefix, lane, kind="max"), BY_NAME["i64"]))

    out = np.zeros(2, np.int64)
    run(b.program("wide", [y], b.segment([("one", 1, 1)], body)), {"y": out})
    assert out.tolist() == [(64 * 63 // 2) << 25] * 2


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_division_by_a_shared_divisor_rounds_like_division(dtype):
    """The divisor has no lane dim of its own; all magnitudes, both zeros, infinities and subnormals."""
    lane = Dim("n", 256)
    b = Builder(lane)
    x, d, y = view("x", dtype, "M 256"), view("d", dtype, "M"), view("y", dtype, "M 256", "out")

    def body(row):
        i = b.lane(lane)
        b.store(y, [row, i], b.op("div", b.load(x, row, i), b.load(d, row)))

    values, divisors = floats(dtype, 256), floats(dtype, 300)
    table, out = np.tile(values, (300, 1)), np.zeros((300, 256), values.dtype)
    program = b.program("shares", [x, d, y], b.segment([("m", symbol("M"), 1)], body))
    run(program, {"x": table, "d": divisors, "y": out})
    same(out, computed(np.divide, dtype, table, divisors[:, None]))
