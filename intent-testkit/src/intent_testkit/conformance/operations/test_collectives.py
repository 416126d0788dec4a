"""Reductions and scans against numpy; NaN, ties and wrap-around included."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from intent.physical import Dim, Fragment
from intent.types.dtypes import BY_NAME, F32
from intent.types.extent import symbol
from intent_testkit.cases.draw import Array
from intent_testkit.programs import Builder, run, view
from intent_testkit.programs.single import reduction, scan
from intent_testkit.programs.values import FLOATS, INTEGERS, block, generator, rounding, same

FOLDS: Final[dict[str, Any]] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def reduced(provider: str, kind: str, dtype: str, x: Array) -> Array:
    """The rows of ``x`` reduced on the provider."""
    program = reduction(kind, dtype, *x.shape)
    _, written = program.views
    y: Array = np.zeros(x.shape[0], written.dtype.numpy)
    run(provider, program, {"x": x, "y": y})
    return y


def _error(kind: str, dtype: str, count: int, wide: Array, wanted: Array) -> Any:
    """How far ``count`` values may end from the exact result: one rounding in the dtype each time two combine."""
    if kind in ("max", "min"):
        return 0.0
    return (count - 1) * rounding(dtype) * (np.abs(wide).sum(1) if kind == "sum" else np.abs(wanted))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("kind", FOLDS)
def test_integer_reductions_wrap_in_their_dtype(intent_provider: str, kind: str, dtype: str) -> None:
    """As numpy does in that dtype."""
    x = block(dtype)
    same(reduced(intent_provider, kind, dtype, x), FOLDS[kind].reduce(x, axis=1, dtype=x.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", FOLDS)
def test_float_reductions(intent_provider: str, kind: str, dtype: str) -> None:
    """In any order, with one rounding a combination."""
    x = block(dtype)
    if kind == "prod":
        x = generator("prod", dtype).uniform(0.9, 1.1, (4, 32)).astype(x.dtype)
    wide = x.astype(np.float64)
    wanted = FOLDS[kind].reduce(wide, axis=1)
    off = np.abs(reduced(intent_provider, kind, dtype, x).astype(np.float64) - wanted)
    assert (off <= _error(kind, dtype, x.shape[1], wide, wanted)).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_wins_a_maximum_wherever_it_stands(intent_provider: str, kind: str, dtype: str) -> None:
    """One NaN per row, at each position once."""
    x = np.tile(block(dtype, 1), (32, 1))
    np.fill_diagonal(x, np.nan)
    assert np.isnan(reduced(intent_provider, kind, dtype, x).astype(np.float64)).all()


@pytest.mark.parametrize("dtype", [*FLOATS, "f8e5m2"])
@pytest.mark.parametrize("kind", FOLDS)
def test_infinities_are_results_like_others(intent_provider: str, kind: str, dtype: str) -> None:
    """Of reductions and prefixes: what narrows them again does not stop at the largest number."""
    others = 0.0 if kind == "sum" else 1.0
    places = np.array([[5], [31], [0], [7]])
    x: Array = np.where(np.arange(32) == places, np.inf, others).astype(BY_NAME[dtype].numpy)
    x[2], x[3] = -np.inf, -x[3]
    with np.errstate(invalid="ignore"):
        wanted = FOLDS[kind].reduce(x.astype(np.float64), axis=1).astype(x.dtype)
        prefixes = FOLDS[kind].accumulate(x.astype(np.float64), axis=1).astype(x.dtype)
    same(reduced(intent_provider, kind, dtype, x), wanted)
    y = np.zeros_like(x)
    run(intent_provider, scan(kind, dtype, reverse=False), {"x": x, "y": y})
    same(y, prefixes)


@pytest.mark.parametrize("kind", ["any", "all"])
def test_bool_reductions(intent_provider: str, kind: str) -> None:
    """Of none, all, one, and all but one."""
    x = np.stack([np.zeros(32, np.bool_), np.ones(32, np.bool_), np.arange(32) == 5, np.arange(32) != 5])
    same(reduced(intent_provider, kind, "bool", x), np.asarray(x.any(1) if kind == "any" else x.all(1)))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64", "i32", "u8", "i64"])
@pytest.mark.parametrize("kind", ["argmax", "argmin"])
def test_arg_reductions_take_the_lowest_position_and_nan_first(
    intent_provider: str, kind: str, dtype: str
) -> None:
    """Zeros of both signs tie, infinities may fill a row."""
    x = generator(kind, dtype).integers(0, 3, (16, 32)).astype(BY_NAME[dtype].numpy)
    if BY_NAME[dtype].is_float:
        x[0] = -np.inf
        x[1] = np.inf
        x[2, 7] = x[2, 20] = np.nan
        x[3, 0], x[3, 1] = 0.0, -0.0
        x[4, 31] = np.nan
    wide = x.astype(np.float64)
    wanted = wide.argmax(1) if kind == "argmax" else wide.argmin(1)  # numpy: the first NaN wins
    same(reduced(intent_provider, kind, dtype, x), wanted)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "i32", "i8", "u16", "i64", "f64", "bf16"])
@pytest.mark.parametrize("kind", FOLDS)
def test_scans(intent_provider: str, kind: str, dtype: str, reverse: bool) -> None:
    """Prefixes from either end, each within what its reduction may be off."""
    x, is_float = block(dtype), BY_NAME[dtype].is_float
    if not is_float:
        x = generator("scan", dtype).integers(0, 5, (4, 32)).astype(x.dtype)
    y = np.zeros_like(x)
    run(intent_provider, scan(kind, dtype, reverse=reverse), {"x": x, "y": y})
    wide = x.astype(np.float64) if is_float else x
    turned = wide[:, ::-1] if reverse else wide
    wanted = FOLDS[kind].accumulate(turned, axis=1, dtype=turned.dtype)
    if not is_float:
        same(y, wanted[:, ::-1] if reverse else wanted)
        return
    got = (y[:, ::-1] if reverse else y).astype(np.float64)
    for k in range(x.shape[1]):
        bound = _error(kind, dtype, x.shape[1], turned[:, : k + 1], wanted[:, k])
        assert (np.abs(got[:, k] - wanted[:, k]) <= bound).all(), f"prefix {k}"


def test_generic_reduce_with_two_components_and_a_capture(intent_provider: str) -> None:
    """A sum, and a sum of squares that a value read per row limits inside the combine."""
    lane = Dim("n", 32)
    b = Builder(lane)
    x, s, y = view("x", "f32", "M 32"), view("s", "f32", "M"), view("y", "f32", "M 2", "out")

    def body(row: Fragment) -> None:
        value = b.load(x, row, b.lane(lane))
        limit = b.load(s, row)
        args = [b.fragment(F32, (), n) for n in ("total", "squares", "item", "square", "limit")]

        def combine(
            total: Fragment, squares: Fragment, item: Fragment, square: Fragment, held: Fragment
        ) -> tuple[Fragment, Fragment]:
            grown = b.op("add", squares, square)
            return b.op("add", total, item), b.op("minimum", grown, held)

        region = b.region(args, combine)
        total, squares = b.reduce_with([value, b.op("mul", value, value)], [lane], region, [limit])
        b.store(y, [row, b.constant(0)], total)
        b.store(y, [row, b.constant(1)], squares)

    program = b.program("moments", [x, s, y], b.segment([("m", symbol("M"), 1)], body))
    values = generator("moments").standard_normal((5, 32)).astype(np.float32)
    limits = np.array([1, 2, 100, 3, 100], np.float32)
    out = np.zeros((5, 2), np.float32)
    run(intent_provider, program, {"x": values, "s": limits, "y": out})
    np.testing.assert_allclose(out[:, 0], values.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out[:, 1], np.minimum((values**2).sum(1), limits), rtol=1e-4)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_keeps_the_order_of_a_combine_that_does_not_commute(intent_provider: str, reverse: bool) -> None:
    """Affine maps compose without commuting."""
    lane = Dim("n", 32)
    b = Builder(lane)
    p, q = view("p", "f32", "32"), view("q", "f32", "32")
    u, v = view("u", "f32", "32", "out"), view("v", "f32", "32", "out")

    def body(_pid: Fragment) -> None:
        i = b.lane(lane)
        args = [b.fragment(F32, (), n) for n in ("a1", "b1", "a2", "b2")]

        def combine(a1: Fragment, b1: Fragment, a2: Fragment, b2: Fragment) -> tuple[Fragment, Fragment]:
            return b.op("mul", a1, a2), b.op("add", b.op("mul", a2, b1), b2)

        loaded = [b.load(p, i), b.load(q, i)]
        first, second = b.scan_with(loaded, lane, b.region(args, combine), reverse=reverse)
        b.store(u, [i], first)
        b.store(v, [i], second)

    program = b.program("affine", [p, q, u, v], b.segment([("one", 1, 1)], body))
    rng = generator("affine")
    a, c = rng.uniform(0.5, 1.5, 32).astype(np.float32), rng.standard_normal(32).astype(np.float32)
    first, second = np.zeros(32, np.float32), np.zeros(32, np.float32)
    run(intent_provider, program, {"p": a, "q": c, "u": first, "v": second})
    state = (1.0, 0.0)
    for k in range(31, -1, -1) if reverse else range(32):
        state = (state[0] * a[k], a[k] * state[1] + c[k])
        np.testing.assert_allclose([first[k], second[k]], state, rtol=1e-4, atol=1e-4)


def test_reduction_over_two_dims_and_broadcast_back(intent_provider: str) -> None:
    """The total of a block, subtracted from each of its elements."""
    m, n = Dim("m", 8), Dim("n", 16)
    b = Builder(m, n)
    x, y = view("x", "i32", "8 16"), view("y", "i32", "8 16", "out")

    def body(_pid: Fragment) -> None:
        i, j = b.lane(m), b.lane(n)
        value = b.load(x, i, j)
        b.store(y, [i, j], b.op("sub", value, b.reduce(value, m, n)))

    values = generator("centred").integers(-9, 9, (8, 16)).astype(np.int32)
    out = np.zeros((8, 16), np.int32)
    run(
        intent_provider,
        b.program("centred", [x, y], b.segment([("one", 1, 1)], body)),
        {"x": values, "y": out},
    )
    same(out, values - values.sum())


def test_sums_of_coordinates_are_64_bit(intent_provider: str) -> None:
    """The sum of lanes times a factor exceeds 32 bits although every lane is small."""
    lane = Dim("n", 64)
    b = Builder(lane)
    y = view("y", "i64", "2", "out")

    def body(_pid: Fragment) -> None:
        big = b.op("mul", b.lane(lane), b.constant(1 << 25))
        b.store(y, [b.constant(0)], b.cast(b.reduce(big, lane), BY_NAME["i64"]))
        prefix = b.scan(big, lane)
        b.store(y, [b.constant(1)], b.cast(b.reduce(prefix, lane, kind="max"), BY_NAME["i64"]))

    out = np.zeros(2, np.int64)
    run(intent_provider, b.program("wide", [y], b.segment([("one", 1, 1)], body)), {"y": out})
    assert out.tolist() == [(64 * 63 // 2) << 25] * 2
