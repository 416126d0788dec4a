"""Cases of casts: every pair in range, one rounding each, ties to even, infinities on overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import Sampler, among, integers, normal, truth, uniform
from intent_testkit.kernels import casts as k

LINE = sizes("N", 0, 1, 33, 513)
NAN, INF = float("nan"), float("inf")


def convert(values: Any, dtype: str) -> Any:
    """The language's cast, computed exactly: truncation to integers, low bits, one rounding to floats."""
    target = BY_NAME[dtype]
    if dtype == "bool":
        return np.asarray(values) != 0
    if target.is_float:
        return _to_float(values, dtype)
    if np.issubdtype(values.dtype, np.floating):
        values = np.trunc(values)
        exact = np.array([int(x) for x in values.ravel()], dtype=object)
    else:
        exact = np.array([int(x) for x in values.ravel()], dtype=object)
    wrapped = [(x & ((1 << target.bits) - 1)) for x in exact]
    return np.array(wrapped, np.uint64).astype(target.numpy).reshape(values.shape)


def _to_float(values: Any, dtype: str) -> Any:
    """The value rounded once to nearest even. Integers and f64 are not passed through another format."""
    target = BY_NAME[dtype]
    if target.bits == 64 or dtype == "f32":
        return values.astype(target.numpy).astype(np.float64)
    bits, least = {"f16": (10, -14), "bf16": (7, -126)}[dtype]
    rounded = [_round(x, bits, least) for x in np.asarray(values).ravel().tolist()]
    with np.errstate(over="ignore"):
        return np.array(rounded, np.float64).reshape(np.shape(values)).astype(target.numpy).astype(np.float64)


def _round(value: Any, bits: int, least: int) -> float:
    """``value`` (an int of any size or a float) rounded to ``bits`` of mantissa, ties to even."""
    if isinstance(value, float) and not np.isfinite(value):
        return value
    if value == 0:
        return float(value)
    numerator, denominator = (int(value), 1) if isinstance(value, int) else float(value).as_integer_ratio()
    magnitude = abs(numerator)
    exponent = magnitude.bit_length() - denominator.bit_length()
    if magnitude << max(0, -exponent) < denominator << max(0, exponent):
        exponent -= 1
    quantum = max(exponent, least) - bits
    top = magnitude << max(0, -quantum)
    bottom = denominator << max(0, quantum)
    whole, rest = divmod(top, bottom)
    if 2 * rest > bottom or (2 * rest == bottom and whole & 1):
        whole += 1
    return float(np.ldexp(float(whole), quantum)) * (1.0 if numerator > 0 else -1.0)


def _to_each(source: str, destinations: tuple[str, ...]) -> Callable[[Values], dict[str, Any]]:
    def oracle(v: Values) -> dict[str, Any]:
        values = v.raw(source)
        if not _holds_floats(values):
            return {("b" if d == "bool" else d): convert(values, d) for d in destinations}
        return {("b" if d == "bool" else d): convert(values.astype(np.float64), d) for d in destinations}

    return oracle


def _holds_floats(values: Any) -> bool:
    """Whether the array holds floats, the ml_dtypes ones included."""
    return not (np.issubdtype(values.dtype, np.integer) or values.dtype == np.bool_)


def _case(name: str, kernel: Any, source: str, draw: Sampler, *destinations: str) -> Case:
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("x", source, "N", draw),
            *(out("b" if d == "bool" else d, d, "N") for d in destinations),
        ),
        oracle=_to_each("x", destinations),
        extents=LINE,
        segments=(segment("N"),),
    )


def _narrow(v: Values) -> dict[str, Any]:
    pairs = (
        "a_u8",
        "a_i64",
        "a_f16",
        "b_i8",
        "b_i32",
        "b_f32",
        "c_u16",
        "c_i32",
        "c_bf16",
        "d_i16",
        "d_u32",
        "e_i32",
        "e_u64",
        "e_f32",
    )
    return {pair: convert(v.raw(pair[0]), pair[2:]) for pair in pairs}


