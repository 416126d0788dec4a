"""Numeric conversions of fragments, each rounding once (language, Numbers).

The narrow float formats are reached by scaling: the value is divided by its unit in the last place, rounded
to an integer and multiplied back, all exact in f64; the result is representable, so the last cast is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.types import DType

Array = NDArray[Any]


def as_compute(x: Array, dtype: DType) -> Array:
    """Narrow floats as f32; everything else unchanged."""
    return x.astype(np.float32) if dtype.is_float and dtype.bits < 32 else x


def to_dtype(x: Array, source: DType, target: DType) -> Array:
    """``x`` of ``source`` as ``target``."""
    if source.numpy == target.numpy:
        return x
    x = as_compute(x, source)
    if target.kind == "bool":
        return np.asarray(x != 0)
    if target.is_float:
        return from_double(x, target) if x.dtype.kind == "f" else _from_integer(x, target)
    if x.dtype.kind == "f":
        return np.trunc(x).astype(target.numpy if target.name == "u64" else np.int64).astype(target.numpy)
    return x.astype(target.numpy)


def from_double(x: Array, target: DType) -> Array:
    """An f32 or f64 array rounded to nearest even in ``target``."""
    if target.bits >= 32 or target.name == "f16" or x.dtype == np.float32:
        return x.astype(target.numpy, copy=False)
    _, exponent = np.frexp(x)
    lowest = 2 - (1 << (target.exponent_bits - 1))
    unit = np.maximum(exponent - 1, lowest) - target.mantissa_bits
    with np.errstate(all="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)
        return np.asarray(np.where(np.isfinite(x), rounded, x)).astype(np.float32).astype(target.numpy)


def _from_integer(x: Array, target: DType) -> Array:
    if x.dtype.itemsize < 8 or target.name in ("f32", "f64"):
        return x.astype(target.numpy) if target.bits >= 32 else from_double(x.astype(np.float64), target)
    # Keep 53 significant bits and fold what lies below into the last one: f64 then loses no tie.
    kept = (x >> 11) | (x & 0x7FF != 0)
    folded = kept.astype(np.float64) * 2048.0
    small = np.abs(x.astype(np.float64)) < 2.0**53
    return from_double(np.where(small, x.astype(np.float64), folded), target)
