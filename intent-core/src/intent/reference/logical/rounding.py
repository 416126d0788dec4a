"""Numeric conversions that round once (language, Numbers; decisions 8 and 9).

Narrow formats (f16, bf16, f8) are reached from f64 and from integers through *round to odd*: an inexact
intermediate gets an odd last bit, so that the final rounding to nearest even sees on which side the exact
value lies. It is exact as long as the intermediate has at least two bits more than the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.types import DType

Array = NDArray[Any]


def convert(x: Array, source: DType, target: DType) -> Array:
    """``x`` of type ``source`` as ``target``; every element is rounded at most once."""
    if source.name == target.name:
        return x
    if target.kind == "bool":
        return np.asarray(widen(x, source) != 0)
    if source.kind == "bool":
        return x.astype(target.numpy)
    if source.is_float:
        wide = widen(x, source)
        return narrow(wide, target) if target.is_float else _to_integer(wide, target)
    if not target.is_float:
        return x.astype(target.numpy)
    if target.name in ("f32", "f64"):
        return x.astype(target.numpy)
    return narrow(_odd_from_integer(x), target)


def widen(x: Array, dtype: DType) -> Array:
    """``x`` itself, or as f32 when it is one of the narrow float formats (exact)."""
    return x.astype(np.float32) if dtype.is_float and dtype.bits < 32 else x


def narrow(x: Array, target: DType) -> Array:
    """``x`` (f32 or f64) rounded once to the nearest even ``target``."""
    if target.bits >= 32:
        return x.astype(target.numpy)
    if x.dtype == np.float64 and target.name != "f16":
        x = _odd_f32(x)
    return x.astype(target.numpy)


def odd(rounded: Array, error: Array) -> Array:
    """Round-to-odd f64 of the exact sum ``rounded + error``, where ``rounded`` is its nearest f64."""
    bits = rounded.view(np.int64)
    even = (bits & 1) == 0
    inexact = (error != 0) & np.isfinite(rounded) & np.isfinite(error)
    # Towards the exact value: away from zero when the error has the sign of the value.
    away = (error > 0) == (rounded > 0)
    step = np.where(away, 1, -1)
    return np.where(inexact & even, bits + step, bits).astype(np.int64).view(np.float64)


def _odd_f32(x: Array) -> Array:
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.int32)
    overflow = np.isinf(near) & np.isfinite(x)
    inexact = (back != x) & ~np.isnan(x)
    away = np.abs(back) < np.abs(x)
    moved = bits + np.where(away, 1, -1).astype(np.int32)
    use = inexact & ((bits & 1) == 0)
    # Infinity has an even pattern: an overflowing finite value falls back to the odd largest finite one.
    return np.where(use | overflow, moved, bits).astype(np.int32).view(np.float32)


def _odd_from_integer(x: Array) -> Array:
    near = x.astype(np.float64)
    if x.dtype.itemsize < 8:
        return near
    # Above 2**53 compare in integers. What rounds to 2**64 (u64) or 2**63 is even and one too high.
    top = near >= (2.0**64 if x.dtype.kind == "u" else 2.0**63)
    back = np.where(top, 0.0, near).astype(x.dtype)
    with np.errstate(over="ignore"):
        low = np.where(top | (back > x), -1.0, np.where(back < x, 1.0, 0.0))
    return odd(near, low)


def _to_integer(x: Array, target: DType) -> Array:
    """Truncation. NaN and values out of range are invalid input; whatever numpy gives for them."""
    cut = np.trunc(x)
    if target.name == "u64":
        high = cut >= 2.0**63
        return np.where(high, (cut - 2.0**63).astype(np.int64).astype(np.uint64) + np.uint64(1 << 63),
                        np.where(high, 0, cut).astype(np.int64).astype(np.uint64))  # fmt: skip
    return cut.astype(np.int64).astype(target.numpy)
