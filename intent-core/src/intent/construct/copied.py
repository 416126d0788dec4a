"""Stores that read what they overwrite, in more elements than lanes (language decision 6).

    for block: copy[...] = value            for block: x[...] = copy[...]

The new values of an instance's elements go to a buffer first; once all are there, and all lanes have read what they
need, they go where they belong. That is needed only where a pass reads what another one overwrites: if all that the
passes read are the elements that they write themselves (``x[...] = x[...] / sum(x)``, whose sum stands in front), the
values go there at once. Construction tries that first.
"""

from __future__ import annotations

from functools import partial

from intent import kir
from intent import physical as ph
from intent.construct.alias import alias_class
from intent.construct.context import Context
from intent.construct.definitions import Definitions
from intent.construct.frame import Frame
from intent.construct.held import Held
from intent.construct.plan import Inner
from intent.construct.point import Point
from intent.construct.traversal import OpenLoop, Walk, close_loop, walk_axes
from intent.construct.writes import store_at
from intent.kir.walk import operands_of, regions_of, walk
from intent.physical.advance import advances
from intent.physical.walk import within
from intent.types import Extent

Axes = list[tuple[int, str, Extent, Inner]]


def steers_itself(op: kir.Store, definitions: Definitions) -> bool:
    """Whether where a store goes depends on what it overwrites: then all of it must be decided at once."""
    pending = [*op.relation.coordinates, *([] if op.valid is None else [op.valid])]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        producer = definitions.op.get(value.id)
        if value.id in seen or producer is None:
            continue
        seen.add(value.id)
        for inner in (producer, *(o for r in regions_of(producer) for o in walk(r))):
            if isinstance(inner, kir.Load) and alias_class(inner.source) == alias_class(op.target):
                return True
            pending += operands_of(inner)
    return False


class ReadsAhead(Exception):
    """A pass of a store reads what another pass overwrites: the store ``op`` has to be made through a buffer."""

    def __init__(self, op: int) -> None:
        super().__init__(op)
        self.op = op


def keeps_to_itself(c: Context, op: kir.Store, loops: list[OpenLoop]) -> bool:
    """Whether the open loops read of the store's memory just the elements that the same pass of them writes."""
    store, loads = _accesses(c, op, loops)
    return all(o.source == store.target and o.coordinates == store.coordinates for o in loads)


def meets_earlier_passes(c: Context, op: kir.Store, loops: list[OpenLoop]) -> bool:
    """Whether the open loops read the store's memory where nothing shows that no other pass of them writes it."""
    store, loads = _accesses(c, op, loops)
    known = c.emitter.definition
    return any(
        not any(
            ours == theirs and advances(ours, loop.counter, loop.step, partial(_inside, c, loop), known)
            for ours, theirs in zip(store.coordinates, load.coordinates, strict=True)
        )
        for load in loads
        for loop in loops
    )


def _inside(c: Context, loop: OpenLoop, value: ph.Fragment) -> bool:
    return c.emitter.home[value.id].depth >= loop.scope.depth


def _accesses(c: Context, op: kir.Store, loops: list[OpenLoop]) -> tuple[ph.Store, list[ph.Load]]:
    """The store that the open loops make, and what they read of its memory."""
    inside = [o for loop in loops for made in loop.scope.ops for o in within(made)]
    (store,) = [o for o in inside if isinstance(o, ph.Store) and o.target == c.resource(op.target)[0]]
    return store, [o for o in inside if isinstance(o, ph.Load) and o.source.memory == store.target.memory]


def copied_store(c: Context, op: kir.Store, owned: dict[int, Point], inner: Axes, frame: Frame) -> None:
    """Store through a buffer. ``owned``: the instance's own coordinates; ``inner``: the axes that it walks."""
    scope = c.emitter.current
    walked = walk_axes(c, inner, owned.values(), frame)
    value = c.evaluate(op.value, _at(op, owned, walked), frame).fragment
    lanes = tuple(d for d in value.dims if d not in walked.lanes)
    extents = tuple(e for _, _, e, _ in inner)
    held = Held.allocate(c, op.value, lanes, extents, op.value.name or op.target.name, scope)
    held.write(c, value, *(walked.points[axis] for axis, *_ in inner))
    _close(c, walked)
    held.settle(c)
    c.fence(c.resource(op.target)[1])
    walked = walk_axes(c, inner, owned.values(), frame)
    moved = held.read(c, *(walked.points[axis] for axis, *_ in inner))
    store_at(c, op, _at(op, owned, walked), moved, frame)
    _close(c, walked)


def _at(op: kir.Store, owned: dict[int, Point], walked: Walk) -> tuple[Point, ...]:
    return tuple({**owned, **walked.points}[k] for k in range(op.value.rank))


def _close(c: Context, walked: Walk) -> None:
    for loop in reversed(walked.loops):
        close_loop(c, loop, (), ())
