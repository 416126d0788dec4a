"""Whether a view may be written where another one is read, element for element (language decision 7).

A program may run in place on a pair of views when each element is read only by the lane that writes it, before
the write. That is a fact about one program, so one plan of a kernel may allow it and another may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intent.physical import Atomic, Fragment, Load, Loop, Op, Program, Region, Store
from intent.physical.advance import moves_on
from intent.physical.walk import operands_of, regions_of, walk
from intent.runtime.array import Array

__all__ = ["same_elements", "same_storage_ok"]


def same_elements(a: Array, b: Array) -> bool:
    """Whether two arrays are the very same elements in the same order."""
    return (a.pointer, a.shape, a.byte_strides, a.dtype, a.device) == (
        b.pointer,
        b.shape,
        b.byte_strides,
        b.dtype,
        b.device,
    )


@dataclass(frozen=True, kw_only=True)
class _Place:
    """An access, the region it stands in, its position there, and the loops around it."""

    op: Load | Store | Atomic
    region: int
    position: int
    loops: tuple[Op, ...]


def same_storage_ok(program: Program, written: str, other: str) -> bool:
    """Whether ``program`` may run with both views on the same elements; ``other`` is only read.

    Every read of ``other`` must stand in one region with the writes of ``written``, before them, at the very
    coordinates and lanes that they write, under loops that move on from element to element; and what is
    written must depend on what was read, which orders the two on every lane.
    """
    defined = {value.id: op for s in program.segments for op in walk(s.body) for value in op.results}
    segments = [list(_places(s.body, {written, other}, ())) for s in program.segments]
    readers = {k for k, places in enumerate(segments) for p in places if _view(p.op) == other}
    writers = {k for k, places in enumerate(segments) for p in places if _view(p.op) == written}
    if len(readers | writers) > 1 and readers:
        return False  # instances of different segments run in any order
    for places in segments:
        reads = [p for p in places if _view(p.op) == other]
        writes = [p for p in places if _view(p.op) == written and not isinstance(p.op, Load)]
        if reads and any(isinstance(p.op, Atomic) for p in places):
            return False
        if not all(_orderly(read, write, defined) for read in reads for write in writes):
            return False
    return True


def _places(region: Region, views: set[str], loops: tuple[Op, ...]) -> Iterator[_Place]:
    for position, op in enumerate(region.ops):
        if isinstance(op, (Load, Store, Atomic)) and _view(op) in views:
            yield _Place(op=op, region=id(region), position=position, loops=loops)
        for inner in regions_of(op):
            yield from _places(inner, views, (*loops, op))


def _view(op: Load | Store | Atomic) -> str:
    return (op.source if isinstance(op, Load) else op.target).name


def _orderly(read: _Place, write: _Place, defined: dict[int, Op]) -> bool:
    load, store = read.op, write.op
    if not isinstance(load, Load) or not isinstance(store, Store):
        return False
    return (
        read.region == write.region
        and read.position < write.position
        and load.coordinates == store.coordinates
        and set(load.result.dims) == set(store.dims)
        and all(_moves(loop, load.coordinates, defined) for loop in read.loops)
        and _depends(store.value, load.result.id, defined)
    )


def _moves(loop: Op, coordinates: tuple[Fragment, ...], defined: dict[int, Op]) -> bool:
    return isinstance(loop, Loop) and any(moves_on(c, loop, defined) for c in coordinates)


def _depends(value: Fragment, wanted: int, defined: dict[int, Op]) -> bool:
    """Whether ``value`` is computed from the value ``wanted``, in straight-line code."""
    pending, seen = [value.id], set[int]()
    while pending:
        current = pending.pop()
        if current == wanted:
            return True
        if current not in seen:
            seen.add(current)
            op = defined.get(current)
            pending += [v.id for v in operands_of(op)] if op is not None else []
    return False
