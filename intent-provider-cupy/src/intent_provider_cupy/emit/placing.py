"""In which table every operation of a segment runs, and in which tables its results are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from intent.physical import (
    Atomic,
    Buffer,
    Contract,
    Dim,
    Fragment,
    Lane,
    Load,
    Loop,
    Op,
    Pointwise,
    Region,
    Segment,
    Store,
)
from intent.physical.fragment import Resource
from intent.physical.walk import regions_of, walk
from intent_provider_cupy.emit.layout import Table, TableBuilder, Want, bit_count

ACCESS_BYTES = 16
"""Widest access of one thread."""


class Placing:
    """The tables of one segment."""

    def __init__(self, segment: Segment, threads: int, widest: int = ACCESS_BYTES) -> None:
        self._widest = widest
        self._operations = list(walk(segment.body))
        self.loop_of = {op.body.args[0].id: op for op in self._operations if isinstance(op, Loop)}
        """The counted loop whose index a value is."""
        self.defined = {r.id: op for op in self._operations for r in op.results}
        wants = list(self._wants(segment.body))
        self.main = TableBuilder(index=0, thread_bits=bit_count(threads)).build(wants)

    def home(self, fragment: Fragment) -> Table:
        """The table in which the fragment is computed."""
        del fragment
        return self.main

    def table_of(self, op: Op) -> Table:
        """The table in which the operation runs."""
        del op
        return self.main

    def tables_of(self, op: Op) -> tuple[Table, ...]:
        """The tables in which an operation without effects is computed again."""
        del op
        return (self.main,)

    def wanted(self, fragment: Fragment) -> tuple[Table, ...]:
        """The tables, besides its home, to which the fragment is brought through shared memory."""
        del fragment
        return ()

    def buffer_dims(self, buffer: Buffer) -> tuple[Dim, ...]:
        """The lanes of a buffer in registers: every access has the same."""
        for op in self._operations:
            if isinstance(op, Load) and op.source == buffer:
                return op.result.dims
            if isinstance(op, Store | Atomic) and op.target == buffer:
                return op.dims
        return ()

    def _wants(self, region: Region) -> Iterator[Want]:
        for fragment in fragments(region):
            if fragment.dims:
                yield Want(dims=fragment.dims, weight=_size(fragment.dims))
        for op in walk(region):
            if isinstance(op, Load):
                yield self._access(op, op.source, op.result.dims)
            elif isinstance(op, Store | Atomic):
                yield self._access(op, op.target, op.dims)

    def _access(self, op: Load | Store | Atomic, resource: Resource, dims: tuple[Dim, ...]) -> Want:
        bytes_ = resource.dtype.bytes
        first = self.running(op.coordinates[-1]) if op.coordinates else None
        vector = bit_count(max(1, self._widest // bytes_))
        if first not in dims:
            first = None
        weight = 2 * _size(dims) * bytes_
        return Want(dims=dims, weight=weight, first=first, vector=vector if first else 0)

    def running(self, coordinate: Fragment) -> Dim | None:
        """The dim along which a coordinate counts up by one, if it is a uniform value plus lane numbers."""
        op = self.defined.get(coordinate.id)
        if isinstance(op, Lane):
            return op.dim
        if isinstance(op, Pointwise) and op.fn == "add":
            varying = [o for o in op.operands if o.dims]
            return self.running(varying[0]) if len(varying) == 1 else None
        return None


def fragments(region: Region) -> Iterator[Fragment]:
    """Every value of the region and of nested ones, arguments included."""
    yield from region.args
    for op in region.ops:
        yield from op.results
        if isinstance(op, Store | Atomic):
            yield Fragment(id=-1, dtype=op.target.dtype, dims=op.dims)
        if isinstance(op, Contract):
            yield op.lhs
        for inner in regions_of(op):
            yield from fragments(inner)


def _size(dims: Iterable[Dim]) -> int:
    return prod((d.size for d in dims), start=1)


def threads_for(segments: Iterable[Segment], knobs: dict[str, int]) -> int:
    """Threads of a block: what the plan says, but no more than the widest fragment has lanes."""
    widest = max((_size(f.dims) for s in segments for f in fragments(s.body)), default=1)
    if widest == 1:
        return 1
    most = 32 * knobs["num_warps"] if "num_warps" in knobs else max(32, min(256, widest // 4))
    return max(32, min(most, 1 << (widest - 1).bit_length(), 1024))
