"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Dim, Fragment, Reduce, Scan
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import F32, I32
from intent_provider_cutile.casts import cast
from intent_provider_cutile.emit.literals import TYPES, literal
from intent_provider_cutile.spelling import Need

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

_COMBINE = {
    "sum": "_add", "prod": "_product", "max": "_nan_max", "min": "_nan_min", "argmax": "_arg_max", "argmin": "_arg_min",
}  # fmt: skip


def reduce(body: Body, op: Reduce) -> None:
    """Builtin kinds one lane dim after the other; generic ones through a combine function."""
    operands = [_operand(body, op, o) for o in op.operands]
    if op.combine is not None:
        _generic_reduce(body, op, operands)
        return
    if op.kind in ("argmax", "argmin"):
        _arg_reduce(body, op, operands)
        return
    kind = _kind(op)
    (value,) = operands
    source = value.dtype
    value = _accumulating(value, kind)
    for dim in sorted(op.dims, key=value.dims.index, reverse=True):
        value = reduce_one(kind, value, dim)
    body.define(op.result, _restored(value, source, kind, body.context.need), op.span)


def _kind(op: Reduce | Scan) -> str:
    """What is computed where the author gave no combine of their own."""
    assert op.kind is not None
    return op.kind


def _operand(body: Body, op: Reduce | Scan, fragment: Fragment) -> Value:
    """An operand in full shape; index values that are combined into new ones need all 64 bits."""
    value = body.full(body.use(fragment), fragment.dims)
    picks = op.kind in ("max", "min", "argmax", "argmin")
    return value if fragment.dtype.kind != "index" or picks else body.widen(value, Width.LONG)


def _as(value: Value, dtype: DType) -> Value:
    text = f"ct.astype({value.text}, {TYPES[dtype.name]})"
    return replace(value, text=text, prec=Prec.ATOM, dtype=dtype)


def _accumulating(value: Value, kind: str) -> Value:
    """The operand in a type that cuTile reduces in without doubt: i32 or f32 and wider."""
    if kind in ("any", "all"):
        return replace(_as(value, I32), dtype=value.dtype)
    if value.dtype.is_float and value.dtype.bits < 32:
        return _as(value, F32)
    if value.dtype.is_integer and value.dtype.bits < 32:
        return _as(value, I32)
    return value


def _restored(value: Value, dtype: DType, kind: str, need: Need) -> Value:
    """The result in the operand's dtype."""
    if kind in ("any", "all"):
        return replace(value, text=f"{value.at(Prec.BITOR)} != 0", prec=Prec.COMPARE, dtype=dtype)
    return cast(value, dtype, need) if dtype.bits < 32 else replace(value, dtype=dtype)


def reduce_one(kind: str, value: Value, dim: Dim) -> Value:
    """A builtin reduction along one lane dim."""
    axis = value.dims.index(dim)
    left = tuple(d for d in value.dims if d != dim)
    name = {"any": "max", "all": "min"}.get(kind, kind)
    nan = ", propagate_nan=True" if kind in ("max", "min") and value.dtype.is_float else ""
    text = f"ct.{name}({value.text}, axis={axis}{nan})"
    return replace(value, text=text, prec=Prec.ATOM, dims=left)


def _lowest(dtype: DType, width: Width) -> Value:
    """What loses against every value in a maximum."""
    if dtype.is_float:
        return literal(float("-inf"), dtype)
    return literal(-(1 << 31) if dtype.kind == "index" and width is Width.SMALL else dtype.minimum, dtype)


def _highest(dtype: DType, width: Width) -> Value:
    """What loses against every value in a minimum."""
    if dtype.is_float:
        return literal(float("inf"), dtype)
    narrow = dtype.kind == "index" and width is not Width.LONG
    return literal((1 << 31) - 1 if narrow else dtype.maximum, dtype)


def _arg_reduce(body: Body, op: Reduce, operands: Sequence[Value]) -> None:
    """(value, position) pairs; NaN wins, then the lowest position (language: arg_reduce)."""
    values, positions = operands
    source = values.dtype
    values = _accumulating(values, _kind(op))
    combine = body.context.need(_COMBINE[_kind(op)])
    worst = (_lowest if op.kind == "argmax" else _highest)(values.dtype, values.width)
    last = _highest(positions.dtype, positions.width)
    dims = values.dims
    for dim in sorted(op.dims, key=dims.index, reverse=True):
        tiles = f"({values.text}, {positions.text})"
        text = f"ct.reduce({tiles}, {dims.index(dim)}, {combine}, ({worst.text}, {last.text}))"
        dims = tuple(d for d in dims if d != dim)
        names = [
            body.context.namer.fresh(f.name or h) for f, h in zip(op.results, ("best", "at"), strict=True)
        ]
        body.writer.statement(f"{', '.join(names)} = {text}", op.span)
        values = replace(values, text=names[0], prec=Prec.ATOM, dims=dims)
        positions = replace(positions, text=names[1], prec=Prec.ATOM, dims=dims)
    body.define(op.results[0], _restored(values, source, "max", body.context.need), op.span)
    body.define(op.results[1], positions, op.span)


