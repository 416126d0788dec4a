"""Types and values of the emulated IR, and conversions between numpy element types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NUMPY: Final[dict[str, np.dtype[Any]]] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "ptr": np.dtype(np.int64),
}
"""Element types; integers have no sign of their own, operations do."""


@dataclass(frozen=True)
class Type:
    """An element type, ``element`` for pointers, over a block shape (None for a scalar)."""

    name: str
    element: Type | None = None
    shape: tuple[int, ...] | None = None

    @property
    def numpy(self) -> np.dtype[Any]:
        return NUMPY[self.name]


@dataclass(frozen=True, eq=False)
class Handle:
    """A value: numpy data (rank zero for a scalar) and its element type."""

    data: Array
    type: Type

    def with_data(self, data: Array) -> Handle:
        return Handle(np.asarray(data), self.type)


def unsigned(data: Array) -> Array:
    """The same bits as unsigned integers."""
    return data if data.dtype == np.bool_ else data.view(f"u{data.dtype.itemsize}")


def signed(data: Array) -> Array:
    """The same bits as signed integers."""
    return data if data.dtype == np.bool_ else data.view(f"i{data.dtype.itemsize}")


def is_float(type_: Type) -> bool:
    """Whether the element type is a float of any width."""
    return "f" in type_.name


def widened(data: Array) -> Array:
    """Floats narrower than f32 as f32."""
    return data.astype(np.float32) if data.dtype.itemsize < 4 else data


def round_to(data: Array, type_: Type) -> Array:
    """A float array rounded once to ``type_``; 8-bit formats saturate as the hardware does."""
    target = type_.numpy
    if data.dtype == np.float64 and target.itemsize == 2 and type_.name == "bf16":
        data = _odd_f32(data)
    if type_.name not in ("f8e4m3fn", "f8e5m2"):
        return data.astype(target)
    wide = widened(data) if data.dtype != np.float64 else _odd_f32(data)
    limit = np.float32(448.0 if type_.name == "f8e4m3fn" else 57344.0)
    return np.where(np.isnan(wide), wide, np.clip(wide, -limit, limit)).astype(target)


def _odd_f32(data: Array) -> Array:
    """f64 to f32 with inexact results made odd, so that the next rounding is the only one."""
    near = data.astype(np.float32)
    bits = near.view(np.int32).copy()
    back = near.astype(np.float64)
    fix = (back != data) & ((bits & 1) == 0) & ~np.isnan(data)
    bits[fix] += np.where(np.abs(back[fix]) > np.abs(data[fix]), -1, 1).astype(np.int32)
    return bits.view(np.float32)


def to_integer(data: Array, target: np.dtype[Any]) -> Array:
    """Truncation; out of range saturates and NaN gives zero, as on the GPU."""
    wide = np.trunc(data.astype(np.float64))
    info = np.iinfo(target)
    safe = np.where(np.isnan(wide), 0.0, wide)
    inside = (safe >= float(info.min)) & (safe < float(info.max) + 1.0)
    clipped = np.where(safe < 0, info.min, info.max).astype(target)
    return np.where(inside, np.where(inside, safe, 0.0).astype(target), clipped)
