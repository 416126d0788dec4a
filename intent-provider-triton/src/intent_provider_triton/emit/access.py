"""Loads and stores: pointer arithmetic, masks and fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from intent.diagnostics import CapabilityError
from intent.physical import Buffer, Dim, Fragment, Load, Store, View
from intent.provider.emission import INT32_MAX, INT32_MIN, Width
from intent.provider.emission.python import Prec, Value, expanded, shape_text, union_dims
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import const
from intent_provider_triton.emit.literals import call_safe, literal
from intent_provider_triton.spelling import PROVIDER

if TYPE_CHECKING:
    from intent_provider_triton.emit.body import Body


_EVICTION: Final = {"again": "evict_last", "last": "evict_first", "once": "evict_first"}


def load(body: Body, op: Load) -> None:
    """``tl.load``; without ``valid`` it has neither mask nor fill."""
    source = op.source
    valid = body.use(op.valid) if op.valid is not None else None
    pointer = pointer_of(body, source, op.coordinates)
    dims = union_dims(op.result.dims, [pointer, *([valid] if valid else [])])
    arguments = [shaped(pointer, dims).text]
    fill = body.use(op.fill) if op.fill is not None else literal(0, source.dtype)
    if valid is not None:
        arguments += [f"mask={expanded(valid, dims).text}", f"other={_bare(fill, dims)}"]
    if op.reread:
        arguments.append(f'eviction_policy="{_EVICTION[op.reread]}"')
    text = f"tl.load({', '.join(arguments)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=source.dtype, dims=dims)
    body.define(op.result, value, op.span, statement=True, hint=f"{source.name}_value")


def store(body: Body, op: Store) -> None:
    """``tl.store`` over the execution dims."""
    target = op.target
    value = body.use(op.value)
    valid = body.use(op.valid) if op.valid is not None else None
    pointer = shaped(pointer_of(body, target, op.coordinates), op.dims)
    arguments = [pointer.text, _bare(value, op.dims)]
    if valid is not None:
        arguments.append(f"mask={expanded(valid, op.dims).text}")
    body.writer.statement(f"tl.store({', '.join(arguments)})", op.span)


def _bare(value: Value, dims: Sequence[Dim]) -> str:
    """A value that Triton casts to the element type; only literals that survive its default types stay bare."""
    if not value.literal:
        return expanded(value, dims).text
    plain = value.text in _SAFE_FLOATS if value.dtype.is_float else value.width is Width.SMALL
    return value.text if plain else call_safe(value).text


_SAFE_FLOATS = frozenset({"0.0", "1.0", "-1.0", 'float("inf")', '-float("inf")', 'float("nan")'})


def shaped(pointer: Value, dims: Sequence[Dim]) -> Value:
    """A pointer tensor with exactly ``dims``: Triton takes the shape of an access from its pointers."""
    if pointer.dims == tuple(dims):
        return pointer
    text = f"tl.broadcast_to({expanded(pointer, dims).text}, {shape_text(dims)})"
    return replace(pointer, text=text, prec=Prec.ATOM, dims=tuple(dims))


def pointer_of(body: Body, source: View | Buffer, coordinates: Sequence[Fragment]) -> Value:
    """Base plus coordinate times stride for each axis, broadcast over the union of the coordinates' dims."""
    values = [_short(body.use(c)) for c in coordinates]
    dims = union_dims(body.context.order, values)
    text = body.view_pointer(source)
    if isinstance(source, Buffer):
        body.context.bounds.require(_elements(source))
        text += _slice(body, source)
    for axis, (coordinate, value) in enumerate(zip(coordinates, values, strict=True)):
        term = _offset(body, source, axis, coordinate, expanded(value, dims))
        if term:
            text += f" + {term}"
    prec = Prec.SUM if " + " in text else Prec.ATOM
    return Value(text=text, prec=prec, dtype=source.dtype, dims=dims, refs=body.refs(values))


def _offset(body: Body, source: View | Buffer, axis: int, coordinate: Fragment, value: Value) -> str:
    """Coordinate times stride, empty for zero."""
    if value.literal and value.text == "0":
        return ""
    stride = _stride(body, source, axis)
    if stride.literal and stride.text == "1":
        return value.at(Prec.PRODUCT)
    if stride.literal and value.literal:
        return str(int(stride.text) * int(value.text))
    if stride.literal:
        value = _roomy(body, coordinate, value, int(stride.text))
    return f"{value.at(Prec.PRODUCT)} * {stride.at(Prec.UNARY)}"


def _short(value: Value) -> Value:
    """A coordinate in INDEX: where a lane accesses anything it is in bounds, whatever was computed on the way."""
    if value.width is not Width.LONG or value.literal:
        return value
    return replace(value, text=f"{value.atom}.to(INDEX)", prec=Prec.ATOM, width=Width.INDEX)


def _roomy(body: Body, coordinate: Fragment, value: Value, stride: int) -> Value:
    """An int32 coordinate times a constant stride may need more than 32 bits."""
    if value.width is not Width.SMALL:
        return value
    interval = body.context.bounds.interval(coordinate)
    ends = [] if interval is None else [interval.low.const, interval.high.const]
    fits = bool(ends) and all(e is not None and INT32_MIN <= e * stride <= INT32_MAX for e in ends)
    return value if fits else body.widen(value, Width.INDEX)


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


def _elements(buffer: Buffer) -> Extent:
    """Elements of one copy of the buffer."""
    size = const(1)
    for extent in buffer.shape:
        size = size * extent
    return size


def _slice(body: Body, buffer: Buffer) -> str:
    """Offset of this program instance's slice of the workspace."""
    if buffer.scope == "invocation":
        return ""
    size = _elements(buffer)
    program = body.context.program_id
    if program is None:
        raise CapabilityError(PROVIDER, capability="a workspace outside a program", needed=buffer.name)
    if size.const == 1:
        return f" + {program.text}.to(tl.int64)"
    return f" + {program.text}.to(tl.int64) * {body.context.extents.write(size).at(Prec.UNARY)}"
