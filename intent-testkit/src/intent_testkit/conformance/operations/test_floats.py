"""Pointwise functions of floats that are rounded once: numpy's results, bit by bit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

from intent.physical import Dim, Fragment
from intent.types.dtypes import BY_NAME
from intent.types.extent import symbol
from intent_testkit.conformance.operations.pointwise import result_of
from intent_testkit.programs import Builder, run, view
from intent_testkit.programs.values import FLOATS, computed, floats, generator, pairs, same

BINARY: Final[dict[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "maximum_num": np.fmax, "minimum_num": np.fmin, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
UNARY: Final[dict[str, Any]] = {
    "neg": np.negative, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    "sqrt": np.sqrt, "isnan": np.isnan, "isinf": np.isinf,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [*FLOATS, "f8e5m2"])
@pytest.mark.parametrize("fn", BINARY)
def test_float_binary(intent_provider: str, fn: str, dtype: str) -> None:
    """NaN, infinities and both zeros included; of two zeros an extreme may give either."""
    a, b = pairs(floats(dtype), floats(dtype))
    got, wanted = result_of(intent_provider, fn, dtype, a, b), computed(BINARY[fn], dtype, a, b)
    if fn in ("maximum", "minimum", "maximum_num", "minimum_num"):
        zeros = (got.astype(np.float64) == 0) & (wanted.astype(np.float64) == 0)
        got, wanted = got[~zeros], wanted[~zeros]
    same(got, wanted, fn)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", ["add", "mul", "div", "maximum", "minimum_num", "lt"])
@pytest.mark.parametrize("number", [0.1, -math.inf, 0.0])
def test_a_float_literal_is_rounded_to_the_dtype(
    intent_provider: str, fn: str, dtype: str, number: float
) -> None:
    """It neither widens the operation nor keeps digits that the dtype lacks."""
    a = floats(dtype)
    constant = np.full(len(a), number).astype(BY_NAME[dtype].numpy)
    got = result_of(intent_provider, fn, dtype, a, a, constants={1: float(constant[0])})
    same(np.abs(got), np.abs(computed(BINARY[fn], dtype, a, constant)))


@pytest.mark.parametrize("dtype", [*FLOATS, "f8e5m2"])
@pytest.mark.parametrize("fn", UNARY)
def test_float_unary(intent_provider: str, fn: str, dtype: str) -> None:
    """Halves round to even; signs of zeros are kept."""
    a = np.concatenate([floats(dtype), (np.arange(-40, 40) / 4).astype(BY_NAME[dtype].numpy)])
    same(result_of(intent_provider, fn, dtype, a), computed(UNARY[fn], dtype, a), fn)


def test_negative_zero_is_a_constant(intent_provider: str) -> None:
    """Its sign survives the text."""
    a = floats("f32")
    got = result_of(intent_provider, "select", "f32", np.zeros(len(a), np.bool_), a, a, constants={2: -0.0})
    assert np.signbit(got).all()
    assert (got == 0).all()


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_fma_rounds_once(intent_provider: str, dtype: str) -> None:
    """Exact fractions, rounded."""
    kind = BY_NAME[dtype].numpy
    steps = generator("fma", dtype).integers(0, 1 << 20, 500)
    a = (1 + steps * 2.0 ** (-22 if dtype == "f32" else -50)).astype(kind)
    c = -(a.astype(np.longdouble) * a.astype(np.longdouble)).astype(kind)
    exact = [Fraction(x) * Fraction(x) + Fraction(z) for x, z in zip(a.tolist(), c.tolist(), strict=True)]
    got = result_of(intent_provider, "fma", dtype, a, a, c)
    same(got, np.array([float(value) for value in exact]).astype(kind))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_division_by_a_shared_divisor_rounds_like_division(intent_provider: str, dtype: str) -> None:
    """The divisor has no lane dim of its own; all magnitudes, both zeros, infinities and subnormals."""
    lane = Dim("n", 256)
    b = Builder(lane)
    x, d, y = view("x", dtype, "M 256"), view("d", dtype, "M"), view("y", dtype, "M 256", "out")

    def body(row: Fragment) -> None:
        i = b.lane(lane)
        b.store(y, [row, i], b.op("div", b.load(x, row, i), b.load(d, row)))

    values, divisors = floats(dtype, 256), floats(dtype, 300)
    table, out = np.tile(values, (300, 1)), np.zeros((300, 256), values.dtype)
    program = b.program("shares", [x, d, y], b.segment([("m", symbol("M"), 1)], body))
    run(intent_provider, program, {"x": table, "d": divisors, "y": out})
    same(out, computed(np.divide, dtype, table, divisors[:, None]))


@pytest.mark.parametrize("dtype", [*FLOATS, "f8e4m3fn", "f8e5m2"])
def test_every_constant_can_be_chosen(intent_provider: str, dtype: str) -> None:
    """Infinities, NaN and the ends of the range are what they are, whatever conversions do to them."""
    numpy = BY_NAME[dtype].numpy
    ends: Any = ml_dtypes.finfo(numpy)  # type: ignore[no-untyped-call]
    numbers = [
        math.nan,
        -0.0,
        1.0,
        *(float(x) for x in (ends.max, ends.min, ends.tiny, ends.smallest_subnormal)),
    ]
    numbers += [] if dtype == "f8e4m3fn" else [math.inf, -math.inf]
    condition = np.array([True, False] * 5)
    a = np.full(10, 2.0).astype(numpy)
    for number in numbers:
        got = result_of(intent_provider, "select", dtype, condition, a, a, constants={2: number})
        same(got, np.where(condition, a, np.full(10, number).astype(numpy)), f"{number}")
