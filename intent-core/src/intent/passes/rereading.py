"""Which walks over a row read what a later walk reads again, and which are the last to read it.

Requires: a verified program. Ensures: the same program; loads that caches should treat differently are marked.

    loop begin=%0 end=%N { load source=@x }      ->   loop begin=%0 end=%N { load source=@x reread=again }
    loop begin=%0 end=%N { load source=@x }           loop begin=%0 end=%N { load source=@x reread=last }

A row that is walked several times is read from memory once if it is still in the cache the next time. Nothing that is
read for the last time should push it out. What all instances read, such as weights, is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from intent import physical as ph
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.physical.walk import operands_of, regions_of, walk

Walk = tuple[int, int, int, str]
"""The bounds of a loop, by id, and a view that it reads."""


def rereading(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Mark loads in loops over the same range beside each other."""
    del permissions  # no value changes
    marked: dict[int, ph.Op] = {}
    for segment in program.segments:
        own = _own(segment.body)
        for region in _regions(segment.body):
            marked |= _marked(region, own)
    return map_operations(program, lambda op: marked.get(op.id, op))


def _regions(region: ph.Region) -> Iterator[ph.Region]:
    yield region
    for op in region.ops:
        for inner in regions_of(op):
            yield from _regions(inner)


def _own(body: ph.Region) -> set[int]:
    """Values that depend on which instance it is."""
    own = {a.id for a in body.args}
    for op in walk(body):
        if any(f.id in own for f in operands_of(op)):
            own |= {r.id for r in op.results}
    return own


def _marked(region: ph.Region, own: set[int]) -> dict[int, ph.Op]:
    """The loads of the region's loops with their marks, by id."""
    seen: dict[Walk, list[ph.Load]] = {}
    marked: dict[int, ph.Op] = {}
    for loop in region.ops:
        if not isinstance(loop, ph.Loop):
            continue
        reads: dict[Walk, list[ph.Load]] = {}
        for op in walk(loop.body):
            if isinstance(op, ph.Load) and isinstance(op.source, ph.View) and _streams(op, own):
                reads.setdefault((loop.begin.id, loop.end.id, loop.step.id, op.source.name), []).append(op)
        for key, loads in reads.items():
            if key in seen:
                marked |= {op.id: replace(op, reread="again") for op in seen[key]}
                marked |= {op.id: replace(op, reread="last") for op in loads}
            seen[key] = loads
    return marked


def _streams(op: ph.Load, own: set[int]) -> bool:
    """Whether the load reads many elements, and other instances read others."""
    return any(c.dims for c in op.coordinates) and any(c.id in own for c in op.coordinates)
