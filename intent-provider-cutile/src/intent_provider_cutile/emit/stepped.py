"""Reads that several lanes share: what a table says where rows stand that lie together in blocks of a fixed size.

    table[b, t // S]     with t = base + lane, S known, and base a multiple of S, or of all lanes

Lanes ``i * S`` to ``i * S + S - 1`` share a page. Its number is read once: what lanes read from memory cannot be made
anew where an address is needed, and the compiler sends 64 bits for every element of the rows through shared memory
instead. A choice among a few scalars costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from intent.physical import Atomic, Dim, Fragment, Load, Program, Region, Store
from intent.physical.walk import operands_of, regions_of, walk
from intent_provider_cutile.emit.lanes import LEAST, Lanes

MOST = 16
"""Elements that are read one by one."""


@dataclass(frozen=True, kw_only=True)
class Stepped:
    """A read of which ``size`` lanes of ``dim`` at a time share an element.

    ``lanes``: conditions that may hold for the first of them only. ``scalars``: what else it is computed from.
    """

    dim: Dim
    size: int
    lanes: tuple[Fragment, ...]
    scalars: tuple[Fragment, ...]


class _Finder:
    def __init__(self, program: Program, lanes: Lanes) -> None:
        self._lanes = lanes
        self._home: dict[int, int] = {}
        self._writing: set[int] = set()
        for segment in program.segments:
            self._note(segment.body)

    def _note(self, region: Region) -> None:
        if any(isinstance(op, Atomic | Store) for op in walk(region)):
            self._writing.add(id(region))
        for op in region.ops:
            self._home[op.id] = id(region)
            for inner in regions_of(op):
                self._note(inner)

    def _together(self, op: Load) -> bool:
        """Whether nothing is written between a read and others that it is computed from."""
        home = self._home[op.id]
        reads = [load for f in operands_of(op) for load in self._lanes.loads(f)]
        return not reads or (home not in self._writing and all(self._home[load.id] == home for load in reads))

    def of(self, op: Load) -> Stepped | None:
        """How a read shares elements among lanes, or None where it does not."""
        if len(op.result.dims) != 1 or not op.result.dtype.is_integer:
            return None
        (dim,) = op.result.dims
        size = self._lanes.group(op.result, dim)
        if size < LEAST or dim.size > size * MOST or not self._together(op):
            return None
        scalars = {f.id: f for f in self._lanes.scalars(op.result, dim)}
        return Stepped(
            dim=dim,
            size=size,
            lanes=tuple(self._lanes.uneven(op, dim, size)),
            scalars=tuple(scalars.values()),
        )


def stepped_of(program: Program, lanes: Lanes) -> dict[int, Stepped]:
    """All reads of which several lanes share an element, by the Python identity of their operations."""
    finder = _Finder(program, lanes)
    reads = [op for segment in program.segments for op in walk(segment.body) if isinstance(op, Load)]
    return {id(op): found for op in reads if (found := finder.of(op)) is not None}
