"""Shared memory of a block, in three parts: buffers, tiles that are copied ahead, and passing exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

ALIGNMENT = 128
TILE_ALIGNMENT = 1024
"""Where the parts with tiles begin: the order of a tile's pieces follows the address."""
EXCHANGE_LIMIT = 48 * 1024
"""Most bytes of one exchange; larger fragments pass in several parts."""
KEPT_LIMIT = 32 * 1024
"""Most bytes of buffers that could be elsewhere."""


@dataclass
class Scratch:
    """What the text needs; the text calls the offset of the second part ``staged`` and that of the third ``scratch``.

    ``dirty``: some thread may still read what the last exchange left there.
    """

    kept: int = 0
    staged: int = 0
    passing: int = 0
    dirty: bool = False
    _kept_now: int = 0
    _staged_now: int = 0

    def begin(self) -> None:
        """Another segment: its instances have all of the memory."""
        self._kept_now = self._staged_now = 0
        self.dirty = False

    def room(self, size: int) -> bool:
        """Whether a buffer of ``size`` bytes may take shared memory that it need not have."""
        return self._kept_now + size <= KEPT_LIMIT

    @property
    def kept_now(self) -> int:
        """Bytes of the buffers of this segment."""
        return self._kept_now

    def keep(self, size: int) -> int:
        """The offset of a buffer of ``size`` bytes."""
        offset = self._kept_now
        self._kept_now += -(-size // ALIGNMENT) * ALIGNMENT
        self.kept = max(self.kept, self._kept_now)
        return offset

    @contextmanager
    def stage(self) -> Iterator[None]:
        """Around a loop with tiles; loops that follow one another use the same memory."""
        before = self._staged_now
        yield
        self._staged_now = before

    def tiles(self, size: int) -> int:
        """The offset, from ``staged`` on, of ``size`` bytes until the end of the stage."""
        offset = self._staged_now
        self._staged_now += -(-size // ALIGNMENT) * ALIGNMENT
        self.staged = max(self.staged, self._staged_now)
        return offset

    @property
    def tiled(self) -> int:
        """Bytes of the tiles that stand now."""
        return self._staged_now

    def exchange(self, size: int) -> None:
        """An exchange of ``size`` bytes takes place."""
        self.passing = max(self.passing, size)

    @property
    def staged_at(self) -> int:
        """Where the second part begins."""
        return -(-self.kept // TILE_ALIGNMENT) * TILE_ALIGNMENT

    @property
    def passing_at(self) -> int:
        """Where the third part begins."""
        return self.staged_at + -(-self.staged // TILE_ALIGNMENT) * TILE_ALIGNMENT

    @property
    def total(self) -> int:
        return self.passing_at + self.passing if self.passing or self.staged else self.kept
