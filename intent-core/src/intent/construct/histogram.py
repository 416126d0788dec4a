"""Histograms as values: the count of a bin is a sum over all values of "is it this bin" (spec: logical-program 6)."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.accumulate import accumulate
from intent.construct.context import Context, rule
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.construct.traversal import walk_axes
from intent.types.dtypes import INDEX

At = tuple[Point, ...]


@rule(kir.Histogram)
def histogram(c: Context, op: kir.Histogram, index: int, at: At, frame: Frame) -> Point:
    """The count at one bin; values walk inside the instance."""
    e = c.emitter
    (bin_,) = at
    values, counts = op.values, op.result
    axes = [
        (k, c.analysis.classes.label((values.id, k)), n, c.traversal((values.id, k)))
        for k, n in enumerate(values.shape)
    ]
    walk = walk_axes(c, axes, at, frame)
    where = tuple(walk.points[k] for k in range(values.rank))
    value = c.evaluate(values, where, frame)
    # Compared as coordinates: narrowing the bin to the values' dtype could make it another bin.
    wide = e.emit(ph.Cast, ((INDEX, value.fragment.dims),), value=value.fragment)[0]
    tests = {e.compare("eq", wide, bin_.fragment), *walk.members}
    if op.valid is not None:
        tests.add(c.evaluate(op.valid, where, frame).fragment)
    hit = e.conjunction(tests)
    assert hit is not None
    hit = e.broadcast(hit, walk.lanes)
    one = e.emit(ph.Cast, ((counts.dtype, hit.dims),), value=hit)[0]
    # Each lane counts on its own; lanes meet once, after the loops.
    zero = e.constant(0, counts.dtype)
    step = lambda acc: one if acc is None else e.pointwise("add", acc, one)  # noqa: E731
    total = accumulate(c, walk.loops, zero, step, one.dims, counts.name)
    if walk.lanes:
        dims = tuple(d for d in total.dims if d not in walk.lanes)
        payload: dict[str, Any] = {"operands": (total,), "dims": walk.lanes, "kind": "sum"}
        total = e.emit(ph.Reduce, ((counts.dtype, dims),), name=counts.name, **payload)[0]
    return Point(total, bin_.members)
