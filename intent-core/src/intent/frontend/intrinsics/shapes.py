"""Making values and changing their shape (spec: logical-program 2)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import InvalidPermutation, NotConstexpr, ReshapeCount, ShapeMismatch
from intent.frontend.builder import Builder
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.values import FrontValue, Literal, Record, Tensor, Tuple
from intent.kir import Join, Reshape, Transpose
from intent.types import DType, Extent
from intent.types.extent import const, floordiv

__all__ = ["LOWERINGS", "conform", "reshaped", "transposed", "zero"]


def zero(dtype: DType) -> Literal:
    """The additive zero of a dtype, False for bool."""
    return Literal(value=False if dtype.kind == "bool" else 0)


def conform(builder: Builder, tensor: Tensor, shape: tuple[Extent, ...], what: str) -> Tensor:
    """``tensor`` as a value of exactly ``shape``; extents that are not one identity become launch conditions.

    Raises ShapeMismatch for another rank and for constant extents that differ.
    """
    if tensor.shape == shape:
        return tensor
    if tensor.rank != len(shape):
        raise ShapeMismatch(what, {"the value": tensor.shape, "the shape needed": shape}, span=builder.span)
    for found, needed in zip(tensor.shape, shape, strict=True):
        builder.equal_extents(found, needed, f"equal extents in {what}", what=what)
    return builder.spread(tensor, tuple(range(len(shape))), shape)


def transposed(builder: Builder, tensor: Tensor, permutation: tuple[int, ...]) -> Tensor:
    """Axis i of the result is axis ``permutation[i]``; the identity emits nothing."""
    if permutation == tuple(range(tensor.rank)):
        return tensor
    shape = tuple(tensor.shape[axis] for axis in permutation)
    value = builder.emit_one(Transpose, tensor.dtype, shape, value=tensor.value, permutation=permutation)
    return Tensor(value=value)


def reshaped(builder: Builder, tensor: Tensor, shape: tuple[Extent, ...]) -> Tensor:
    """Row-major reinterpretation; counts that are not one identity become a launch condition."""
    if tensor.shape == shape:
        return tensor
    before, after = _different_part(tensor.shape, shape)
    if before is not after:
        impossible = before.const is not None and after.const is not None
        if impossible or _opaque(builder, before) or _opaque(builder, after):
            raise ReshapeCount(tensor.shape, shape, span=builder.span)
        whole = _count(tensor.shape), _count(shape)
        # Beside the extent of a slice, which has no value, the other extents have to agree on their own.
        counts = (before, after) if _opaque(builder, whole[0]) else whole
        builder.condition("equal", *counts, "the element count of I.reshape")
    value = builder.emit_one(Reshape, tensor.dtype, shape, value=tensor.value)
    return Tensor(value=value, extent=tensor.extent if not shape and not tensor.shape else None)


def _opaque(builder: Builder, extent: Extent) -> bool:
    return any(atom in builder.opaque for atom in extent.atoms())


def _different_part(a: tuple[Extent, ...], b: tuple[Extent, ...]) -> tuple[Extent, Extent]:
    """The element counts of both shapes without the extents that they have in common."""
    rest = list(b)
    alone = []
    for extent in a:
        if extent in rest:
            rest.remove(extent)
        else:
            alone.append(extent)
    return _count(tuple(alone)), _count(tuple(rest))


def _count(shape: tuple[Extent, ...]) -> Extent:
    total = const(1)
    for extent in shape:
        total = total * extent
    return total


def _full(call: Call) -> FrontValue:
    dtype = call.some_dtype("dtype")
    shape = call.shape("shape")
    fill = call.builder.typed(call.front("fill"), dtype, call.what)
    if fill.shape:
        raise call.wrong_kind("fill", "a scalar")
    return call.builder.full(shape, fill)


def _zeros(call: Call) -> FrontValue:
    dtype = call.some_dtype("dtype")
    return call.builder.full(call.shape("shape"), call.builder.materialize(zero(dtype), dtype))


def _reshape(call: Call) -> FrontValue:
    value = call.data("value")
    front = call.front("shape")
    items = front.items if isinstance(front, Tuple) else (front,)
    open_axes = [k for k, item in enumerate(items) if isinstance(item, Literal) and item.value == -1]
    if not open_axes:
        return reshaped(call.builder, value, call.shape("shape"))
    known = [call.extent("shape", item) for k, item in enumerate(items) if k not in open_axes]
    if len(open_axes) > 1 or _count(tuple(known)).const == 0:
        shown = [str(e) for e in known]
        for k in open_axes:
            shown.insert(k, "-1")
        reason = "I.reshape can infer one extent, and none beside a zero extent"
        raise ReshapeCount(value.shape, shown, reason=reason, span=call.builder.span)
    inferred = _inferred(call, value, tuple(known))
    shape = (*known[: open_axes[0]], inferred, *known[open_axes[0] :])
    return reshaped(call.builder, value, shape)


def _inferred(call: Call, value: Tensor, known: tuple[Extent, ...]) -> Extent:
    """The extent that ``-1`` stands for: what the known extents leave over."""
    left, divisor = _different_part(value.shape, known)
    if divisor.const is None:
        call.builder.condition("at_least", divisor, const(1), "an inferred extent in I.reshape")
    elif left.const is not None and left.const % divisor.const:
        shown = (*map(str, known), "-1")
        raise ReshapeCount(
            value.shape, shown, reason="the extent of -1 is not an integer", span=call.builder.span
        )
    return floordiv(left, divisor)


def _transpose(call: Call) -> FrontValue:
    value = call.data("value")
    if not call.given("perm"):
        return transposed(call.builder, value, tuple(reversed(range(value.rank))))
    given = call.integers("perm")
    permutation = tuple(axis + value.rank if axis < 0 else axis for axis in given)
    if sorted(permutation) != list(range(value.rank)):
        raise InvalidPermutation(given, rank=value.rank, span=call.builder.span)
    return transposed(call.builder, value, permutation)


def _join(call: Call) -> FrontValue:
    lhs, rhs = call.builder.unify(call.front("lhs"), call.front("rhs"), what=call.what)
    if lhs.rank != rhs.rank:
        shapes = {call.text("lhs"): lhs.shape, call.text("rhs"): rhs.shape}
        raise ShapeMismatch(call.what, shapes, fix="join takes two equal shapes", span=call.builder.span)
    rhs = conform(call.builder, rhs, lhs.shape, call.what)
    value = call.builder.emit_one(Join, lhs.dtype, (*lhs.shape, const(2)), lhs=lhs.value, rhs=rhs.value)
    return Tensor(value=value)


def _record(call: Call) -> FrontValue:
    fields = call.arguments["fields"]
    if not fields:
        raise NotConstexpr("the fields of I.record", found="no field", span=call.builder.span)
    return Record(names=tuple(fields), items=tuple(fields.values()))


LOWERINGS: Final[dict[str, Lower]] = {
    "full": _full,
    "zeros": _zeros,
    "reshape": _reshape,
    "transpose": _transpose,
    "join": _join,
    "record": _record,
}
