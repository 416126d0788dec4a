"""Compare-and-swap of every element type, by its bits: Triton has it for integers of 16, 32 and 64 bits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from intent.physical import Atomic
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import BOOL
from intent_provider_triton.emit.access import pointer_of, shaped
from intent_provider_triton.emit.literals import TYPES, typed

if TYPE_CHECKING:
    from intent_provider_triton.emit.body import Body

_BITS: Final = {8: "tl.int8", 16: "tl.int16", 32: "tl.int32", 64: "tl.int64"}


def compare_exchange(body: Body, op: Atomic, valid: Value | None, order: tuple[str, str]) -> None:
    """The old value, and whether its bits were the expected ones; inactive lanes see what they expected."""
    dtype = op.target.dtype
    expected, desired = (_as_bits(shaped(typed(body.use(o)), op.dims), dtype) for o in op.operands)
    place = shaped(pointer_of(body, op.target, op.coordinates), op.dims)
    name = body.context.namer.fresh(f"{op.results[0].name or 'old'}" if op.results else "old")
    if not dtype.is_integer and dtype.bits > 8:
        expected = _named(body, expected, f"{name}_expected", op)
    if dtype.bits == 8 or valid is not None:
        text = _helper(body, op, place, [expected, desired], valid, order)
    else:
        arguments = [_word(place.text, place.prec, dtype), expected.text, desired.text, *order]
        text = f"tl.atomic_cas({', '.join(arguments)})"
    if not op.results:
        body.writer.statement(text, op.span)
        return
    body.writer.statement(f"{name} = {text}", op.span)
    old = Value(text=name, prec=Prec.ATOM, dtype=dtype, dims=op.dims)
    success = replace(old, text=f"{name} == {expected.at(Prec.SUM)}", prec=Prec.COMPARE, dtype=BOOL)
    for result, value in zip(op.results, (_as_value(old, dtype), success), strict=True):
        body.define(result, value, op.span)


def _helper(
    body: Body, op: Atomic, place: Value, operands: list[Value], valid: Value | None, order: tuple[str, str]
) -> str:
    """A call of the prelude: for lanes that may be idle, and for the word of two bytes around a byte."""
    dtype = op.target.dtype
    byte = dtype.bits == 8
    function = body.context.need(("_byte_cas" if byte else "_masked_cas") + ("" if op.dims else "_scalar"))
    spare = body.view_pointer(op.target)
    if not byte:
        spare = _word(spare, Prec.ATOM, dtype)
    idle = Value(text="True", prec=Prec.ATOM, dtype=BOOL, literal=True) if valid is None else valid
    mask = idle.text if not op.dims or valid is not None else body.full(idle, op.dims).text
    pointer = place.text if byte else _word(place.text, place.prec, dtype)
    return f"{function}({', '.join([pointer, *(o.text for o in operands), mask, spare, *order])})"


def _named(body: Body, value: Value, hint: str, op: Atomic) -> Value:
    name = body.context.namer.fresh(hint)
    body.writer.statement(f"{name} = {value.text}", op.span)
    return replace(value, text=name, prec=Prec.ATOM)


def _word(pointer: str, prec: Prec, dtype: DType) -> str:
    """A pointer to the element's bits."""
    if dtype.is_integer and dtype.bits >= 16:
        return pointer
    return f"{_receiver(pointer, prec)}.to(tl.pointer_type({_BITS[dtype.bits]}), bitcast=True)"


def _as_bits(value: Value, dtype: DType) -> Value:
    if dtype.is_integer:
        return value
    conversion = "tl.int8" if dtype is BOOL else f"{_BITS[dtype.bits]}, bitcast=True"
    return replace(value, text=f"{_receiver(value.text, value.prec)}.to({conversion})", prec=Prec.ATOM)


def _as_value(old: Value, dtype: DType) -> Value:
    if dtype.is_integer:
        return old
    if dtype is BOOL:
        return replace(old, text=f"{old.text} != 0", prec=Prec.COMPARE)
    return replace(old, text=f"{old.text}.to({TYPES[dtype.name]}, bitcast=True)")


def _receiver(text: str, prec: Prec) -> str:
    return text if prec is Prec.ATOM else f"({text})"