SMALL = among((0.0, -0.0, 0.5, -0.5, 0.999, -0.999, 1.0, -1.5, 119.9, -119.9), uniform(-120, 120))
I64_HARD = (2**53 + 1, 2**24 + 1, -(2**24) - 1, 2**63 - 1, -(2**63), 65519, 65520, 257, 259, 0x0101_8001)

CASES = (
    _case("cast_f32", k.cast_f32, "f32", SMALL, "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "bool"),
    _case("cast_f32_unsigned", k.cast_f32_unsigned, "f32", uniform(0, 255.9), "u8", "u16", "u32", "u64"),
    _case("cast_f64", k.cast_f64, "f64", SMALL, "f16", "bf16", "f32", "i8", "i32", "i64", "bool"),
    _case("cast_f16", k.cast_f16, "f16", SMALL, "bf16", "f32", "f64", "i8", "i32", "bool"),
    _case("cast_bf16", k.cast_bf16, "bf16", SMALL, "f16", "f32", "f64", "i16", "i64", "bool"),
    _case(
        "cast_i64",
        k.cast_i64,
        "i64",
        among(I64_HARD, integers(-(2**63), 2**63 - 1)),
        "i8",
        "i16",
        "i32",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "bool",
    ),
    _case(
        "cast_i32",
        k.cast_i32,
        "i32",
        among((2**24 + 1, 257, 259, -257, 65519), integers(-(2**31), 2**31 - 1)),
        "i8",
        "i64",
        "u16",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "bool",
    ),
    _case(
        "cast_u64",
        k.cast_u64,
        "u64",
        integers(0, 2**64 - 1),
        "i8",
        "u32",
        "i64",
        "f32",
        "f64",
        "bool",
    ),
    Case(
        name="cast_narrow_integers",
        kernel=k.cast_narrow_integers,
        parameters=(
            view("a", "i8", "N", integers(-128, 127)),
            view("b", "u8", "N", integers(0, 255)),
            view("c", "i16", "N", integers(-(2**15), 2**15 - 1)),
            view("d", "u16", "N", integers(0, 2**16 - 1)),
            view("e", "u32", "N", integers(0, 2**32 - 1)),
            *(
                out(f"{source}_{target}", target, "N")
                for source, targets in (
                    ("a", ("u8", "i64", "f16")),
                    ("b", ("i8", "i32", "f32")),
                    ("c", ("u16", "i32", "bf16")),
                    ("d", ("i16", "u32")),
                    ("e", ("i32", "u64", "f32")),
                )
                for target in targets
            ),
        ),
        oracle=_narrow,
        extents=LINE,
        segments=(segment("N"),),
    ),
    _case("cast_bool", k.cast_bool, "bool", truth(), "i8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"),
    _case(
        "narrow_f32",
        k.narrow_f32,
        "f32",
        # Ties, just above and below ties, subnormals of the target, overflow to infinity, NaN.
        among(
            (
                1.00048828125,
                1.0014648438,
                1.00390625,
                1.01171875,
                65519.0,
                65520.0,
                3.4e38,
                -3.4e38,
                6e-8,
                2.98e-8,
                1e-40,
                NAN,
                INF,
            ),
            normal(1e3),
        ),
        "f16",
        "bf16",
    ),
    Case(
        name="bitcasts",
        kernel=k.bitcasts,
        parameters=(
            view("x", "f32", "N", among((0.0, -0.0, INF, 1e-40), normal())),
            view("h", "f16", "N", among((0.0, -0.0, -INF, 6e-8), normal())),
            out("bits", "u32", "N"),
            out("half", "i16", "N"),
        ),
        oracle=lambda v: {
            "bits": v.raw("x").copy().view(np.uint32),
            "half": v.raw("h").copy().view(np.int16),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="signed_zeros",
        kernel=k.signed_zeros,
        parameters=(
            view("x", "f32", "N", among((0.0, -0.0, 1e-40, -1e-40, 1.0, -INF), normal())),
            out("negated", "u32", "N"),
            out("scaled", "u32", "N"),
        ),
        oracle=lambda v: {
            "negated": (-v.raw("x")).view(np.uint32),
            "scaled": (v.raw("x") * np.float32(0.5)).view(np.uint32),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
)
