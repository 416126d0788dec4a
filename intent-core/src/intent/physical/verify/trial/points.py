"""What the points of a parallel loop touch: where two of them meet, the kernel has no meaning.

Writes of different points that meet break the author's promise (language decision 4), and so do a read and a write:
such inputs show nothing about a program. Atomics and colliding writes may meet.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from intent.physical.verify.trial.ring import Array

__all__ = ["Points"]

Kind = Literal["read", "write"]


@dataclass
class Points:
    """Elements that the points of one parallel loop read and wrote, by piece of memory."""

    point: int = 0
    touched: dict[tuple[object, Kind], list[tuple[int, Array]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def touch(self, memory: object, kind: Kind, elements: Array) -> None:
        """The current point reads or writes these elements (row-major numbers)."""
        self.touched[memory, kind].append((self.point, elements))

    def meet(self) -> bool:
        """Whether a point touches what another one writes."""
        return any(kind == "write" and self._shared(memory) for memory, kind in list(self.touched))

    def _shared(self, memory: object) -> bool:
        written, writer = _flat(self.touched[memory, "write"])
        order = np.lexsort((writer, written))
        written, writer = written[order], writer[order]
        if np.any((written[1:] == written[:-1]) & (writer[1:] != writer[:-1])):
            return True
        read, reader = _flat(self.touched.get((memory, "read"), []))
        if not written.size:
            return False
        at = np.minimum(np.searchsorted(written, read), written.size - 1)
        return bool(np.any((written[at] == read) & (writer[at] != reader)))


def _flat(parts: list[tuple[int, Array]]) -> tuple[Array, Array]:
    """All elements, and the point of each."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing
    elements = np.concatenate([np.asarray(e).ravel() for _, e in parts])
    return elements, np.concatenate([np.full(np.size(e), point) for point, e in parts])
