"""What an execution did to memory: the writes of every effect, by the KIR operation it stands for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from intent.physical.verify.trial.ring import Array, scramble

__all__ = ["Events", "Writes"]


@dataclass
class Writes:
    """Executions of one effect: the element (its row-major number) and a digest of what went there."""

    elements: list[Array] = field(default_factory=list)
    digests: list[Array] = field(default_factory=list)

    def add(self, elements: Array, values: tuple[Array, ...]) -> None:
        """Executions at ``elements``; all arrays are flat and of one length."""
        digest = np.zeros(elements.shape, np.int64)
        for k, value in enumerate(values):
            digest = scramble(digest + np.asarray(value).astype(np.int64), k + 1)
        self.elements.append(elements)
        self.digests.append(digest)

    def sorted(self) -> tuple[Array, Array]:
        """All executions in order of element, then digest."""
        if not self.elements:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing
        elements, digests = np.concatenate(self.elements), np.concatenate(self.digests)
        order = np.lexsort((digests, elements))
        return elements[order], digests[order]


@dataclass
class Events:
    """Writes and reads (elements only) by KIR operation; ``unmasked``: elements that reads without masks would take."""

    writes: dict[int, Writes] = field(default_factory=lambda: defaultdict(Writes))
    reads: dict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
    unmasked: dict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
