"""Scans: an ordered prefix along one axis, in lanes or as a loop with a carry, never an order-free tree.

Asked for off its lane (shifted, gathered, transposed) a scan is held: whole in lanes where the axis is resident,
else in a program-private buffer that is filled once per owner.
"""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.combining import Combiner, combiner, has_loops
from intent.construct.context import Context, Slice, local_ordinal, rule
from intent.construct.frame import Frame
from intent.construct.held import Held, hold
from intent.construct.point import Point, members_of
from intent.construct.pointwise import pointwise_point
from intent.construct.reduce import mask_dead
from intent.construct.relocate import pick, relocate
from intent.construct.traversal import carry, close_loop, open_loop
from intent.types.extent import const

At = tuple[Point, ...]


@rule(kir.Scan)
def scan(c: Context, op: kir.Scan, index: int, at: At, frame: Frame) -> Point:
    """One component of the prefix at ``at``."""
    source = op.operands[0]
    free = tuple(p for k, p in enumerate(at) if k != op.axis)
    members = members_of(at)
    inner = c.traversal((source.id, op.axis))
    e = source.shape[op.axis]
    if e in c.slices:
        return Point(_in_slice(c, op, free, at, c.slices[e], frame)[index], members)
    if (inner.mode == "resident" and not has_loops(op)) or e.const == 1:
        home, results = _in_lanes(c, op, free, frame)
        where = _with_axis(free, op.axis, home)
        moved = relocate(c, 0, results[index], where, at, frozenset({op.axis}))
        return Point(moved, members)
    held = _in_buffer(c, op, free, frame)
    value = held[index].read(c, at[op.axis])
    return Point(value, members)


def _with_axis(free: At, axis: int, point: Point) -> At:
    return (*free[:axis], point, *free[axis:])


def _in_slice(
    c: Context, op: kir.Scan, free: At, at: At, current: Slice, frame: Frame
) -> tuple[ph.Fragment, ...]:
    """The prefix inside the current block of a folded axis: the block's lanes, scanned on their own."""
    e = c.emitter
    combined = combiner(c, op)
    home = c.block_point(current.start, current.label, current.extent, current.block, free, frame)
    values = _elements(c, op, free, home, frame, combined, current)
    if current.block == 1:
        return tuple(values)
    (dim,) = home.fragment.dims
    results = _lane_scan(c, op, values, dim, combined, frame)
    here = _with_axis(free, op.axis, Point(e.lane(dim)))
    there = _with_axis(free, op.axis, Point(local_ordinal(c, current, at[op.axis].fragment)))
    return tuple(relocate(c, 0, r, here, there, frozenset({op.axis})) for r in results)


def _elements(
    c: Context,
    op: kir.Scan,
    free: At,
    ordinal: Point,
    frame: Frame,
    combined: Combiner,
    current: Slice | None = None,
) -> list[ph.Fragment]:
    """The scanned components at ordinal ``ordinal``; one earlier, beginning with the identity, when exclusive.

    In a slice the first and the last ordinal are those of the current block.
    """
    source = op.operands[0]
    members = ordinal.members
    if not op.inclusive:
        one = Point(c.emitter.index(1), low=const(1), high=const(1))
        shifted = pointwise_point(c, "add" if op.reverse else "sub", (ordinal, one))
        extent = source.shape[op.axis] if current is None else current.extent
        if op.reverse:
            # One earlier is one further: where that is inside, the member itself is.
            members = frozenset({c.emitter.compare("lt", shifted.fragment, c.extent(extent, frame).fragment)})
            if current is not None:
                end = c.emitter.pointwise("add", current.start, c.emitter.index(current.block))
                members |= {c.emitter.compare("lt", shifted.fragment, end)}
        else:
            first = c.emitter.index(0) if current is None else current.start
            members |= {c.emitter.compare("ge", shifted.fragment, first)}
        ordinal = Point(shifted.fragment, members, const(0), extent - 1)
    at = _with_axis(free, op.axis, ordinal)
    values = [c.evaluate(v, at, frame).fragment for v in op.operands]
    identities = combined.identities(free, frame)
    live = [mask_dead(c, v, members, i) for v, i in zip(values, identities, strict=True)]
    dims = c.emitter.union((*live, ordinal.fragment))
    return [c.emitter.broadcast(v, dims) for v in live]


