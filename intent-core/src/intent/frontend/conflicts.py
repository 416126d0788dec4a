"""Points of a parallel loop that provably meet in one element (spec: logical-program 3).

The coordinates of every access that all points make are read back as integer expressions. The first few points, and
the first few positions along each axis and inner loop, are put in: where the coordinates of two points then are the
same expressions, a write of one meets a write or a read of the other. What is not shown this way is the author's
promise (language decision 4), which the sanitizer tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from intent.diagnostics import CollidingWrites, ConflictingAccess
from intent.kir import (
    BufferAlloc,
    Cast,
    Constant,
    ExtentValue,
    For,
    Load,
    Op,
    Pointwise,
    Region,
    Store,
    Value,
)
from intent.kir.coordinates import position, read_back
from intent.kir.walk import operands_of, walk
from intent.types import Extent
from intent.types.extent import Atom, Dyn, const

if TYPE_CHECKING:
    from intent.frontend.emission import Emitter

_FEW, _INNER, _SOME = 3, 2, 9
"""What is looked at where a number is known only later: of points, of positions inside; and where it is a constant."""
_TOGETHER = 81
"""Combinations of steps and positions that are looked at for each point."""

Place = tuple[Extent, ...]
Chosen = dict[Atom, Extent]


@dataclass(frozen=True, kw_only=True)
class _Access:
    """A load or store that every point makes, and the ordered or parallel loops around it inside the point."""

    op: Load | Store
    loops: tuple[For, ...]

    @property
    def resource(self) -> str:
        return (self.op.target if isinstance(self.op, Store) else self.op.source).name

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self.op.value.shape if isinstance(self.op, Store) else self.op.results[0].shape


@dataclass(frozen=True, kw_only=True)
class _Points:
    """The points of one parallel loop: ``begin + step * t`` for the first values of t."""

    name: str
    variable: Value
    begin: Extent
    step: Extent
    count: int


def refuse_conflicts(emitter: Emitter, loop: For, extent: Extent) -> None:
    """Check one parallel loop. Raises CollidingWrites, ConflictingAccess at the write."""
    variable = loop.body.args[0]
    begin, step = (read_back(emitter.defs, v, ()) for v in (loop.begin, loop.step))
    if emitter.races or emitter.trial or begin is None or step is None:
        return
    points = _Points(
        name=variable.name or "point", variable=variable, begin=begin, step=step, count=_few(extent, _FEW)
    )
    own = {op.buffer.name for op in walk(loop.body) if isinstance(op, BufferAlloc)}
    found = [a for a in _accesses(loop.body) if a.resource not in own]
    stores = [a for a in found if isinstance(a.op, Store)]
    written = {a.resource for a in stores}
    found = [a for a in found if a.resource in written]
    reached = {id(a): _reached(emitter, loop.body, a, points) for a in found}
    for place, store in enumerate(stores):
        loads = [a for a in found if isinstance(a.op, Load)]
        for other in (*stores[: place + 1], *loads):
            if other.resource == store.resource:
                _compare(points, store, reached[id(store)], other, reached[id(other)])


def _few(extent: Extent, unknown: int) -> int:
    return unknown if extent.const is None else max(min(extent.const, _SOME), 0)


def _accesses(region: Region, loops: tuple[For, ...] = ()) -> Iterator[_Access]:
    """The accesses that no condition guards."""
    for op in region.ops:
        if isinstance(op, Load | Store) and op.valid is None:
            yield _Access(op=op, loops=loops)
        elif isinstance(op, For):
            yield from _accesses(op.body, (*loops, op))


def _compare(
    points: _Points,
    store: _Access,
    written: Sequence[tuple[int, Place]],
    other: _Access,
    touched: Sequence[tuple[int, Place]],
) -> None:
    first: dict[Place, int] = {}
    for t, place in written:
        first.setdefault(place, t)
    for t, place in touched:
        if place in first and first[place] != t:
            element = f"{store.resource}[{', '.join(map(_text, place))}]"
            one, two = (f"{points.name}={points.begin + points.step * k}" for k in (first[place], t))
            if isinstance(other.op, Store):
                witness = f"{one} and {two} both write {element}"
                raise CollidingWrites(store.resource, witness=witness, span=store.op.span)
            witness = f"{one} writes {element}, which {two} reads"
            raise ConflictingAccess(store.resource, witness=witness, span=store.op.span)


def _text(coordinate: Extent) -> str:
    return "..." if any(isinstance(a, Dyn) for a in coordinate.atoms()) else str(coordinate)


def _reached(emitter: Emitter, body: Region, access: _Access, points: _Points) -> list[tuple[int, Place]]:
    """Elements that the first points touch, each with the number of its point; empty if they cannot be told."""
    coordinates = [
        read_back(emitter.defs, c, axes)
        for c, axes in zip(access.op.relation.coordinates, access.op.relation.axes, strict=True)
    ]
    known = [c for c in coordinates if c is not None]
    if len(known) != len(coordinates) or not all(_tellable(emitter, body, access, points, c) for c in known):
        return []
    found = []
    for t in range(points.count):
        at: Chosen = {Dyn(points.variable.id): points.begin + points.step * t}
        for inner in _positions(emitter, access, at, _share(len(access.loops) + len(access.shape))):
            found.append((t, tuple(c.substitute(inner) for c in known)))  # noqa: PERF401 -- two loops deep
    return found


def _share(unknowns: int) -> int:
    """How many steps or positions of each unknown are looked at, so that all together are few."""
    return max(_INNER, min(_SOME, int(_TOGETHER ** (1 / max(unknowns, 1)))))


def _positions(emitter: Emitter, access: _Access, at: Chosen, most: int) -> Iterator[Chosen]:
    """``at`` with the first steps of the inner loops and the first positions along the access's axes."""
    if not access.loops:
        axes: list[Atom] = [position(k) for k in range(len(access.shape))]
        for places in product(*(range(min(most, _few(e, _INNER))) for e in access.shape)):
            yield at | dict(zip(axes, map(const, places), strict=True))
        return
    loop, rest = access.loops[0], _Access(op=access.op, loops=access.loops[1:])
    bounds = [read_back(emitter.defs, v, ()) for v in (loop.begin, loop.end, loop.step)]
    begin, end, step = (b.substitute(at) if b is not None else None for b in bounds)
    if begin is None or end is None or step is None or not (end - begin).launch_visible:
        return
    for k in range(min(most, _few(-((begin - end) // step), _INNER))):
        here = at | {Dyn(loop.body.args[0].id): begin + step * k}
        yield from _positions(emitter, rest, here, most)


def _tellable(emitter: Emitter, body: Region, access: _Access, points: _Points, coordinate: Extent) -> bool:
    """Whether a coordinate depends on nothing that differs between points but the point and the loops inside it."""
    chosen = {points.variable.id, *(loop.body.args[0].id for loop in access.loops)}
    inside: dict[int, Op] = {v.id: op for op in walk(body) for v in op.results}
    arguments: set[int] = {a.id for op in walk(body) if isinstance(op, For) for a in op.body.args}
    return all(
        atom.value < 0 or atom.value in chosen or _steady(atom.value, inside, arguments)
        for atom in coordinate.atoms()
        if isinstance(atom, Dyn)
    )


def _steady(value: int, inside: dict[int, Op], arguments: set[int]) -> bool:
    """Whether a value is the same at every point: made outside, or of constants and such values."""
    op = inside.get(value)
    if op is None:
        return value not in arguments
    if isinstance(op, Constant):
        return True
    if isinstance(op, ExtentValue):
        return op.extent.launch_visible
    return isinstance(op, Pointwise | Cast) and all(_steady(v.id, inside, arguments) for v in operands_of(op))
