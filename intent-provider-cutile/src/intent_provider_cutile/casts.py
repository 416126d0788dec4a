"""Numeric conversions with this language's rounding (spec: language, casts)."""

from __future__ import annotations

from dataclasses import replace

from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import BOOL, F32, INDEX
from intent_provider_cutile.emit.literals import TYPES, tile
from intent_provider_cutile.spelling import Need


def cast(value: Value, target: DType, need: Need) -> Value:
    """``value`` as ``target``. Dims, width and refs of the result are set."""
    source = value.dtype
    if source == target:
        return value
    value = tile(value)
    if target.kind == "bool":
        return _to_bool(value)
    if target.kind == "index":
        return _to_index(value)
    if source.is_float and target.is_float:
        return _float_to_float(value, target, need)
    if target.is_float and target.bits < 32:
        return _integer_to_narrow(value, target, need)
    if source.bits == 8 and source.is_float:
        value = _to(value, F32)
    return _to(value, target)


def _to(value: Value, target: DType) -> Value:
    """The compiler's own conversion: exact, or rounded once to nearest even."""
    text = f"ct.astype({value.text}, {TYPES[target.name]})"
    return replace(value, text=text, prec=Prec.ATOM, dtype=target)


def _to_bool(value: Value) -> Value:
    if value.dtype.is_float and value.dtype.bits < 32:
        value = _to(value, F32)
    return replace(value, text=f"{value.at(Prec.BITOR)} != 0", prec=Prec.COMPARE, dtype=BOOL)


def _to_index(value: Value) -> Value:
    """Integers of at most 32 bits stay as narrow as they are."""
    source = value.dtype
    if source.name == "i64":
        return replace(value, dtype=INDEX, width=Width.LONG)
    if source.name == "i32":
        return replace(value, dtype=INDEX, width=Width.SMALL)
    small = source.kind == "bool" or (source.is_integer and source.bits < 32)
    if source.is_float and source.bits == 8:
        value = _to(value, F32)
    text = f"ct.astype({value.text}, {'ct.int32' if small else 'ct.int64'})"
    width = Width.SMALL if small else Width.LONG
    return replace(value, text=text, prec=Prec.ATOM, dtype=INDEX, width=width)


def _float_to_float(value: Value, target: DType, need: Need) -> Value:
    source = value.dtype
    if target.bits >= 32:
        return _to(_to(value, F32), target) if source.bits == 8 and target.bits == 64 else _to(value, target)
    if source.bits == 64:
        # Through f32 with the lost bits kept in the last place, so that the second rounding decides alone.
        value = replace(value, text=f"{need('_to_f32_odd')}({value.text})", prec=Prec.ATOM, dtype=F32)
    elif source.bits < 32:
        value = _to(value, F32)
    return _from_f32(value, target, need)


def _from_f32(value: Value, target: DType, need: Need) -> Value:
    if target.name == "f8e5m2":
        # The hardware conversion saturates; the language overflows to infinity.
        return replace(value, text=f"{need('_to_f8e5m2')}({value.text})", prec=Prec.ATOM, dtype=target)
    return _to(value, target)


def _integer_to_narrow(value: Value, target: DType, need: Need) -> Value:
    """Through f32, which holds integers of 16 bits, and every f16 that is no infinity."""
    source = value.dtype
    exact = source.kind == "bool" or source.bits <= 16 or target.name == "f16"
    if exact:
        value = _to(value, F32)
    else:
        value = replace(value, text=f"{need('_int_to_f32_odd')}({value.text})", prec=Prec.ATOM, dtype=F32)
    return _from_f32(value, target, need)
