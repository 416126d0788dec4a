"""Reductions: the reduced axes stay inside the instance, in lanes or ordered loops (spec: kir-to-gpu-program 7)."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.combining import Combiner, combiner, has_loops
from intent.construct.context import Context, rule
from intent.construct.frame import Frame
from intent.construct.parts import State, Values
from intent.construct.plan import Inner, serial
from intent.construct.point import Point, members_of
from intent.construct.pointwise import pointwise_point
from intent.construct.traversal import Walk, carry, close_loop, walk_axes
from intent.types.extent import const

At = tuple[Point, ...]


@rule(kir.Reduce)
def reduce(c: Context, op: kir.Reduce, index: int, at: At, frame: Frame) -> Point:
    """All components at once; the asked one is returned, the others are remembered."""
    key = ("reduce", op.id, tuple(p.key for p in at))
    found = frame.memo.get(key)
    if found is None:  # it stands where its coordinates do, and is there as long as they are
        found = frame.memo[key] = _reduce(c, op, at, frame)
    return found[index]


def _reduce(c: Context, op: kir.Reduce, at: At, frame: Frame) -> tuple[Point, ...]:
    source = op.operands[0]
    free = [k for k in range(source.rank) if k not in op.axes]
    axes = [
        (k, c.analysis.classes.label((source.id, k)), source.shape[k], _traversal(c, op, k, at))
        for k in sorted(op.axes)
    ]
    walk = walk_axes(c, axes, at, frame, parts=True)
    where = {**dict(zip(free, at, strict=True)), **walk.points}
    inner = tuple(where[k] for k in range(source.rank))
    elements = [c.evaluate(v, inner, frame) for v in op.operands]
    combined = combiner(c, op)
    if combined.positions:
        elements.append(_position(c, op, walk, frame))
    identities = combined.identities(at, frame)
    live = [mask_dead(c, e.fragment, walk.members, i) for e, i in zip(elements, identities, strict=True)]
    members = members_of(at)
    made = _Accumulation(c, op, combined, walk, identities, frame).run(live)
    if walk.part:
        keep_part(c, op, combined, made, tuple(identities), frame)
    return tuple(Point(r, members) for r in made)


def keep_part(
    c: Context,
    op: kir.Reduce,
    combined: Combiner,
    made: tuple[ph.Fragment, ...],
    start: tuple[ph.Fragment, ...],
    frame: Frame,
) -> None:
    """Remember that ``made`` are those of a part, and how parts become one."""
    assert c.share is not None

    def across(values: Values, dims: tuple[ph.Dim, ...]) -> Values:
        return across_lanes(c, op, combined, values, start, dims, frame)

    state = State(
        results=made,
        start=start,
        combine=lambda a, b: combined.apply(a, b, frame),
        across=None if has_loops(op) else across,
    )
    c.share.states.append(state)


def across_lanes(
    c: Context,
    op: kir.Reduce,
    combined: Combiner,
    values: tuple[ph.Fragment, ...],
    identities: tuple[ph.Fragment, ...],
    lanes: tuple[ph.Dim, ...],
    frame: Frame,
) -> tuple[ph.Fragment, ...]:
    """The components of all lanes of some dims as one."""
    dims = tuple(d for d in values[0].dims if d not in lanes)
    payload: dict[str, Any] = {"operands": values, "dims": lanes, "kind": op.kind}
    if op.kind is None:
        captures, region = combined.region(frame)
        payload |= {"identity": identities, "captures": captures, "combine": region}
    types = tuple((v.dtype, dims) for v in values)
    return c.emitter.emit(ph.Reduce, types, name=op.results[0].name, **payload)


def _traversal(c: Context, op: kir.Reduce, axis: int, at: At) -> Inner:
    return serial(1) if has_loops(op) else c.traversal((op.operands[0].id, axis), at)


def _position(c: Context, op: kir.Reduce, walk: Walk, frame: Frame) -> Point:
    """Row-major position in the reduced axes."""
    source = op.operands[0]
    linear = Point(c.emitter.index(0), low=const(0), high=const(0))
    for n, k in enumerate(sorted(op.axes)):
        if n == 0:
            linear = walk.points[k]
        else:
            scaled = pointwise_point(c, "mul", (linear, c.extent(source.shape[k], frame)))
            linear = pointwise_point(c, "add", (scaled, walk.points[k]))
    return linear


def mask_dead(
    c: Context, value: ph.Fragment, members: frozenset[ph.Fragment], identity: ph.Fragment
) -> ph.Fragment:
    """Padding lanes carry the identity, never a computed value."""
    definition = c.emitter.definition.get(identity.id)
    neutral = isinstance(definition, ph.Constant) and definition.value == 0
    needed = members - c.load_masks.get(value.id, frozenset()) if neutral else members
    test = c.emitter.conjunction(needed)
    if test is None:
        return value
    return c.emitter.pointwise("select", test, value, identity, name=value.name)


class _Accumulation:
    """Lanes and loops of one reduction."""

    def __init__(
        self,
        c: Context,
        op: kir.Reduce,
        combined: Combiner,
        walk: Walk,
        identities: list[ph.Fragment],
        frame: Frame,
    ) -> None:
        self.c, self.op, self.combined, self.walk = c, op, combined, walk
        self.identities, self.frame = identities, frame

    def run(self, live: list[ph.Fragment]) -> tuple[ph.Fragment, ...]:
        e = self.c.emitter
        everywhere = e.order.sort((*e.union(live), *self.walk.lanes))
        live = [e.broadcast(v, everywhere if len(live) > 1 else self.walk.lanes) for v in live]
        if not self.walk.loops:
            return self._lanes(live)
        if self.op.kind is not None and not self.combined.positions:
            # Each lane accumulates on its own; lanes meet once, after the loops.
            return self._lanes(list(self._loops(live)))
        return self._loops(list(self._lanes(live)))

    def _loops(self, parts: list[ph.Fragment]) -> tuple[ph.Fragment, ...]:
        c = self.c
        loops = self.walk.loops
        names = [r.name for r in self.op.results]
        args = [
            [carry(c, loop, p.dtype, p.dims, n) for p, n in zip(parts, names, strict=True)] for loop in loops
        ]
        values = self.combined.apply(tuple(args[-1]), tuple(parts), self.frame)
        values = tuple(c.emitter.broadcast(v, p.dims) for v, p in zip(values, parts, strict=True))
        for depth in range(len(loops) - 1, -1, -1):
            inits = tuple(args[depth - 1]) if depth else self._start(parts)
            values = close_loop(c, loops[depth], inits, values)
        return values

    def _start(self, parts: list[ph.Fragment]) -> tuple[ph.Fragment, ...]:
        return tuple(self.c.emitter.broadcast(i, p.dims) for i, p in zip(self.identities, parts, strict=True))

    def _lanes(self, live: list[ph.Fragment]) -> tuple[ph.Fragment, ...]:
        if not self.walk.lanes:
            return tuple(live)
        start = tuple(self.identities)
        return across_lanes(self.c, self.op, self.combined, tuple(live), start, self.walk.lanes, self.frame)
