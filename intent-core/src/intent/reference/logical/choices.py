"""What the language leaves open, and who decides it.

:class:`Choices` decides in the plainest way; :class:`Adversary` decides at random among all that the language
allows (spec: logical-program 3, 5 and 6), so that a program whose meaning depends on a choice shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

ScanStyle = Literal["sequential", "doubling", "split"]


class Choices:
    """The canonical decisions: source order, one segment, left to right."""

    def order(self, count: int) -> Sequence[int]:
        """The order in which ``count`` unordered points run."""
        return range(count)

    def permutation(self, count: int) -> NDArray[np.intp] | None:
        """A permutation of reduced elements, or None for source order."""
        return None

    def segments(self, extent: int) -> list[tuple[int, int]]:
        """Contiguous non-empty slices that cover ``[0, extent)`` in order."""
        return [(0, extent)]

    def split(self, first: int, last: int) -> int:
        """Where to parenthesise ``first .. last`` (inclusive): the last index of the left part."""
        return last - 1

    def chunks(self, extent: int) -> int:
        """Number of partial results that a reduction of ``extent`` elements keeps side by side."""
        return 1 << max(0, (extent - 1).bit_length() - 1) if extent > 1 else 1

    def scan_style(self) -> ScanStyle:
        """How a prefix combination is parenthesised."""
        return "sequential"

    def with_identity(self) -> bool:
        """Whether an identity element is combined in where it need not be."""
        return False

    def garbage(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """What an uninitialised buffer holds: NaN, or a bit pattern that is no small number."""
        out = np.empty(shape, dtype)
        out.reshape(-1).view(np.uint8)[...] = 0xFF if dtype.kind not in "bui" else 0xA5
        return out if dtype != np.bool_ else np.ones(shape, np.bool_)


class Adversary(Choices):
    """Random decisions drawn from ``generator``; the same seed decides the same way."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def order(self, count: int) -> Sequence[int]:
        return [int(i) for i in self.generator.permutation(count)]

    def permutation(self, count: int) -> NDArray[np.intp] | None:
        return self.generator.permutation(count)

    def segments(self, extent: int) -> list[tuple[int, int]]:
        style = self.generator.integers(3)
        if style == 0 or extent < 2:
            return [(0, extent)]
        if style == 1 and extent <= 64:
            return [(i, i + 1) for i in range(extent)]
        inner = self.generator.integers(1, extent, size=int(self.generator.integers(1, 6)))
        cuts = [0, *sorted({int(c) for c in inner}), extent]
        return list(pairwise(cuts))

    def split(self, first: int, last: int) -> int:
        return int(self.generator.integers(first, last))

    def chunks(self, extent: int) -> int:
        return int(self.generator.integers(1, extent + 1))

    def scan_style(self) -> ScanStyle:
        styles: tuple[ScanStyle, ...] = ("sequential", "doubling", "split")
        return styles[int(self.generator.integers(3))]

    def with_identity(self) -> bool:
        return bool(self.generator.integers(2))

    def garbage(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        count = int(np.prod(shape, dtype=np.int64))
        if dtype == np.bool_:
            return self.generator.integers(0, 2, size=shape).astype(np.bool_)
        raw = self.generator.integers(0, 256, size=count * dtype.itemsize, dtype=np.uint8)
        return raw.view(dtype).reshape(shape)
