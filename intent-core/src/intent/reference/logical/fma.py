"""Fused multiply-add with one rounding, in any float format."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.reference.logical.rounding import narrow, odd, widen
from intent.types import DType

Array = NDArray[Any]
SPLITTER = 134217729.0  # 2**27 + 1


def fma(dtype: DType, a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` rounded once to ``dtype``."""
    if dtype.name == "f64":
        return _fma64(a, b, c)
    # The product of two formats of at most 24 digits is exact in f64.
    x, y, z = (widen(v, dtype).astype(np.float64) for v in (a, b, c))
    total, error = two_sum(x * y, z)
    return narrow(np.asarray(odd(total, np.where(np.isfinite(error), error, 0.0))), dtype)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error."""
    s = np.asarray(a + b)
    t = s - a
    return s, np.asarray((a - (s - t)) + (b - t))


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    p = np.asarray(a * b)
    ah, bh = SPLITTER * a, SPLITTER * b
    ah, bh = ah - (ah - a), bh - (bh - b)
    al, bl = a - ah, b - bh
    return p, np.asarray(al * bl - (((p - ah * bh) - al * bh) - ah * bl))


def _fma64(a: Array, b: Array, c: Array) -> Array:
    a, b, c = (np.array(v, np.float64) for v in np.broadcast_arrays(a, b, c))
    high, low = _two_product(a, b)
    mid, rest = two_sum(c, low)
    top, tail = two_sum(high, mid)
    small, error = two_sum(tail, rest)
    out = np.array(top + odd(small, error))
    # Splitting overflows for huge factors and loses bits for tiny products: those few are done in rationals.
    product = np.abs(a * b)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    safe = (np.maximum(np.abs(a), np.abs(b)) < 2.0**990) & (product < 2.0**1000) & (product > 2.0**-900)
    safe &= np.abs(c) < 2.0**1000
    plain = ~finite | (a == 0) | (b == 0)
    out = np.where(plain, a * b + c, out)
    # An infinite addend decides, even where the product of finite factors alone would overflow.
    out = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, out)
    for i in zip(*np.nonzero(finite & ~safe & ~plain), strict=True):
        out[i] = _exact(float(a[i]), float(b[i]), float(c[i]))
    return np.asarray(out)


def _exact(a: float, b: float, c: float) -> float:
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if value == 0:
        return a * b + c
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
