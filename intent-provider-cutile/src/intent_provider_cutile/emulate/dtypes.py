"""Element types of the stand-in, and conversions between them as the hardware does them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Kind = Literal["bool", "int", "uint", "float", "small float"]


class TileTypeError(TypeError):
    """The text does what the real front end refuses, or what this provider must not rely on."""


@dataclass(frozen=True)
class DType:
    """One of ``cuda.tile``'s dtypes; a call makes a constant of it."""

    name: str
    kind: Kind
    numpy: np.dtype[Any]

    @property
    def bits(self) -> int:
        return self.numpy.itemsize * 8

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def __call__(self, value: bool | int | float) -> Any:
        from intent_provider_cutile.emulate.tile import Tile

        return Tile(constant(value, self), self)


def _dtype(name: str, kind: Kind, numpy: Any) -> DType:
    return DType(name, kind, np.dtype(numpy))


BOOL: Final = _dtype("bool_", "bool", np.bool_)
INT32: Final = _dtype("int32", "int", np.int32)
INT64: Final = _dtype("int64", "int", np.int64)
FLOAT32: Final = _dtype("float32", "float", np.float32)
FLOAT64: Final = _dtype("float64", "float", np.float64)

ALL: Final[dict[str, DType]] = {
    d.name: d
    for d in (
        BOOL, INT32, INT64, FLOAT32, FLOAT64, _dtype("int8", "int", np.int8), _dtype("int16", "int", np.int16),
        _dtype("uint8", "uint", np.uint8), _dtype("uint16", "uint", np.uint16), _dtype("uint32", "uint", np.uint32),
        _dtype("uint64", "uint", np.uint64), _dtype("float16", "float", np.float16),
        _dtype("bfloat16", "float", ml_dtypes.bfloat16),
        _dtype("float8_e4m3fn", "small float", ml_dtypes.float8_e4m3fn),
        _dtype("float8_e5m2", "small float", ml_dtypes.float8_e5m2),
    )
}  # fmt: skip


def constant(value: bool | int | float, dtype: DType) -> Array:
    """A Python number as an element; it must be of the dtype's kind and, for integers, in range.

    The compiler rounds every float literal to f32, also one that becomes an f64, ``ct.float64(0.1)`` included. It
    encodes those of 8 bits itself, and an infinity stays one, where conversions at run time saturate.
    """
    if dtype.kind == "bool":
        if not isinstance(value, bool):
            raise TileTypeError(f"{value!r} is no bool")
        return np.asarray(value)
    if isinstance(value, bool) or (dtype.is_integer and not isinstance(value, int)):
        raise TileTypeError(f"{value!r} is no {dtype.name}")
    if dtype.is_integer and not np.iinfo(dtype.numpy).min <= value <= np.iinfo(dtype.numpy).max:
        raise TileTypeError(f"{value} is out of range of {dtype.name}")
    if dtype.is_integer:
        return np.asarray(value, dtype.numpy)
    if dtype == FLOAT64:
        with np.errstate(over="ignore"):
            return np.asarray(np.float32(value), dtype.numpy)
    if not np.isfinite(value):
        return np.asarray(value, np.float64).astype(dtype.numpy)
    return converted(np.asarray(value, np.float64), FLOAT64, dtype)


def converted(data: Array, source: DType, target: DType) -> Array:
    """A numeric conversion: integers keep their low bits, floats round to nearest even once."""
    if target.kind == "bool":
        return np.asarray(data != 0)
    if source.kind == "bool":
        return data.astype(target.numpy)
    if target.is_integer:
        return data.astype(target.numpy) if source.is_integer else _truncated(data, target)
    if source.is_integer:
        return data.astype(target.numpy) if target.bits >= 32 else _rounded(data.astype(np.float64), target)
    return _rounded(data, target)


def _truncated(data: Array, target: DType) -> Array:
    """Float to integer; out of range saturates and NaN gives zero."""
    wide = np.trunc(data.astype(np.float64))
    info = np.iinfo(target.numpy)
    safe = np.where(np.isnan(wide), 0.0, wide)
    inside = (safe >= float(info.min)) & (safe < float(info.max) + 1.0)
    clipped = np.where(safe < 0, info.min, info.max).astype(target.numpy)
    return np.where(inside, np.where(inside, safe, 0.0).astype(target.numpy), clipped)


def _rounded(data: Array, target: DType) -> Array:
    """Float to float; the 8-bit formats saturate as the hardware does."""
    if target.bits >= 32 or (target.name == "float16" and data.dtype != ml_dtypes.bfloat16):
        return data.astype(target.numpy)
    wide = _odd_f32(data) if data.dtype == np.float64 else data.astype(np.float32)
    if target.kind == "float":
        return wide.astype(target.numpy)
    limit = np.float32(448.0 if target.name == "float8_e4m3fn" else 57344.0)
    return np.where(np.isnan(wide), wide, np.clip(wide, -limit, limit)).astype(target.numpy)


def _odd_f32(data: Array) -> Array:
    """f64 to f32 with inexact results made odd, so that the next rounding is the only one."""
    near = data.astype(np.float32)
    bits = near.reshape(-1).view(np.int32).reshape(near.shape)
    back = near.astype(np.float64)
    fix = (back != data) & ((bits & 1) == 0) & ~np.isnan(data)
    step = np.where(np.abs(back) > np.abs(data), -1, 1).astype(np.int32)
    odd = np.where(fix, bits + step, bits).astype(np.int32)
    return odd.reshape(-1).view(np.float32).reshape(near.shape)
