"""Constants and types as Triton text."""

from __future__ import annotations

import math
import struct

from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import BY_NAME

TYPES = {
    "bool": "tl.int1", "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64", "index": "tl.int64",
    "u8": "tl.uint8", "u16": "tl.uint16", "u32": "tl.uint32", "u64": "tl.uint64",
    "f16": "tl.float16", "bf16": "tl.bfloat16", "f32": "tl.float32", "f64": "tl.float64",
    "f8e4m3fn": "tl.float8e4nv", "f8e5m2": "tl.float8e5",
}  # fmt: skip
"""Triton's dtype of each element type."""

SIGNATURE = {
    "bool": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "index": "i64",
    "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
    "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5",
}  # fmt: skip
"""Triton's name of each element type in signatures."""

# Triton turns a literal that its own default type (f32, i32) cannot hold into f64 or i64 before it meets the
# other operand; in these dtypes a bare literal is therefore safe in operators but not in function calls.
_DEFAULT_TYPED = frozenset({"f32", "bool"})
_INT32 = range(-(1 << 31), 1 << 31)


INDEX_TYPES = {Width.SMALL: "tl.int32", Width.INDEX: "INDEX", Width.LONG: "tl.int64"}
"""Triton's dtype of an index value."""


def fits_int32(value: int) -> bool:
    """Whether an integer literal is an int32 for Triton."""
    return value in _INT32


def literal(value: bool | int | float, dtype: DType) -> Value:
    """``value`` as a bare Python literal that takes its dtype from the other operand of an operator."""
    if dtype.kind == "bool":
        return Value(text=str(bool(value)), prec=Prec.ATOM, dtype=dtype, literal=True)
    if dtype.is_float:
        return _float_literal(float(value), dtype)
    number = int(value)
    width = Width.SMALL if fits_int32(number) else Width.LONG
    prec = Prec.ATOM if number >= 0 else Prec.UNARY
    return Value(text=str(number), prec=prec, dtype=dtype, literal=True, width=width)


def _float_literal(value: float, dtype: DType) -> Value:
    if dtype.name == "f8e5m2" and math.isinf(value):
        # By its bits: the conversion saturates.
        text = f"tl.full((), {0xFC if value < 0 else 0x7C}, tl.uint8).to({TYPES[dtype.name]}, bitcast=True)"
        return Value(text=text, prec=Prec.ATOM, dtype=dtype)
    if _by_way_of_f32(value, dtype):
        wide = typed(_float_literal(value, BY_NAME["f32"]))
        return Value(text=f"{wide.text}.to({TYPES[dtype.name]})", prec=Prec.ATOM, dtype=dtype)
    if math.isinf(value) or math.isnan(value):
        text = 'float("nan")' if math.isnan(value) else 'float("inf")'
        sign = "-" if value < 0 else ""
        return Value(text=sign + text, prec=Prec.UNARY if sign else Prec.ATOM, dtype=dtype, literal=True)
    if value == 0 and math.copysign(1.0, value) < 0:
        return _negative_zero(dtype)  # Triton folds every literal zero to +0
    text = _shortest(value) if dtype.bits <= 32 else repr(value)
    if dtype.bits == 32 and 0 < abs(value) < 2.0**-126:
        # Below the normal range a bare literal would be an f64 for Triton's functions.
        return Value(text=f"tl.full((), {text}, tl.float32)", prec=Prec.ATOM, dtype=dtype)
    return Value(text=text, prec=Prec.UNARY if value < 0 else Prec.ATOM, dtype=dtype, literal=True)


def _by_way_of_f32(value: float, dtype: DType) -> bool:
    """Whether Triton's own constant of this dtype is another number.

    It has none of 8 bits, and writes those of bf16 with six decimals on their way to MLIR: 3e-7 becomes 0.
    """
    if dtype.bits == 8:
        return value != 0 or math.copysign(1.0, value) < 0
    bf16 = dtype.numpy.type
    return dtype.name == "bf16" and math.isfinite(value) and bool(bf16(f"{value:.6f}") != bf16(value))


def _shortest(value: float) -> str:
    """The shortest decimal that Triton reads back (through f64) as the f32 nearest to ``value``."""
    target = struct.pack("<f", value) if abs(value) <= 3.4028235677973366e38 else None
    for digits in range(6, 17):
        text = f"{value:.{digits}g}"
        if target is not None and struct.pack("<f", float(text)) == target:
            return repr(float(text))
    return repr(value)


def _negative_zero(dtype: DType) -> Value:
    bits = {"f64": ("-9223372036854775808", "tl.int64"), "f32": ("-2147483648", "tl.int32")}
    number, integer = bits.get(dtype.name, bits["f32"])
    wide = "tl.float64" if dtype.name == "f64" else "tl.float32"
    text = f"tl.full((), {number}, {integer}).to({wide}, bitcast=True)"
    if dtype.name not in bits:
        text += f".to({TYPES[dtype.name]})"
    return Value(text=text, prec=Prec.ATOM, dtype=dtype)


def typed(value: Value) -> Value:
    """``value`` as a tensor of its own dtype; a literal becomes ``tl.full((), ...)``."""
    if not value.literal:
        return value
    dtype = INDEX_TYPES[value.width] if value.dtype.kind == "index" else TYPES[value.dtype.name]
    return Value(
        text=f"tl.full((), {value.text}, {dtype})", prec=Prec.ATOM, dtype=value.dtype, width=value.width
    )


def call_safe(value: Value) -> Value:
    """``value`` as an argument of a Triton function that fixes a literal's dtype before promotion."""
    if not value.literal or value.dtype.name in _DEFAULT_TYPED:
        return value
    if value.dtype.name in ("i32", "index") and value.width is Width.SMALL:
        return value
    return typed(value)
