"""Constants and types as C++ text."""

from __future__ import annotations

import math
import struct

import numpy as np

from intent.provider.emission import Width
from intent.types import DType
from intent_provider_cupy.emit.interface import C_TYPES
from intent_provider_cupy.emit.value import Prec, Value

INDEX_TYPES = {Width.SMALL: "int", Width.INDEX: "Index", Width.LONG: "long long"}
"""C++ type of an index value."""
_INT32 = range(-(1 << 31) + 1, 1 << 31)
_SUFFIX = {"u32": "u", "u64": "ull", "i64": "ll"}


def c_type(dtype: DType, width: Width = Width.LONG) -> str:
    """C++ type of a value in a register."""
    return INDEX_TYPES[width] if dtype.kind == "index" else C_TYPES[dtype.name]


def stored_type(dtype: DType) -> str:
    """C++ type of an element in memory."""
    return "long long" if dtype.kind == "index" else C_TYPES[dtype.name]


def type_of(value: Value) -> str:
    """C++ type that holds the value."""
    return c_type(value.dtype, value.width)


def literal(value: bool | int | float, dtype: DType) -> Value:
    """``value`` as a number of the dtype; 8- and 16-bit floats as the float that they stand for."""
    if dtype.kind == "bool":
        return Value(text="true" if value else "false", prec=Prec.ATOM, dtype=dtype, literal=True)
    if dtype.is_float:
        return _float_literal(float(value), dtype)
    number = int(value)
    width = Width.SMALL if number in _INT32 else Width.LONG
    if number == -(1 << 63):
        text, prec = "(-9223372036854775807ll - 1)", Prec.ATOM
    else:
        suffix = "ll" if dtype.kind == "index" and width is Width.LONG else _SUFFIX.get(dtype.name, "")
        if dtype.name == "i32" and number == -(1 << 31):
            return Value(text="(-2147483647 - 1)", prec=Prec.ATOM, dtype=dtype, literal=True)
        text, prec = f"{number}{suffix}", Prec.ATOM if number >= 0 else Prec.UNARY
    return Value(text=text, prec=prec, dtype=dtype, literal=True, width=width)


def number_of(value: Value) -> int:
    """The integer that an integer literal says."""
    if value.text.startswith("(-"):
        return -(1 << 63) if "ll" in value.text else -(1 << 31)
    return int(value.text.rstrip("ul"))


def _float_literal(value: float, dtype: DType) -> Value:
    if dtype.bits < 32:
        with np.errstate(all="ignore"):
            value = float(
                np.array([value], np.float64).astype(np.float32).astype(dtype.numpy).astype(np.float32)[0]
            )
    suffix = "" if dtype.bits == 64 else "f"
    if math.isinf(value) or math.isnan(value):
        kind = "it_nan" if math.isnan(value) else "it_inf"
        text = f"{kind}<{'double' if dtype.bits == 64 else 'float'}>()"
        sign = "-" if value < 0 else ""
        return Value(text=sign + text, prec=Prec.UNARY if sign else Prec.ATOM, dtype=dtype, literal=True)
    text = repr(value) if dtype.bits == 64 else _shortest(value)
    negative = math.copysign(1.0, value) < 0
    return Value(text=text + suffix, prec=Prec.UNARY if negative else Prec.ATOM, dtype=dtype, literal=True)


def _shortest(value: float) -> str:
    """The shortest decimal that reads back as the f32 nearest to ``value``."""
    if abs(value) > 3.4028235677973366e38:
        return "-it_inf<float>()" if value < 0 else "it_inf<float>()"
    target = struct.pack("<f", value)
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == target:
            return repr(float(text))
    return repr(value)


def typed(value: Value) -> Value:
    """``value`` with its own C++ type even where it is a literal of another one."""
    if not value.literal:
        return value
    name = value.dtype.name
    if name in ("f16", "bf16", "f8e4m3fn", "f8e5m2"):
        text = f"it_cast<{C_TYPES[name]}>({value.text})"
    elif name in ("i8", "i16", "u8", "u16"):
        text = f"({C_TYPES[name]}){value.atom}"
    elif value.dtype.kind == "index" and value.width is not Width.LONG:
        text = f"({INDEX_TYPES[value.width]}){value.atom}" if value.width is Width.INDEX else value.text
    else:
        text = value.text
    prec = value.prec if text == value.text else Prec.ATOM if text.startswith("it_") else Prec.UNARY
    return Value(text=text, prec=prec, dtype=value.dtype, width=value.width)
