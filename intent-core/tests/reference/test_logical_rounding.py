"""Conversions against exact rational rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intent.reference.logical.rounding import convert
from intent.types.dtypes import BF16, BOOL, F8E4M3FN, F8E5M2, F16, F32, F64, I8, I32, I64, U8, U32, U64

NARROW = (F8E4M3FN, F8E5M2, F16, BF16, F32)
RANGE = {F8E4M3FN: 448.0, F8E5M2: 57344.0, F16: 65504.0, BF16: 2.0**100, F32: 2.0**100}


def nearest(value, dtype):
    """The nearest number of ``dtype`` to an exact value, ties to even."""
    value = Fraction(value)
    if value == 0:
        return 0.0
    exponent = math.frexp(float(value))[1] - 1
    if Fraction(2) ** exponent > abs(value):
        exponent -= 1
    exponent = max(exponent, 2 - 2 ** (dtype.exponent_bits - 1))
    unit = Fraction(2) ** (exponent - dtype.mantissa_bits)
    return float(round(value / unit) * unit)


def near_ties(dtype, rng, count=4000):
    """Doubles at, just below and just above the midpoints of ``dtype``, where rounding twice goes wrong."""
    base = rng.normal(size=count) * 2.0 ** rng.integers(-12, 8, count)
    base = np.clip(base, -RANGE[dtype] / 2, RANGE[dtype] / 2)
    unit = 2.0 ** (np.frexp(base)[1] - 1 - dtype.mantissa_bits)
    middle = (np.floor(base / unit) + 0.5) * unit
    return np.concatenate([middle, np.nextafter(middle, 1e300), np.nextafter(middle, -1e300), base])


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_f64_is_rounded_once(dtype):
    x = near_ties(dtype, np.random.default_rng(0))
    out = convert(x, F64, dtype)
    assert out.dtype == dtype.numpy
    assert out.astype(np.float64).tolist() == [nearest(v, dtype) for v in x]


@pytest.mark.parametrize("dtype", NARROW[:-1], ids=str)
def test_f32_is_rounded_once(dtype):
    x = near_ties(dtype, np.random.default_rng(1)).astype(np.float32)
    assert convert(x, F32, dtype).astype(np.float64).tolist() == [nearest(float(v), dtype) for v in x]


@pytest.mark.parametrize("source", [I32, I64, U32, U64], ids=str)
@pytest.mark.parametrize("dtype", [BF16, F32, F64], ids=str)
def test_integers_are_rounded_once(source, dtype):
    rng = np.random.default_rng(2)
    values = [source.minimum, source.maximum, source.maximum - 1, 0, 1, (1 << 24) + 1, (1 << 31) - 1]
    for bits in range(8, source.bits - 1):
        for offset in (-1, 0, 1):  # around the ties of 8, 24 and 53 digit formats
            tied = [d for d in (8, 24, 53) if bits > d + 1]
            values += [(1 << bits) + (1 << (bits - d)) + offset for d in tied]
    values += [int(v) for v in rng.integers(source.minimum, source.maximum, 500, dtype=source.numpy)]
    x = np.array(values, source.numpy)
    assert convert(x, source, dtype).astype(np.float64).tolist() == [nearest(v, dtype) for v in values]


def test_overflow_becomes_infinite():
    x = np.array([1e300, -1e300, 3.5e38, 65520.0, 65519.0])
    with np.errstate(over="ignore"):
        assert convert(x, F64, F16).tolist() == [np.inf, -np.inf, np.inf, np.inf, 65504]
        assert convert(x[:3], F64, BF16).astype(float).tolist() == [np.inf, -np.inf, np.inf]
        assert convert(x[:3], F64, F8E5M2).astype(float).tolist() == [np.inf, -np.inf, np.inf]
    assert np.isnan(convert(np.array([np.nan]), F64, BF16).astype(float))[0]


def test_float_to_integer_truncates():
    x = np.array([1.9, -1.9, 0.5, -0.5, 100.0], np.float32)
    assert convert(x, F32, I8).tolist() == [1, -1, 0, 0, 100]
    assert convert(np.abs(x), F32, U8).tolist() == [1, 1, 0, 0, 100]
    big = np.array([2.0**63, 2.0**64 - 2048, 3.0])
    assert convert(big, F64, U64).tolist() == [2**63, 2**64 - 2048, 3]


def test_integer_to_integer_keeps_low_bits():
    x = np.array([257, -1, 128, 1 << 20], np.int32)
    assert convert(x, I32, I8).tolist() == [1, -1, -128, 0]
    assert convert(x, I32, U64).tolist() == [257, 2**64 - 1, 128, 1 << 20]


@pytest.mark.parametrize("dtype", [F8E4M3FN, F16, BF16, F32], ids=str)
def test_bool(dtype):
    x = np.array([0, -0.0, 0.5, np.nan], np.float32).astype(dtype.numpy)
    assert convert(x, dtype, BOOL).tolist() == [False, False, True, True]
    back = convert(np.array([True, False]), BOOL, dtype)
    assert back.dtype == dtype.numpy
    assert back.astype(float).tolist() == [1, 0]
