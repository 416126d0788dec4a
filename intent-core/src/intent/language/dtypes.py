"""The dtypes under the names that authors write, and their lookup by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from intent.diagnostics import UnknownDType
from intent.types import DType, dtypes

__all__ = [
    "bf16",
    "boolean",
    "dtype",
    "f8e4m3fn",
    "f8e5m2",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "u8",
    "u16",
    "u32",
    "u64",
]

boolean: Final = dtypes.BOOL
index: Final = dtypes.INDEX
i8: Final = dtypes.I8
i16: Final = dtypes.I16
i32: Final = dtypes.I32
i64: Final = dtypes.I64
u8: Final = dtypes.U8
u16: Final = dtypes.U16
u32: Final = dtypes.U32
u64: Final = dtypes.U64
f16: Final = dtypes.F16
bf16: Final = dtypes.BF16
f32: Final = dtypes.F32
f64: Final = dtypes.F64
f8e4m3fn: Final = dtypes.F8E4M3FN
f8e5m2: Final = dtypes.F8E5M2

FOREIGN: Final = MappingProxyType(
    {
        "float16": "f16",
        "half": "f16",
        "bfloat16": "bf16",
        "float32": "f32",
        "float": "f32",
        "float64": "f64",
        "double": "f64",
        "float8_e4m3fn": "f8e4m3fn",
        "float8_e5m2": "f8e5m2",
        "int8": "i8",
        "int16": "i16",
        "int32": "i32",
        "int64": "i64",
        "int": "i32",
        "long": "i64",
        "uint8": "u8",
        "uint16": "u16",
        "uint32": "u32",
        "uint64": "u64",
        "bool_": "bool",
    }
)
"""What other array libraries call our dtypes: only for suggestions."""


def dtype(name: object) -> DType:
    """The dtype called ``name``, for example ``I.dtype("f32")``.

    Raises:
        UnknownDType: no dtype of the language has that name.
    """
    found = dtypes.BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise UnknownDType(name, dtypes.BY_NAME, foreign=FOREIGN)
    return found
