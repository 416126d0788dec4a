"""Loads of what nobody reads again, in programs that change other memory indivisibly.

Requires: a verified program. Ensures: the same program; such loads are marked.

    load source=@x                               ->   load source=@x reread=once
    atomic target=@y kind=add dims=[n]                atomic target=@y kind=add dims=[n]

Memory that many instances add to is read and written many times; it should stay in the cache, and what streams by
should not push it out. An instance reads for itself alone what depends on all of its coordinates and on nothing that
was read from memory, and once what depends on the indices of all loops around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from intent import physical as ph
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.physical.walk import operands_of, regions_of, walk

_UNKNOWN = -1
"""Stands for what a value may depend on when that is read from memory or carried by a loop."""


def streaming(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Mark loads that are read once beside atomic accesses of lanes."""
    del permissions  # no value changes
    marked: dict[int, ph.Op] = {
        op.id: replace(op, reread="once") for segment in program.segments for op in _streams(segment.body)
    }
    return map_operations(program, lambda op: marked.get(op.id, op))


def _streams(body: ph.Region) -> Iterator[ph.Load]:
    shared = {
        op.target.name
        for op in walk(body)
        if isinstance(op, ph.Atomic) and op.dims and op.sharing == "invocation"
    }
    if not shared:
        return
    loads = [op for op in walk(body) if isinstance(op, ph.Load) and isinstance(op.source, ph.View)]
    origins = _Origins(local=body.args[0].id)
    origins.region(body, frozenset())
    for op in loads:
        alone = sum(other.source.name == op.source.name for other in loads) == 1
        if alone and op.result.dims and op.source.name not in shared and origins.once(op):
            yield op


@dataclass
class _Origins:
    """What each value depends on: numbers that the program id is decoded into, indices of loops, or the unknown."""

    local: int
    of: dict[int, frozenset[int]] = field(default_factory=dict)
    around: dict[int, frozenset[int]] = field(default_factory=dict)
    """Indices of the loops around an operation, by its id."""
    used: set[int] = field(default_factory=set)
    """Numbers of the program id that anything but their decoding uses."""
    _numbers: set[int] = field(default_factory=set)

    def region(self, region: ph.Region, loops: frozenset[int]) -> None:
        """Note the operations of a region inside these loops."""
        for argument in region.args:
            known = argument.id in loops or argument.id == self.local
            self.of[argument.id] = frozenset({argument.id if known else _UNKNOWN})
        self._numbers.add(self.local)
        for op in region.ops:
            self.around[op.id] = loops
            for inner in regions_of(op):
                index = {inner.args[0].id} if isinstance(op, ph.Loop) else set()
                self.region(inner, loops | index)
            nested = any(True for _ in regions_of(op))
            for result in op.results:
                self.of[result.id] = self._result(op, result) if not nested else frozenset({_UNKNOWN})

    def once(self, op: ph.Load) -> bool:
        """Whether the load is executed for other elements each time, by whatever instance."""
        found = self._joined(op.coordinates)
        return _UNKNOWN not in found and self.used | self.around[op.id] <= found

    def _result(self, op: ph.Op, result: ph.Fragment) -> frozenset[int]:
        operands = list(operands_of(op))
        numbers = [o.id for o in operands if o.id in self._numbers]
        if _decodes(op) and numbers == [operands[0].id] and not self.of.get(operands[1].id):
            self._numbers.add(result.id)
            return frozenset({result.id})
        self.used |= set(numbers)
        return frozenset({_UNKNOWN}) if isinstance(op, ph.Load | ph.Atomic) else self._joined(operands)

    def _joined(self, values: Iterable[ph.Fragment]) -> frozenset[int]:
        return frozenset[int]().union(*(self.of.get(v.id, frozenset()) for v in values))


def _decodes(op: ph.Op) -> bool:
    return isinstance(op, ph.Pointwise) and op.fn in ("floordiv", "mod")
