"""Structured sparse contractions: a sum over the stored elements only (spec: logical-program 6).

A dense element that no stored one meets takes no part, whatever it is.
"""

from __future__ import annotations

from typing import Final

from intent import kir
from intent import physical as ph
from intent.construct.accumulate import accumulate
from intent.construct.context import Context, rule
from intent.construct.contract import free_coordinates
from intent.construct.frame import Frame
from intent.construct.point import Point, members_of
from intent.construct.pointwise import pointwise_point
from intent.construct.reduce import mask_dead
from intent.construct.scaled import cast_to
from intent.construct.traversal import walk_axes
from intent.diagnostics import NotSupportedYet
from intent.types.extent import const

At = tuple[Point, ...]

GROUPS: Final = {"one_of_two": (1, 2), "two_of_four": (2, 4)}
"""Stored and logical elements of one group."""


@rule(kir.SparseContract)
def sparse_contract(c: Context, op: kir.SparseContract, index: int, at: At, frame: Frame) -> Point:
    """A loop over the stored elements of the compressed axis; each picks its dense partner by its position."""
    if len(op.reduce) != 1:
        raise NotSupportedYet(construct="a sparse contraction over several axes", span=op.span)
    e = c.emitter
    ((axis, dense_axis),) = op.reduce
    left, right = free_coordinates(op.compressed, op.dense, op, at)
    source = (op.compressed.id, axis)
    axes = [(axis, c.analysis.classes.label(source), op.compressed.shape[axis], c.traversal(source))]
    walk = walk_axes(c, axes, at, frame)
    left[axis] = stored = walk.points[axis]
    value = c.evaluate(op.compressed, tuple(left[k] for k in range(op.compressed.rank)), frame)
    right[dense_axis] = _position(c, op, axis, left, stored, frame)
    dense = c.evaluate(op.dense, tuple(right[k] for k in range(op.dense.rank)), frame)
    dtype = op.result.dtype
    zero = e.constant(0.0 if dtype.is_float else 0, dtype)
    product = e.pointwise("mul", cast_to(c, value.fragment, dtype), cast_to(c, dense.fragment, dtype))
    term = e.broadcast(mask_dead(c, product, walk.members, zero), walk.lanes)
    if walk.lanes:
        dims = tuple(d for d in term.dims if d not in walk.lanes)
        term = e.emit(ph.Reduce, ((dtype, dims),), operands=(term,), dims=walk.lanes, kind="sum")[0]
    step = lambda acc: term if acc is None else e.pointwise("add", acc, term)  # noqa: E731
    total = accumulate(c, walk.loops, zero, step, term.dims, op.result.name)
    return Point(total, members_of(at))


def _position(
    c: Context, op: kir.SparseContract, axis: int, left: dict[int, Point], stored: Point, frame: Frame
) -> Point:
    """The logical coordinate of a stored element: its group's first, plus the position that the metadata holds."""
    e = c.emitter
    kept, size = GROUPS[op.format]
    group, slot = stored, None
    if kept > 1:
        count = e.index(kept)
        group = Point(e.pointwise("floordiv", stored.fragment, count), stored.members)
        slot = e.pointwise("mod", stored.fragment, count)
    positions = []
    for value in op.metadata:
        where = dict(left)
        where[axis] = Point(group.fragment, group.members, const(0), value.shape[axis] - 1)
        positions.append(c.evaluate(value, tuple(where[k] for k in range(value.rank)), frame))
    position = positions[0].fragment
    for k in range(1, kept):
        assert slot is not None
        position = e.pointwise("select", e.compare("eq", slot, e.index(k)), positions[k].fragment, position)
    members = members_of(positions)
    first = pointwise_point(c, "mul", (group, Point(e.index(size), low=const(size), high=const(size))))
    return pointwise_point(c, "add", (first, Point(position, members)))
