"""Detection of races between program instances (spec: kir-to-gpu-program 2 and 9).

An element that one instance writes may not be read or written by another, except by atomics on all sides. Every
element of every view and shared buffer remembers who touched it; the evaluation order does not matter, so a race is
found even where running the instances one after another hides it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from intent.diagnostics import CompilerFault
from intent.reference.physical.memory import Memory

Array = NDArray[Any]
Ids = NDArray[np.int64]
Access = Literal["read", "write", "atomic"]

CONFLICTS: Final[dict[Access, tuple[Access, ...]]] = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write"),
}
NOBODY, SEVERAL = -1, -2
STAGE = "program evaluation"


class Arena:
    """The bytes of views that overlap, with the last reader, writer and atomic user of each element's first byte."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.users: dict[Access, Ids] = {}

    def touched(self, access: Access) -> Ids:
        """Who did ``access`` last, per byte: an instance, NOBODY or SEVERAL."""
        if access not in self.users:
            self.users[access] = np.full(self.end - self.begin, NOBODY, np.int64)
        return self.users[access]


class Races:
    """Who touched what, over a whole launch."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self.arenas: list[Arena] = []
        for begin, end in sorted(_bounds(m) for m in memories if m.array.size):
            if self.arenas and begin < self.arenas[-1].end:
                self.arenas[-1].end = max(self.arenas[-1].end, end)
            else:
                self.arenas.append(Arena(begin, end))

    def record(
        self, access: Access, name: str, memory: Memory, offsets: Array, active: Array | None, ids: Ids
    ) -> None:
        """Note an access of lanes at line ``offsets`` by instances ``ids`` (both broadcast against each other).

        Raises CompilerFault when it conflicts with an earlier one, or two lanes of it write one element.
        """
        if memory.array.size == 0:
            return
        shape = np.broadcast_shapes(offsets.shape, ids.shape, () if active is None else active.shape)
        chosen = np.ones(shape, np.bool_) if active is None else np.broadcast_to(active, shape)
        who = np.broadcast_to(ids, shape)[chosen]
        begin, _ = _bounds(memory)
        arena = self._arena(begin, memory)
        where = begin - arena.begin + np.broadcast_to(offsets, shape)[chosen] * memory.array.itemsize
        for earlier in CONFLICTS[access]:
            before = arena.touched(earlier)[where]
            wrong = (before != NOBODY) & (before != who)
            if wrong.any():
                k = int(np.argmax(wrong))
                other = "several instances" if before[k] == SEVERAL else f"instance {before[k]}"
                raise CompilerFault(
                    f"race on '{name}': {access} by instance {who[k]} after {earlier} by {other}", stage=STAGE
                )
        _mark(arena.touched(access), where, who, access, name)

    def _arena(self, begin: int, memory: Memory) -> Arena:
        for arena in self.arenas:
            if arena.begin <= begin < arena.end:
                return arena
        self.arenas.append(Arena(*_bounds(memory)))  # a buffer that came into being during the launch
        return self.arenas[-1]


def _bounds(memory: Memory) -> tuple[int, int]:
    begin = int(memory.line.__array_interface__["data"][0])
    return begin, begin + memory.line.size * memory.array.itemsize


def _mark(users: Ids, where: Ids, who: Ids, access: Access, name: str) -> None:
    if access == "write":
        _, first, counts = np.unique(where, return_index=True, return_counts=True)
        if (counts > 1).any():
            k = int(first[np.argmax(counts > 1)])
            raise CompilerFault(
                f"two lanes store one element of '{name}' (instance {who[k]} is one)", stage=STAGE
            )
        users[where] = who
        return
    before = users[where]
    users[where] = np.where((before == NOBODY) | (before == who), who, SEVERAL)
    # Lanes of several instances in one access: the last one stood there alone.
    users[where[users[where] != who]] = SEVERAL
