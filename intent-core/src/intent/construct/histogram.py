"""Histograms as values: counted at once for bins in lanes, else one test a bin (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.accumulate import accumulate, keep_sum
from intent.construct.context import Context, rule
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.construct.traversal import walk_axes
from intent.types import DType
from intent.types.dtypes import INDEX

At = tuple[Point, ...]


@rule(kir.Histogram)
def histogram(c: Context, op: kir.Histogram, index: int, at: At, frame: Frame) -> Point:
    """The counts at the bins that one coordinate names; values walk inside the instance."""
    e = c.emitter
    (bin_,) = at
    values, counts = op.values, op.result
    axes = [
        (k, c.analysis.classes.label((values.id, k)), n, c.traversal((values.id, k)))
        for k, n in enumerate(values.shape)
    ]
    walk = walk_axes(c, axes, at, frame, parts=True)
    where = tuple(walk.points[k] for k in range(values.rank))
    value = c.evaluate(values, where, frame).fragment
    tests = set(walk.members)
    if op.valid is not None:
        tests.add(c.evaluate(op.valid, where, frame).fragment)
    bins, first = _bins(c, bin_.fragment, {value, *tests})
    zero = e.constant(0, counts.dtype)
    if bins is not None and walk.lanes:
        if first is not None:
            value = e.pointwise("sub", _as_index(c, value), first)
        value = e.broadcast(value, walk.lanes)
        valid = e.conjunction(tests)
        counted: dict[str, Any] = {"values": value, "valid": valid, "dims": walk.lanes, "bins": bins}
        given = e.union((value, *((valid,) if valid is not None else ())))
        dims = e.order.sort((*(d for d in given if d not in walk.lanes), bins))
        types = ((counts.dtype, dims),)
        count = lambda acc: e.emit(  # noqa: E731
            ph.Histogram, types, name=counts.name, accumulator=acc, **counted
        )[0]
        total = accumulate(c, walk.loops, zero, count, dims, counts.name)
        if walk.part:
            keep_sum(c, total)
        return Point(total, bin_.members)
    # Each lane counts on its own; lanes meet once, after the loops.
    one = _hits(c, value, bin_.fragment, tests, walk.lanes, counts.dtype)
    step: Callable[[ph.Fragment | None], ph.Fragment] = lambda acc: (  # noqa: E731
        one if acc is None else e.pointwise("add", acc, one)
    )
    total = accumulate(c, walk.loops, zero, step, one.dims, counts.name)
    if walk.lanes:
        dims = tuple(d for d in total.dims if d not in walk.lanes)
        payload: dict[str, Any] = {"operands": (total,), "dims": walk.lanes, "kind": "sum"}
        total = e.emit(ph.Reduce, ((counts.dtype, dims),), name=counts.name, **payload)[0]
    if walk.part:
        keep_sum(c, total)
    return Point(total, bin_.members)


def _bins(
    c: Context, bin_: ph.Fragment, counted: set[ph.Fragment]
) -> tuple[ph.Dim | None, ph.Fragment | None]:
    """The lanes that the bins are, one after the other, and the bin of lane 0 (None: the first one).

    No lanes where the bins are something else, or what is counted has these lanes too.
    """
    e = c.emitter
    op, first = e.definition.get(bin_.id), None
    if isinstance(op, ph.Pointwise) and op.fn in ("add", "sub"):
        a, b = op.operands
        if op.fn == "add" and a.uniform:
            a, b = b, a
        if not b.uniform:
            return None, None
        first = b if op.fn == "add" else e.pointwise("neg", b)
        op = e.definition.get(a.id)
    if not isinstance(op, ph.Lane) or any(op.dim in f.dims for f in counted):
        return None, None
    return op.dim, first


def _as_index(c: Context, value: ph.Fragment) -> ph.Fragment:
    """As a coordinate: narrowing the bin to the values' dtype could make it another bin."""
    return c.emitter.emit(ph.Cast, ((INDEX, value.dims),), value=value)[0]


def _hits(
    c: Context,
    value: ph.Fragment,
    bin_: ph.Fragment,
    tests: set[ph.Fragment],
    lanes: tuple[ph.Dim, ...],
    dtype: DType,
) -> ph.Fragment:
    """One where a value is that of the bin, over the lanes of the values and of the bin."""
    e = c.emitter
    hit = e.conjunction({e.compare("eq", _as_index(c, value), bin_), *tests})
    assert hit is not None
    hit = e.broadcast(hit, lanes)
    return e.emit(ph.Cast, ((dtype, hit.dims),), value=hit)[0]
