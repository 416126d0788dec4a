"""Numeric conversions with this language's rounding (spec: language, casts)."""

from __future__ import annotations

from dataclasses import replace

from intent.provider.emission import Width
from intent.types import DType
from intent.types.dtypes import BOOL
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.value import Prec, Value


def cast(value: Value, target: DType) -> Value:
    """``value`` as ``target``; exact, or rounded once by the prelude."""
    source = value.dtype
    if source == target:
        return value
    if value.literal and source.is_float and target.is_float and _exact_literal(source, target):
        return replace(value, dtype=target)  # literals of narrow floats are written as floats
    if target.kind == "bool" and not (source.is_float and source.bits < 32):
        zero = "0.0f" if source.is_float and source.bits == 32 else "0"
        return replace(
            value, text=f"{value.at(Prec.SHIFT)} != {zero}", prec=Prec.EQUAL, dtype=BOOL, literal=False
        )
    if target.kind == "index":
        return _to_index(value, target)
    if source.kind == "index" and target.name == "i64":
        text = value.text if value.width is Width.LONG and not value.literal else f"(long long){value.atom}"
        prec = value.prec if text == value.text else Prec.UNARY
        return replace(value, text=text, prec=prec, dtype=target, literal=False)
    text = f"it_cast<{c_type(target)}>({typed(value).text})"
    return replace(value, text=text, prec=Prec.ATOM, dtype=target, literal=False)


def _to_index(value: Value, target: DType) -> Value:
    """Integers that fit int keep their type, everything else becomes long long."""
    source = value.dtype
    if source.name == "i64":
        return replace(typed(value), dtype=target, width=Width.LONG)
    if source.name == "i32":
        return replace(typed(value), dtype=target, width=Width.SMALL)
    small = source.kind == "bool" or (source.is_integer and source.bits < 32)
    if small:
        text = f"(int){typed(value).atom}"
        return replace(value, text=text, prec=Prec.UNARY, dtype=target, width=Width.SMALL, literal=False)
    text = f"it_cast<long long>({typed(value).text})"
    return replace(value, text=text, prec=Prec.ATOM, dtype=target, width=Width.LONG, literal=False)


def _exact_literal(source: DType, target: DType) -> bool:
    """Whether a literal says the same number in the wider type: literals of narrow floats are rounded already."""
    return source.bits < 32 and target.bits == 32
