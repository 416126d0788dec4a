"""Element types of the language and how numpy stores them (spec: language, dtypes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np

Kind = Literal["bool", "index", "int", "uint", "float"]


@dataclass(frozen=True)
class DType:
    """One element type. ``index`` is the signed 64-bit logical integer, distinct from ``i64``."""

    name: str
    kind: Kind
    bits: int
    exponent_bits: int = 0
    mantissa_bits: int = 0

    def __repr__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic is integral: signed, unsigned or ``index`` (not bool)."""
        return self.kind in ("int", "uint", "index")

    @property
    def is_signed(self) -> bool:
        return self.kind in ("int", "index", "float")

    @property
    def bytes(self) -> int:
        """Size of one element in memory; a bool takes one byte."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype that stores this type (ml_dtypes for bf16 and the 8-bit floats)."""
        return _NUMPY[self.name]

    @property
    def minimum(self) -> int:
        """Smallest representable integer of an integer type."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """Largest representable integer of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.is_signed else (1 << self.bits) - 1


BOOL: Final = DType("bool", "bool", 8)
INDEX: Final = DType("index", "index", 64)
I8: Final = DType("i8", "int", 8)
I16: Final = DType("i16", "int", 16)
I32: Final = DType("i32", "int", 32)
I64: Final = DType("i64", "int", 64)
U8: Final = DType("u8", "uint", 8)
U16: Final = DType("u16", "uint", 16)
U32: Final = DType("u32", "uint", 32)
U64: Final = DType("u64", "uint", 64)
F16: Final = DType("f16", "float", 16, 5, 10)
BF16: Final = DType("bf16", "float", 16, 8, 7)
F32: Final = DType("f32", "float", 32, 8, 23)
F64: Final = DType("f64", "float", 64, 11, 52)
F8E4M3FN: Final = DType("f8e4m3fn", "float", 8, 4, 3)
F8E5M2: Final = DType("f8e5m2", "float", 8, 5, 2)

ALL: Final[tuple[DType, ...]] = (
    BOOL, INDEX, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2,
)  # fmt: skip
BY_NAME: Final[dict[str, DType]] = {d.name: d for d in ALL}

_NUMPY: Final[dict[str, np.dtype[Any]]] = {
    "bool": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}


def from_numpy(dtype: np.dtype[Any]) -> DType | None:
    """The external element type that a numpy dtype stores, or None. int64 is ``i64``, never ``index``."""
    for name, stored in _NUMPY.items():
        if name != "index" and stored == dtype:
            return BY_NAME[name]
    return None
