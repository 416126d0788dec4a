"""Shared memory of a block: a piece that passing exchanges share, behind pieces that live on."""

from __future__ import annotations

from dataclasses import dataclass

ALIGNMENT = 128
EXCHANGE_LIMIT = 48 * 1024
"""Most bytes of one exchange; larger fragments pass in several parts."""


@dataclass
class Scratch:
    """What the text needs.

    ``kept`` bytes from offset 0 on live on; behind them lie the ``passing`` bytes, whose offset the text calls
    ``scratch``. ``dirty``: some thread may still read what the last exchange left there.
    """

    kept: int = 0
    passing: int = 0
    dirty: bool = False

    def keep(self, size: int) -> int:
        """The offset of ``size`` bytes of their own."""
        offset = self.kept
        self.kept += -(-size // ALIGNMENT) * ALIGNMENT
        return offset

    def exchange(self, size: int) -> None:
        """An exchange of ``size`` bytes takes place."""
        self.passing = max(self.passing, size)

    @property
    def total(self) -> int:
        return self.kept + self.passing
