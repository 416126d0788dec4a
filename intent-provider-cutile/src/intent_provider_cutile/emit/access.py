"""Loads and stores: pointer arithmetic, masks and fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Atomic, Buffer, Dim, Fragment, Load, Store, View
from intent.provider.emission import INT32_MAX, INT32_MIN, Width
from intent.provider.emission.python import Prec, Value, expanded, union_dims
from intent.types import Extent
from intent.types.dtypes import BOOL, INDEX
from intent.types.extent import const
from intent_provider_cutile.emit.literals import literal, typed
from intent_provider_cutile.spelling import PROVIDER

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body


def load(body: Body, op: Load) -> None:
    """``load_offset``; without ``valid`` it has neither mask nor padding."""
    source = op.source
    valid = body.use(op.valid) if op.valid is not None else None
    if op.id in body.context.ahead:
        valid = _within(body, op, valid)
    offset = _element(body, source, op.coordinates)
    dims = union_dims(op.result.dims, [offset, *([valid] if valid else [])])
    arguments = [_shaped(body, offset, dims).text]
    fill = body.use(op.fill) if op.fill is not None else literal(0, source.dtype)
    if valid is not None:
        arguments += [
            f"mask={expanded(typed(valid), dims).text}", f"padding_value={_stored(body, fill, dims)}"
        ]  # fmt: skip
    text = f"{body.memory(source)}.load_offset({', '.join(arguments)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=source.dtype, dims=dims)
    body.define(op.result, value, op.span, statement=True, hint=f"{source.name}_value")


def _within(body: Body, op: Load, valid: Value | None) -> Value | None:
    """``valid``, and that coordinates are in bounds where neither ``valid`` nor their lanes say so.

    Lanes of an axis are in bounds whatever the loop does, and those behind its end are masked.
    """
    for coordinate, extent, proof in zip(op.coordinates, op.source.shape, op.proofs, strict=True):
        value = body.use(coordinate)
        tested = proof.kind in ("guard", "static") or (proof.kind == "region" and coordinate.dims)
        if tested or value.literal:
            continue
        end = body.context.extents.write(extent)
        text = f"({value.at(Prec.SUM)} >= 0) & ({value.at(Prec.SUM)} < {end.at(Prec.SUM)})"
        test = Value(text=text, prec=Prec.BITAND, dtype=BOOL, dims=value.dims, refs=value.refs | end.refs)
        if valid is None:
            valid = test
            continue
        dims = union_dims(body.context.order, [valid, test])
        both = f"{expanded(typed(valid), dims).at(Prec.BITAND)} & {expanded(test, dims).at(Prec.BITAND)}"
        valid = Value(text=both, prec=Prec.BITAND, dtype=BOOL, dims=dims, refs=valid.refs | test.refs)
    return valid


def store(body: Body, op: Store) -> None:
    """``store_offset`` over the execution dims."""
    target = op.target
    value = body.use(op.value)
    valid = body.use(op.valid) if op.valid is not None else None
    offset = _shaped(body, _element(body, target, op.coordinates), op.dims)
    arguments = [offset.text, _stored(body, value, op.dims)]
    if valid is not None:
        arguments.append(f"mask={expanded(typed(valid), op.dims).text}")
    body.writer.statement(f"{body.memory(target)}.store_offset({', '.join(arguments)})", op.span)


def _stored(body: Body, value: Value, dims: Sequence[Dim]) -> str:
    """A value of exactly the element type, or a literal that takes it."""
    if value.literal:
        return value.text
    if value.dtype.kind == "index":
        value = body.widen(value, Width.LONG)
    return expanded(value, dims).text


def _shaped(body: Body, offset: Value, dims: Sequence[Dim]) -> Value:
    """Offsets with exactly ``dims``: an access takes its shape from them."""
    return offset if offset.dims == tuple(dims) else body.full(offset, dims)


def _element(body: Body, source: View | Buffer, coordinates: Sequence[Fragment]) -> Value:
    """Coordinate times stride, summed over the axes, in elements from the array's first."""
    return element(body, source, coordinates, [body.use(c) for c in coordinates], body.context.order)


def element(
    body: Body,
    source: View | Buffer,
    coordinates: Sequence[Fragment],
    values: Sequence[Value],
    order: Sequence[Dim],
) -> Value:
    """The same of ``values`` that stand for the coordinates, whose dims are in ``order``."""
    dims = union_dims(order, values)
    terms = [_slice(body, source)] if isinstance(source, Buffer) else []
    for axis, (coordinate, value) in enumerate(zip(coordinates, values, strict=True)):
        terms.append(_offset(body, source, axis, coordinate, expanded(value, dims)))
    terms = [term for term in terms if term]
    if not terms:
        return literal(0, INDEX)
    text = " + ".join(terms)
    if text.isdecimal():
        return literal(int(text), INDEX)
    prec = Prec.ATOM if text.isidentifier() else Prec.SUM
    return Value(text=text, prec=prec, dtype=INDEX, dims=dims, refs=body.refs(values))


def offset_of(body: Body, op: Atomic) -> Value:
    """The element offsets of an atomic, over its execution dims."""
    return _shaped(body, _element(body, op.target, op.coordinates), op.dims)


def _offset(body: Body, source: View | Buffer, axis: int, coordinate: Fragment, value: Value) -> str:
    """Coordinate times stride, empty for zero."""
    if value.literal and value.text == "0":
        return ""
    stride = stride_of(body, source, axis)
    if stride.literal and stride.text == "1":
        return value.at(Prec.PRODUCT)
    if stride.literal and value.literal:
        return str(int(stride.text) * int(value.text))
    if stride.literal:
        value = _roomy(body, coordinate, value, int(stride.text))
    return f"{value.at(Prec.PRODUCT)} * {stride.at(Prec.UNARY)}"


def _roomy(body: Body, coordinate: Fragment, value: Value, stride: int) -> Value:
    """An int32 coordinate times a constant stride may need more than 32 bits."""
    if value.width is not Width.SMALL:
        return value
    interval = body.context.bounds.interval(coordinate)
    ends = [] if interval is None else [interval.low.const, interval.high.const]
    fits = bool(ends) and all(e is not None and INT32_MIN <= e * stride <= INT32_MAX for e in ends)
    return value if fits else body.widen(value, Width.INDEX)


def stride_of(body: Body, source: View | Buffer, axis: int) -> Value:
    """The stride of an axis in elements."""
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


def _slice(body: Body, buffer: Buffer) -> str:
    """Offset of this program instance's slice of the workspace."""
    if buffer.scope == "invocation":
        return ""
    size: Extent = const(1)
    for extent in buffer.shape:
        size = size * extent
    body.context.bounds.require(size)
    program = body.context.program_id
    if program is None:
        raise CapabilityError(PROVIDER, capability="a workspace outside a program", needed=buffer.name)
    if size.const == 1:
        return f"ct.astype({program.text}, ct.int64)"
    return f"ct.astype({program.text}, ct.int64) * {body.context.extents.write(size).at(Prec.UNARY)}"
