"""What emulation finds wrong in emitted text, one class per cause."""

from __future__ import annotations

__all__ = [
    "Deadlock", "DivergentBarrier", "EmulationFault", "MisalignedAccess", "OutsideAccess", "RacingAccess",
]  # fmt: skip


class EmulationFault(RuntimeError):
    """The emitted text did what a GPU does not define. ``line`` is its line in the text, 0 if unknown."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


class OutsideAccess(EmulationFault, IndexError):
    """An access outside the view or the piece of shared memory it is an access of."""


class MisalignedAccess(EmulationFault):
    """A wide access whose address its size does not divide."""


class RacingAccess(EmulationFault):
    """Two threads touch one element, one of them writes, and nothing orders them."""


class DivergentBarrier(EmulationFault):
    """Threads meet at different places, or some have left the kernel while others wait."""


class Deadlock(EmulationFault):
    """No thread can go on."""
