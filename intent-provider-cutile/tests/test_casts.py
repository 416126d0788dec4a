"""Every cast against its definition: integers keep low bits, floats round once, overflow goes to infinity."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from cutile_execution import run
from cutile_pointwise_programs import cast
from test_pointwise import floats, integers, same

from intent.types.dtypes import BY_NAME

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "index"]
FLOATS = ["f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"]


def converted(source: str, target: str, values: np.ndarray) -> np.ndarray:
    program = cast(source, target)
    out = np.zeros(len(values), program.params[-1].dtype.numpy)
    run(program, {"x0": values, "y": out})
    return out


def nearest(value: Fraction, dtype: str) -> float:
    """``value`` rounded to nearest even in ``dtype``, overflow to infinity; exact arithmetic."""
    kind = BY_NAME[dtype]
    if value == 0:
        return 0.0
    size = abs(value)
    bias = (1 << (kind.exponent_bits - 1)) - 1
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    unit = Fraction(2) ** (exponent - kind.mantissa_bits)
    rounded = round(size / unit) * unit
    top = float(ml_dtypes.finfo(kind.numpy).max)
    result = float("inf") if rounded > Fraction(top) else float(rounded)
    return -result if value < 0 else result


@pytest.mark.parametrize("target", [*INTEGERS, "bool"])
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_integer_to_integer(source, target):
    values = (
        np.array([0, 1, 1], np.bool_)
        if source == "bool"
        else integers("i64" if source == "index" else source)
    )
    kind = BY_NAME["i64" if target == "index" else target].numpy
    wanted = values != 0 if target == "bool" else values.astype(kind)
    same(converted(source, target, values), wanted)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_integer_to_float_rounds_once(source, target):
    stored = "i64" if source == "index" else source
    values = np.array([0, 1], np.bool_) if source == "bool" else integers(stored)
    if source != "bool" and BY_NAME[stored].bits > 8:
        shift = np.arange(len(values)) % (BY_NAME[stored].bits - 1)
        values = np.concatenate([values, values >> shift.astype(values.dtype), _halfway(stored)])
    if target == "f8e4m3fn":
        values = values[np.abs(values.astype(np.float64)) <= 448]  # out of range is invalid input
    wanted = np.array([nearest(Fraction(int(v)), target) for v in values])
    got = converted(source, target, values)
    same(got.astype(np.float64), wanted, f"{source} to {target}")


def _halfway(dtype: str) -> np.ndarray:
    """Integers just above and below the midpoints of bf16 and f16 at high exponents."""
    kind = BY_NAME[dtype]
    found = [
        (1 << e) + (1 << (e - m - 1)) + d
        for e in range(17, kind.bits - 1)
        for m in (7, 10)
        for d in (-1, 0, 1)
    ]
    return np.array([v for v in found if v <= kind.maximum], kind.numpy)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_float_rounds_once(source, target):
    kind = BY_NAME[source].numpy
    values = (
        np.arange(256, dtype=np.uint8).view(kind) if BY_NAME[source].bits == 8 else _spread(source, target)
    )
    wide = values.astype(np.float64)
    if target == "f8e4m3fn":
        values = values[(np.abs(wide) <= 448) | np.isnan(wide)]
        wide = values.astype(np.float64)
    finite = np.isfinite(wide)
    wanted = wide.copy()
    wanted[finite] = [nearest(Fraction(v), target) for v in wide[finite]]
    wanted[finite] = np.copysign(wanted[finite], wide[finite])
    same(converted(source, target, values).astype(np.float64), wanted, f"{source} to {target}")


def _spread(source: str, target: str) -> np.ndarray:
    """Values around every rounding boundary of the target that the source can tell apart."""
    bits = np.dtype(f"u{BY_NAME[target].bytes}")
    count = min(1 << BY_NAME[target].bits, 1 << 16)
    step = max(1, count // 700)
    with np.errstate(all="ignore"):
        exact = (
            np.arange(0, count, step, dtype=np.uint64)
            .astype(bits)
            .view(BY_NAME[target].numpy)
            .astype(np.float64)
        )
    exact = exact[np.isfinite(exact)]
    middle = (exact[1:] + exact[:-1]) / 2
    near = np.concatenate(
        [exact, middle, middle * (1 + 2.0**-30), middle * (1 - 2.0**-30), middle * (1 + 2.0**-10)]
    )
    with np.errstate(all="ignore"):
        return np.concatenate(
            [floats(source), near.astype(BY_NAME[source].numpy), -near.astype(BY_NAME[source].numpy)]
        )


@pytest.mark.parametrize("target", [*INTEGERS, "bool"])
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer_truncates(source, target):
    kind = BY_NAME["i64" if target == "index" else target]
    values = (
        np.arange(256, dtype=np.uint8).view(BY_NAME[source].numpy)
        if BY_NAME[source].bits == 8
        else floats(source)
    )
    wide = values.astype(np.float64)
    if target == "bool":
        same(converted(source, target, values), wide != 0)
        return
    inside = np.isfinite(wide) & (np.trunc(np.where(np.isfinite(wide), wide, 0)) >= kind.minimum)
    inside &= wide < float(kind.maximum)
    values, wide = values[inside], wide[inside]
    same(converted(source, target, values), np.trunc(wide).astype(kind.numpy))
