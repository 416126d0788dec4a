"""Cases of integer arithmetic: exact, over all sign pairs and at the ends of the ranges."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import among, integers, nonzero
from intent_testkit.kernels import integers as k

LINE = sizes("N", 0, 1, 31, 64, 65, 1031)
I32, I64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)

# Floor semantics differ from truncation exactly where the signs differ and the division is not exact.
NUMERATORS = (7, 7, -7, -7, 6, -6, 0, 1, -1)
DENOMINATORS = (3, -3, 3, -3, -3, 3, 5, -2, 2)


def _division(v: Values) -> dict[str, object]:
    return {"quotient": v.a // v.b, "remainder": v.a % v.b}


def _wrapping(v: Values) -> dict[str, object]:
    with np.errstate(over="ignore"):
        return {
            "total": v.a + v.b,
            "difference": v.a - v.b,
            "product": v.a * v.b,
            "negated": -v.a,
            "least": np.minimum(v.a, v.b),
        }


def _pair(name: str, kernel: object, dtype: str, numerators: object, denominators: object) -> Case:
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("a", dtype, "N", numerators),  # type: ignore[arg-type]
            view("b", dtype, "N", denominators),  # type: ignore[arg-type]
            out("quotient", dtype, "N"),
            out("remainder", dtype, "N"),
        ),
        oracle=_division,
        extents=LINE,
        segments=(segment("N"),),
    )


def _narrow(name: str, kernel: object, dtype: str, low: int, high: int) -> Case:
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("a", dtype, "N", integers(low, high)),
            view("b", dtype, "N", integers(low, high)),
            out("total", dtype, "N"),
            out("product", dtype, "N"),
        ),
        oracle=lambda v: {"total": v.a + v.b, "product": v.a * v.b},
        extents=LINE,
        segments=(segment("N"),),
    )


def _shifts(name: str, kernel: object, dtype: str, low: int, high: int) -> Case:
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("a", dtype, "N", integers(low, high)),
            view("s", dtype, "N", among((0, 31, 1), integers(0, 31))),
            out("left", dtype, "N"),
            out("right", dtype, "N"),
        ),
        oracle=lambda v: {"left": np.left_shift(v.a, v.s), "right": np.right_shift(v.a, v.s)},
        extents=LINE,
        segments=(segment("N"),),
    )


CASES = (
    _pair(
        "divide_i32",
        k.divide_i32,
        "i32",
        among(NUMERATORS, integers(-1000, 1000)),
        among(DENOMINATORS, nonzero(-9, 9)),
    ),
    _pair(
        "divide_i64",
        k.divide_i64,
        "i64",
        among(NUMERATORS, integers(-(2**60), 2**60)),
        among(DENOMINATORS, nonzero(-(2**40), 2**40)),
    ),
    _pair("divide_u8", k.divide_u8, "u8", integers(0, 255), integers(1, 255)),
    Case(
        name="divide_by_literal",
        kernel=k.divide_by_literal,
        parameters=(
            view("a", "i32", "N", among((7, -7, 0, -1, 1, 13, -13, *I32), integers(*I32))),
            out("quotient", "i32", "N"),
            out("remainder", "i32", "N"),
        ),
        oracle=lambda v: {"quotient": v.a // -7, "remainder": v.a % -7},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="wrap_i32",
        kernel=k.wrap_i32,
        parameters=(
            view("a", "i32", "N", among(I32, integers(*I32))),
            view("b", "i32", "N", among(I32[::-1], integers(*I32))),
            *(out(name, "i32", "N") for name in ("total", "difference", "product", "negated", "least")),
        ),
        oracle=_wrapping,
        extents=LINE,
        segments=(segment("N"),),
    ),
    _narrow("wrap_u8", k.wrap_u8, "u8", 0, 255),
    _narrow("wrap_i8", k.wrap_i8, "i8", -128, 127),
    _shifts("shifts_i32", k.shifts_i32, "i32", *I32),
    _shifts("shifts_u32", k.shifts_u32, "u32", 0, 2**32 - 1),
    Case(
        name="bits_i64",
        kernel=k.bits_i64,
        parameters=(
            view("a", "i64", "N", among(I64, integers(*I64))),
            view("b", "i64", "N", integers(*I64)),
            *(out(name, "i64", "N") for name in ("both", "either", "one", "inverted")),
        ),
        oracle=lambda v: {"both": v.a & v.b, "either": v.a | v.b, "one": v.a ^ v.b, "inverted": ~v.a},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="unpack_nibbles",
        kernel=k.unpack_nibbles,
        parameters=(
            view("packed", "u8", "N", integers(0, 255)),
            out("low", "u8", "N"),
            out("high", "u8", "N"),
        ),
        oracle=lambda v: {"low": v.packed & 15, "high": v.packed >> 4},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="integer_scalars",
        kernel=k.integer_scalars,
        parameters=(
            scalar("n", "i64", -(2**40) - 3),
            scalar("k", "i32", 17),
            view("x", "i32", "N", integers(-1000, 1000)),
            out("y", "i64", "N"),
        ),
        oracle=lambda v: {"y": v.x.astype(np.int64) * 17 + v.n},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="integer_scalars_one",
        kernel=k.integer_scalars,
        parameters=(
            scalar("n", "i64", 1),
            scalar("k", "i32", 1),
            view("x", "i32", "N", integers(*I32)),
            out("y", "i64", "N"),
        ),
        oracle=lambda v: {"y": v.x.astype(np.int64) + 1},
        extents=LINE,
        segments=(segment("N"),),
    ),
)
