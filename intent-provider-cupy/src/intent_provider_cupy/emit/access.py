"""Loads and stores: offsets, predicates and fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Buffer, Dim, Fragment, Load, Store, View
from intent.provider.emission import INT32_MAX, INT32_MIN, Width
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import const
from intent_provider_cupy.emit import buffers, turning, vectored
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, literal, number_of, stored_type, typed
from intent_provider_cupy.emit.value import Prec, Value, union_dims, union_refs
from intent_provider_cupy.emit.vectors import Vector, vector_of

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body
    from intent_provider_cupy.emit.kept import Row


def load(body: Body, op: Load) -> None:
    """One element per lane; lanes that are not valid touch no memory and have the fill."""
    body.hazards.touch(op)
    for table in body.placing.tables_of(op):
        _load(body, op, table)


def _load(body: Body, op: Load, table: Table) -> None:
    pointer = buffers.pointer(body, op.source)
    valid = condition_of(body.use(op.valid, table) if op.valid is not None else None)
    fill = typed(body.use(op.fill, table) if op.fill is not None else literal(0, op.source.dtype))
    row = body.rows.get(op.id)
    near = (row.holds(body), row.place(body, table)) if row is not None and not row.first else None
    offset = offset_of(body, op.source, op.coordinates, table)
    text = f"it_load({pointer}, {offset.text})"
    if near is not None:
        text = f"({near[0]} ? it_load({near[1]}) : {text})"
    value = Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=offset.dims, refs=offset.refs)
    if valid is not None:
        value = _filled(op, value, valid, fill)
    if body.usage.count[op.result.id]:
        vector = vector_of(body, op, value.dims, table)
        if vector is not None and vector.dim not in fill.dims:
            vectored.load(body, op, vector, value, f"{pointer}, {offset.text}", valid, fill, table, near)
            if row is not None and row.first:
                _keep(body, op, row, table, vector)
            return
    body.define(op.result, value, op.span, table, statement=True, hint=f"{op.source.name}_value")
    if row is not None and row.first and body.usage.count[op.result.id]:
        _keep(body, op, row, table, None)


def _keep(body: Body, op: Load, row: Row, table: Table, vector: Vector | None) -> None:
    """Put what was loaded into the row's array."""
    value, place, condition = body.use(op.result, table), row.place(body, table), f"if ({row.holds(body)}) "
    single = f"{condition}it_store({place}, {value.text});"
    looped = table.looped(op.result.dims)
    if vector is None:
        body.loops.act(single, table, looped, op.span)
        return
    vectored.stored(
        body, vector, value, place, condition, single, stored_type(op.source.dtype), looped, table, op.span
    )


def condition_of(valid: Value | None) -> Value | None:
    """A predicate, None if it is always true."""
    return None if valid is None or (valid.literal and valid.text == "true") else valid


def _filled(op: Load, value: Value, valid: Value, fill: Value) -> Value:
    parts = [value, valid, fill]
    other = fill.at(Prec.OR_ELSE)
    if op.source.dtype.kind == "index":
        other = f"({c_type(INDEX, Width.LONG)}){fill.atom}"
    text = f"{valid.at(Prec.OR_ELSE)} ? {value.text} : {other}"
    dims = union_dims(op.result.dims, parts)
    return replace(value, text=text, prec=Prec.TERNARY, dims=dims, refs=union_refs(parts))


def store(body: Body, op: Store) -> None:
    """One element per lane of the execution dims, written by exactly one replica."""
    body.hazards.touch(op)
    table = body.placing.table_of(op)
    value = body.use(op.value, table)
    valid = condition_of(body.use(op.valid, table) if op.valid is not None else None)
    pointer = buffers.pointer(body, op.target)
    offset = offset_of(body, op.target, op.coordinates, table)
    text = f"it_store({pointer}, {offset.text}, {stored(value).text});"
    condition = condition_text(op.dims, table, valid)
    vector = vector_of(body, op, op.dims, table)

    def plain() -> None:
        if vector is None:
            body.loops.act(f"{condition}{text}", table, table.looped(op.dims), op.span)
        else:
            vectored.store(body, op, vector, stored(value), f"{pointer}, {offset.text}", condition, text)

    if op.id in body.placing.widened:
        index, exchange = body.placing.widened[op.id]
        tables = (table, body.placing.tables[index], exchange)
        if turning.store(body, op, stored(value), pointer, tables, plain):
            return
    plain()


