"""Constants and types as cuTile text.

A bare Python number takes its dtype from the other operand, so it stays bare where there is one. Constants with a
dtype of their own would be folded by the compiler with Python's arithmetic (no wrapping, no rounding to f32), so
no operation is ever written on constants alone: see ``tile``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import F64

TYPES = {
    "bool": "ct.bool_", "i8": "ct.int8", "i16": "ct.int16", "i32": "ct.int32", "i64": "ct.int64", "index": "ct.int64",
    "u8": "ct.uint8", "u16": "ct.uint16", "u32": "ct.uint32", "u64": "ct.uint64",
    "f16": "ct.float16", "bf16": "ct.bfloat16", "f32": "ct.float32", "f64": "ct.float64",
    "f8e4m3fn": "ct.float8_e4m3fn", "f8e5m2": "ct.float8_e5m2",
}  # fmt: skip
"""cuTile's dtype of each element type."""

INDEX_TYPES = {Width.SMALL: "ct.int32", Width.INDEX: "INDEX", Width.LONG: "ct.int64"}
"""cuTile's dtype of an index value."""

_F32_MAX = 3.4028234663852886e38
_INT32 = range(-(1 << 31), 1 << 31)


def type_text(value: Value) -> str:
    """The dtype of a value, as text."""
    return INDEX_TYPES[value.width] if value.dtype.kind == "index" else TYPES[value.dtype.name]


def literal(value: bool | int | float, dtype: DType) -> Value:
    """``value`` as a bare Python literal that takes its dtype from the other operand of an operator."""
    if dtype.kind == "bool":
        return Value(text=str(bool(value)), prec=Prec.ATOM, dtype=dtype, literal=True)
    if dtype.is_float:
        return _float_literal(float(value), dtype)
    number = int(value)
    width = Width.SMALL if number in _INT32 else Width.LONG
    prec = Prec.ATOM if number >= 0 else Prec.UNARY
    return Value(text=str(number), prec=prec, dtype=dtype, literal=True, width=width)


def _float_literal(value: float, dtype: DType) -> Value:
    """INF and NAN are constants of the emitted module."""
    if math.isnan(value):
        return Value(text="NAN", prec=Prec.ATOM, dtype=dtype, literal=True)
    if math.isinf(value):
        text, prec = ("-INF", Prec.UNARY) if value < 0 else ("INF", Prec.ATOM)
        return Value(text=text, prec=prec, dtype=dtype, literal=True)
    text = _shortest(value) if dtype.bits <= 32 else repr(value)
    negative = math.copysign(1.0, value) < 0
    return Value(text=text, prec=Prec.UNARY if negative else Prec.ATOM, dtype=dtype, literal=True)


def _shortest(value: float) -> str:
    """The shortest decimal that reads back (through f64) as the f32 nearest to ``value``."""
    target = struct.pack("<f", value) if abs(value) <= 3.4028235677973366e38 else None
    for digits in range(6, 17):
        text = f"{value:.{digits}g}"
        if target is not None and struct.pack("<f", float(text)) == target:
            return repr(float(text))
    return repr(value)


def constant(value: bool | int | float, dtype: DType, need: Callable[[str], str]) -> Value:
    """A constant of the program: a literal, but for an f64 that is no f32, to which the compiler rounds literals."""
    if dtype is not F64 or not math.isfinite(value) or _is_f32(float(value)):
        return literal(value, dtype)
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    return Value(text=f"{need('_f64')}({float(value)!r}, {bits:#x})", prec=Prec.ATOM, dtype=dtype)


def _is_f32(value: float) -> bool:
    return abs(value) <= _F32_MAX and struct.unpack("<f", struct.pack("<f", value))[0] == value


def typed(value: Value) -> Value:
    """``value`` with its own dtype: a constant for stores, branches, returns and the like."""
    if not value.literal:
        return value
    return Value(
        text=f"{type_text(value)}({value.text})", prec=Prec.ATOM, dtype=value.dtype, width=value.width
    )


def tile(value: Value) -> Value:
    """``value`` as a scalar tile that the compiler does not fold."""
    if not value.literal:
        return value
    text = f"ct.full((1,), {value.text}, {type_text(value)}).item()"
    return Value(text=text, prec=Prec.ATOM, dtype=value.dtype, width=value.width)