def _lane_scan(
    c: Context, op: kir.Scan, values: list[ph.Fragment], dim: ph.Dim, combined: Combiner, frame: Frame
) -> tuple[ph.Fragment, ...]:
    payload: dict[str, Any] = {
        "operands": tuple(values),
        "dim": dim,
        "kind": op.kind,
        "reverse": op.reverse,
    }
    if op.kind is None:
        captures, region = combined.region(frame)
        payload |= {"captures": captures, "combine": region}
    return c.emitter.emit(
        ph.Scan, tuple((v.dtype, v.dims) for v in values), name=op.results[0].name, **payload
    )


def _in_lanes(c: Context, op: kir.Scan, free: At, frame: Frame) -> tuple[Point, tuple[ph.Fragment, ...]]:
    source = op.operands[0]
    e = source.shape[op.axis]
    label = c.analysis.classes.label((source.id, op.axis))
    combined = combiner(c, op)
    if e.const == 1:
        only = Point(c.emitter.index(0), low=const(0), high=const(0))
        return only, tuple(_elements(c, op, free, only, frame, combined))
    home = c.resident_point(label, e, c.traversal((source.id, op.axis)).size, free, frame)
    (dim,) = home.fragment.dims
    values = _elements(c, op, free, home, frame, combined)
    return home, _lane_scan(c, op, values, dim, combined, frame)


def _in_buffer(c: Context, op: kir.Scan, free: At, frame: Frame) -> tuple[Held, ...]:
    """An ordered loop over blocks with the running prefix as carry; every block goes to the buffer."""
    key = ("scan", op.id, tuple(p.key for p in free))
    return hold(c, key, free, frame, lambda: _fill(c, op, free, frame))


def _fill(c: Context, op: kir.Scan, free: At, frame: Frame) -> tuple[Held, ...]:
    source = op.operands[0]
    e = source.shape[op.axis]
    label = c.analysis.classes.label((source.id, op.axis))
    block = 1 if has_loops(op) else c.traversal((source.id, op.axis)).size
    combined = combiner(c, op)
    extent = c.extent(e, frame)
    loop = open_loop(c, c.emitter.index(0), extent.fragment, c.emitter.index(block), label)
    start = loop.counter
    if op.reverse:
        # The last block first: start = (ceil(E / block) - 1) * block - counter.
        last = c.emitter.pointwise("sub", extent.fragment, c.emitter.index(1))
        top = c.emitter.pointwise(
            "mul", c.emitter.pointwise("floordiv", last, c.emitter.index(block)), c.emitter.index(block)
        )
        start = c.emitter.pointwise("sub", top, loop.counter)
    point = c.block_point(start, label, e, block, free, frame)
    values = _elements(c, op, free, point, frame, combined)
    dims = tuple(d for d in values[0].dims if d not in point.fragment.dims)
    accs = tuple(carry(c, loop, v.dtype, dims, r.name) for v, r in zip(values, op.results, strict=True))
    if block > 1:
        (dim,) = point.fragment.dims
        values = list(_lane_scan(c, op, values, dim, combined, frame))
    out = combined.apply(accs, tuple(values), frame)
    helds = tuple(Held.allocate(c, r, dims, (e,), op.results[0].name or label) for r in op.results)
    for held, value in zip(helds, out, strict=True):
        held.write(c, value, point)
    ends = out
    if block > 1:
        (dim,) = point.fragment.dims
        edge = c.emitter.index(0 if op.reverse else block - 1)
        ends = tuple(pick(c, v, dim, edge) for v in out)
    ends = tuple(c.emitter.broadcast(v, dims) for v in ends)
    inits = tuple(c.emitter.broadcast(i, dims) for i in combined.identities(free, frame))
    close_loop(c, loop, inits, ends)
    for held in helds:
        held.settle(c)
    return helds
