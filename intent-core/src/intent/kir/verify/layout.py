"""Rules of operations that move elements without computing: broadcast, reshape, transpose, join."""

from __future__ import annotations

from collections.abc import Iterator

from intent.kir.ops import Broadcast, Join, Reshape, Transpose
from intent.kir.verify.rule import Facts, count, op_rule
from intent.types import Extent
from intent.types.extent import const


@op_rule(Broadcast, Join, Reshape, Transpose)
def layout_keeps_dtype(op: Broadcast | Join | Reshape | Transpose, _: Facts) -> Iterator[str]:
    """Moving elements keeps their dtype."""
    operands = (op.lhs, op.rhs) if isinstance(op, Join) else (op.value,)
    if any(v.dtype != op.result.dtype for v in operands):
        yield "moving elements keeps their dtype"


@op_rule(Broadcast)
def broadcast_axes(op: Broadcast, facts: Facts) -> Iterator[str]:
    """The axis map is strictly increasing, within the result, and every extent may spread to its axis."""
    rank = op.result.rank
    if len(op.axes) != op.value.rank:
        yield "the axis map has one entry per operand axis"
        return
    if list(op.axes) != sorted(set(op.axes)) or any(not 0 <= a < rank for a in op.axes):
        yield f"the axis map {op.axes} is not strictly increasing within rank {rank}"
        return
    for extent, axis in zip(op.value.shape, op.axes, strict=True):
        if not facts.spreads(extent, op.result.shape[axis]):
            yield f"extent {extent} does not spread to {op.result.shape[axis]}"


@op_rule(Reshape)
def reshape_count(op: Reshape, facts: Facts) -> Iterator[str]:
    """The element count is the same, by identity or by a launch condition."""
    before, after = count(op.value.shape), count(op.result.shape)
    if not facts.same(before, after) and not facts.same(*_apart(op.value.shape, op.result.shape)):
        yield f"{before} elements become {after}"


def _apart(a: tuple[Extent, ...], b: tuple[Extent, ...]) -> tuple[Extent, Extent]:
    """The element counts of two shapes without the extents that they share."""
    rest = list(b)
    alone: list[Extent] = []
    for extent in a:
        if extent in rest:
            rest.remove(extent)
        else:
            alone.append(extent)
    return count(alone), count(rest)


@op_rule(Transpose)
def transpose_permutation(op: Transpose, _: Facts) -> Iterator[str]:
    """The permutation names every axis once and the result's extents follow it."""
    if sorted(op.permutation) != list(range(op.value.rank)):
        yield f"{op.permutation} is not a permutation of the axes"
    elif op.result.shape != tuple(op.value.shape[a] for a in op.permutation):
        yield "the result's extents do not follow the permutation"


@op_rule(Join)
def join_shape(op: Join, _: Facts) -> Iterator[str]:
    """Join takes two equal shapes and adds one trailing axis of two (spec: logical-program 2)."""
    if op.lhs.shape != op.rhs.shape or op.result.shape != (*op.lhs.shape, const(2)):
        yield "join takes equal shapes and adds a trailing axis of two"
