"""Pointwise functions of integers and bools: Python's integers, reduced to the dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from intent.types.dtypes import BY_NAME
from intent.types.extent import Extent, const, symbol
from intent_testkit.cases.draw import Array
from intent_testkit.conformance.operations.pointwise import result_of
from intent_testkit.programs import run
from intent_testkit.programs.single import index_pointwise, twice_divided, two_widths
from intent_testkit.programs.values import FLOATS, INTEGERS, SIGNED, generator, integers, pairs, same, wrapped

BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "maximum": max, "minimum": min,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def _each(fn: str, a: Array, b: Array, dtype: str) -> Array:
    return wrapped([BINARY[fn](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", BINARY)
def test_integer_binary(intent_provider: str, fn: str, dtype: str) -> None:
    """Wrap-around, floor division and modulus included; what may not be divided is left out."""
    a, b = pairs(integers(dtype), integers(dtype))
    if fn in ("floordiv", "mod"):
        b = np.where(b == 0, np.array(3, b.dtype), b)
        overflow = (a == BY_NAME[dtype].minimum) & (b == np.array(-1).astype(b.dtype)) & (dtype in SIGNED)
        a = np.where(overflow, np.array(5, a.dtype), a)
    same(result_of(intent_provider, fn, dtype, a, b), _each(fn, a, b, dtype), fn)


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("fn", ["floordiv", "mod"])
@pytest.mark.parametrize("divisor", [1, 2, 8, 7, -3, -4])
def test_floor_division_by_a_literal(intent_provider: str, fn: str, dtype: str, divisor: int) -> None:
    """Literals may take a shorter way, with the same result."""
    a = integers(dtype)
    if divisor < 0:
        a = np.where(a == BY_NAME[dtype].minimum, np.array(1, a.dtype), a)
    got = result_of(intent_provider, fn, dtype, a, a, constants={1: divisor})
    same(got, _each(fn, a, np.full_like(a, divisor), dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", ["add", "sub", "mul", "maximum", "minimum", "lt", "and", "or", "xor"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_literal_takes_the_dtype_of_the_other_operand(
    intent_provider: str, fn: str, dtype: str, place: int
) -> None:
    """It neither widens the operation nor is narrowed."""
    a = integers(dtype)
    number = BY_NAME[dtype].maximum - 3
    literal = np.full_like(a, number)
    got = result_of(intent_provider, fn, dtype, a, a, constants={place: number})
    same(got, _each(fn, literal, a, dtype) if place == 0 else _each(fn, a, literal, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(intent_provider: str, dtype: str) -> None:
    """Left, and right with the sign kept."""
    a = integers(dtype)
    amount = generator("shifts", dtype).integers(0, BY_NAME[dtype].bits, len(a)).astype(a.dtype)
    both = list(zip(a.tolist(), amount.tolist(), strict=True))
    same(result_of(intent_provider, "shl", dtype, a, amount), wrapped([x << s for x, s in both], dtype))
    same(result_of(intent_provider, "shr", dtype, a, amount), wrapped([x >> s for x, s in both], dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_unary(intent_provider: str, dtype: str) -> None:
    """The negative of the least number is itself."""
    a = integers(dtype)
    same(result_of(intent_provider, "neg", dtype, a), wrapped([-x for x in a.tolist()], dtype))
    same(result_of(intent_provider, "invert", dtype, a), wrapped([~x for x in a.tolist()], dtype))
    same(result_of(intent_provider, "abs", dtype, a), wrapped([abs(x) for x in a.tolist()], dtype))


@pytest.mark.parametrize(
    "fn", ["add", "sub", "mul", "floordiv", "mod", "maximum", "minimum", "lt", "eq", "ge"]
)
@pytest.mark.parametrize("literal", [None, 7, -5, 1 << 40])
def test_index_values_are_64_bit(intent_provider: str, fn: str, literal: int | None) -> None:
    """Index values read from memory keep all their bits, beside literals too."""
    a, b = pairs(integers("i64"), integers("i64"))
    b = np.where(b == 0, 3, b)
    a = np.where((a == -(1 << 63)) & (b == -1), 5, a)
    if literal is not None:
        b = np.full_like(b, literal)
    wanted = _each(fn, a, b, "i64")
    out = np.zeros(len(a), wanted.dtype)
    program = index_pointwise(fn, {} if literal is None else {1: literal})
    run(intent_provider, program, {"x0": a, "x1": b, "y": out})
    same(out, wanted)


@pytest.mark.parametrize("second", ["lane", "place", "memory"])
@pytest.mark.parametrize("first", ["lane", "place", "memory"])
@pytest.mark.parametrize("fn", ["and", "or", "xor", "add", "maximum", "lt"])
def test_index_values_of_two_widths(intent_provider: str, fn: str, first: str, second: str) -> None:
    """A provider may hold small index values in 32 bits; beside large ones they are all 64."""
    count = 300
    x = np.arange(count) * 5 + (1 << 33)
    out = np.zeros(count, np.int64)
    run(intent_provider, two_widths(fn, first, second), {"x": x, "y": out})
    values = {"lane": np.arange(count) % 256, "place": np.arange(count), "memory": x}
    both = zip(values[first].tolist(), values[second].tolist(), strict=True)
    same(out, np.array([int(BINARY[fn](a, b)) for a, b in both]))


DIVISORS: Final[dict[str, tuple[Extent, Callable[[int], int]]]] = {
    "-N": (-symbol("N"), lambda n: -n),
    "3 - N": (const(3) - symbol("N"), lambda n: 3 - n),
    "N - 3": (symbol("N") - 3, lambda n: n - 3),
}


@pytest.mark.parametrize("outer", ["mod", "floordiv"])
@pytest.mark.parametrize("fn", ["mod", "floordiv"])
@pytest.mark.parametrize("divisor", list(DIVISORS))
def test_what_follows_a_division_by_a_run_time_sign_floors_too(
    intent_provider: str, divisor: str, fn: str, outer: str
) -> None:
    """The result of the first division may have either sign."""
    extent, at = DIVISORS[divisor]
    program = twice_divided(extent, fn, outer)
    for count in (1, 2, 5, 8):
        out = np.zeros(count, np.int64)
        run(intent_provider, program, {"y": out})
        wanted = [BINARY[outer](BINARY[fn](i + 1, at(count)), count) for i in range(count)]
        same(out, np.array(wanted), f"N={count}")


@pytest.mark.parametrize("fn", ["and", "or", "xor", "eq", "ne"])
def test_bool_binary(intent_provider: str, fn: str) -> None:
    """The whole truth table, and with a literal beside."""
    a, b = np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)
    wanted = {"and": a & b, "or": a | b, "xor": a ^ b, "eq": a == b, "ne": a != b}[fn]
    same(result_of(intent_provider, fn, "bool", a, b), wanted)
    beside = {"and": a, "or": np.ones_like(a), "xor": ~a, "eq": a, "ne": ~a}[fn]
    same(result_of(intent_provider, fn, "bool", a, b, constants={1: True}), beside)


def test_bool_unary(intent_provider: str) -> None:
    """Both spellings of negation."""
    a = np.array([False, True])
    same(result_of(intent_provider, "not", "bool", a), ~a)
    same(result_of(intent_provider, "invert", "bool", a), ~a)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool", "f8e4m3fn", "f8e5m2"])
def test_select(intent_provider: str, dtype: str) -> None:
    """Every dtype can be chosen."""
    rng = generator("select", dtype)
    condition = rng.integers(0, 2, 200).astype(np.bool_)
    a = rng.integers(0, 2, 200).astype(BY_NAME[dtype].numpy)
    b = (rng.integers(0, 2, 200) * 2).astype(BY_NAME[dtype].numpy)
    same(result_of(intent_provider, "select", dtype, condition, a, b), np.where(condition, a, b))