def condition_text(dims: Sequence[Dim], table: Table, valid: Value | None) -> str:
    """``if (...) `` for an effect: the lanes that are active, in one replica each; "" if all are."""
    parts = []
    if replica := replica_text(table, dims):
        parts.append(replica)
    if valid is not None:
        parts.append(valid.at(Prec.AND_ALSO) if parts else valid.text)
    return f"if ({' && '.join(parts)}) " if parts else ""


def replica_text(table: Table, dims: Sequence[Dim]) -> str:
    """What is true in one replica of a fragment over ``dims``, "" if there is only one."""
    spare = table.spare(dims)
    if not spare:
        return ""
    whole = (1 << table.thread_bits) - 1
    if spare == whole:
        return "thread == 0"
    low = spare & -spare
    if spare == whole & ~(low - 1):
        return f"thread < {low}"
    return f"(thread & {spare}) == 0"


def stored(value: Value) -> Value:
    """A value as an element in memory: index values are 64-bit there."""
    value = typed(value)
    if value.dtype.kind == "index" and value.width is not Width.LONG:
        return replace(value, text=f"({stored_type(value.dtype)}){value.atom}", prec=Prec.UNARY)
    return value


def offset_of(body: Body, source: View | Buffer, coordinates: Sequence[Fragment], table: Table) -> Value:
    """The element offset: coordinate times stride for each axis."""
    values = [body.use(c, table) for c in coordinates]
    dims = tuple(dict.fromkeys(d for v in values for d in v.dims))
    terms: list[str] = []
    if isinstance(source, Buffer):
        body.context.bounds.require(elements(source))
        terms += _slice(body, source)
    for axis, (coordinate, value) in enumerate(zip(coordinates, values, strict=True)):
        term = _term(body, source, axis, coordinate, value)
        if term:
            terms.append(term)
    text = " + ".join(terms) or "0"
    prec = Prec.SUM if " + " in text else Prec.PRODUCT
    return Value(text=text, prec=prec, dtype=INDEX, dims=dims, refs=union_refs(values))


def _term(body: Body, source: View | Buffer, axis: int, coordinate: Fragment, value: Value) -> str:
    """Coordinate times stride, empty for zero."""
    if value.literal and value.text == "0":
        return ""
    stride = _stride(body, source, axis)
    if stride.literal and stride.text == "1":
        return value.at(Prec.SUM)
    if stride.literal and value.literal:
        return literal(number_of(stride) * number_of(value), INDEX).text
    if stride.literal:
        value = _roomy(body, coordinate, value, number_of(stride))
    return f"{value.at(Prec.PRODUCT)} * {stride.at(Prec.UNARY)}"


def _roomy(body: Body, coordinate: Fragment, value: Value, stride: int) -> Value:
    """An int coordinate times a constant stride may need more than 32 bits."""
    if value.width is not Width.SMALL:
        return value
    interval = body.context.bounds.interval(coordinate)
    ends = [] if interval is None else [interval.low.const, interval.high.const]
    if ends and all(e is not None and INT32_MIN <= e * stride <= INT32_MAX for e in ends):
        return value
    return replace(value, text=f"(long long){value.atom}", prec=Prec.UNARY)


def _stride(body: Body, source: View | Buffer, axis: int) -> Value:
    if isinstance(source, Buffer):
        rest = const(1)
        for extent in source.shape[axis + 1 :]:
            rest = rest * extent
        return body.context.extents.write(rest)
    declared = source.strides[axis] if source.strides is not None else None
    if isinstance(declared, int):
        return literal(declared, INDEX)
    name = body.context.signature.stride(source, axis)
    return Value(text=name, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)


def elements(buffer: Buffer) -> Extent:
    """Elements of one copy of the buffer."""
    size = const(1)
    for extent in buffer.shape:
        size = size * extent
    return size


def _slice(body: Body, buffer: Buffer) -> list[str]:
    """Offset of this program instance's slice of the workspace."""
    if buffer.scope == "invocation" or buffer.id in body.buffers:
        return []
    size = elements(buffer)
    program = f"(long long){body.context.program_id}"
    return [program if size.const == 1 else f"{program} * {body.context.extents.write(size).at(Prec.UNARY)}"]