def _generic_reduce(body: Body, op: Reduce, operands: Sequence[Value]) -> None:
    """The author's combine; where the identity is no constant, a place in its stead (spec: logical-program 6)."""
    assert op.combine is not None
    identity = [body.use(f) for f in op.identity]
    placed = bool(op.captures) or not identity or not all(i.literal for i in identity)
    if placed:
        place = body.full(literal(0, I32), operands[0].dims)
        operands, identity = _placed(body, operands, op.captures, place)
    combine = body.context.combine("combine", op.combine, [o.width for o in operands], placed=placed)
    dims = operands[0].dims
    for dim in sorted(op.dims, key=dims.index, reverse=True):
        text = f"ct.reduce({_tuple(operands)}, {dims.index(dim)}, {combine}, {_tuple(identity)})"
        dims = tuple(d for d in dims if d != dim)
        names = _names(body, op.results, len(operands))
        body.writer.statement(f"{', '.join(names)} = {text}", op.span)
        operands = [
            replace(o, text=n, prec=Prec.ATOM, dims=dims) for o, n in zip(operands, names, strict=True)
        ]
    for result, value in zip(op.results, operands, strict=False):
        body.define(result, value, op.span)


def _placed(
    body: Body, operands: Sequence[Value], captures: Sequence[Fragment], place: Value
) -> tuple[list[Value], list[Value]]:
    """Components with captures and a place, and the constants that the compiler pads with."""
    carried = [body.full(body.use(c), operands[0].dims) for c in captures]
    everything = [*operands, *carried]
    starts = [literal(0, value.dtype) for value in everything]
    return [*everything, place], [*starts, literal(-1, I32)]


def _names(body: Body, results: Sequence[Fragment], count: int) -> list[str]:
    hints = [r.name or "r" for r in results] + ["unused"] * (count - len(results))
    return [body.context.namer.fresh(h) for h in hints]


def _tuple(values: Sequence[Value]) -> str:
    texts = [v.text for v in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def scan(body: Body, op: Scan) -> None:
    """Inclusive ordered prefixes along one lane dim."""
    operands = [_operand(body, op, o) for o in op.operands]
    axis = operands[0].dims.index(op.dim)
    tail = ", reverse=True" if op.reverse else ""
    if op.combine is not None:
        _generic_scan(body, op, operands, axis, tail)
        return
    (value,) = operands
    source = value.dtype
    value = _accumulating(value, _kind(op))
    if op.kind in ("sum", "prod"):
        text = f"ct.{'cumsum' if op.kind == 'sum' else 'cumprod'}({value.text}, axis={axis}{tail})"
    else:
        start = (_lowest if op.kind == "max" else _highest)(value.dtype, value.width)
        combine = _COMBINE[_kind(op)] if value.dtype.is_float else f"_int_{op.kind}"
        text = f"ct.scan({value.text}, {axis}, {body.context.need(combine)}, {start.text}{tail})"
    value = replace(value, text=text, prec=Prec.ATOM)
    body.define(op.result, _restored(value, source, "max", body.context.need), op.span, statement=True)


def _generic_scan(body: Body, op: Scan, operands: Sequence[Value], axis: int, tail: str) -> None:
    """A scan states no identity; places tell values from padding, and which of two values stands first."""
    assert op.combine is not None
    dims = operands[0].dims
    lanes = f"ct.arange({op.dim.size}, dtype=ct.int32)"
    along = Value(
        text=f"{op.dim.size} - {lanes}" if op.reverse else lanes, prec=Prec.SUM, dtype=I32, dims=(op.dim,)
    )
    place = body.full(along, dims)
    operands, starts = _placed(body, operands, op.captures, place)
    combine = body.context.combine("combine", op.combine, [o.width for o in operands], placed=True)
    names = _names(body, op.results, len(operands))
    text = f"ct.scan({_tuple(operands)}, {axis}, {combine}, {_tuple(starts)}{tail})"
    body.writer.statement(f"{', '.join(names)} = {text}", op.span)
    for result, operand, name in zip(op.results, operands, names, strict=False):
        body.define(result, replace(operand, text=name, prec=Prec.ATOM), op.span)
