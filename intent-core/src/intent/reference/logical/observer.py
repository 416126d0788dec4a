"""What an evaluation tells about itself while it runs: the hooks of the sanitizer.

The evaluator calls an observer at every operation and at every step of a loop, and goes on as if nobody
listened: an observer sees the machine's values, and may end the evaluation by raising :class:`Stop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from intent import kir

if TYPE_CHECKING:
    from intent.reference.logical.machine import Machine

Loop = kir.For | kir.While


class Stop(Exception):
    """Ends an evaluation that has nothing to go on with."""


class Observer:
    """Listens to nothing; subclasses override what they want to hear."""

    def started(self, machine: Machine, kernel: kir.Kernel) -> None:
        """The arguments are bound and every launch condition holds; nothing ran yet."""

    def before(self, machine: Machine, op: kir.Op) -> None:
        """``op`` is about to run: its operands have their values, its results do not."""

    def after(self, machine: Machine, op: kir.Op) -> None:
        """``op`` ran: its results have their values."""

    def yielded(self, machine: Machine, region: kir.Region) -> None:
        """A region ran to its end; what it yields goes to the operation around it."""

    def entered(self, machine: Machine, loop: Loop) -> None:
        """One execution of a loop begins."""

    def point(self, machine: Machine, loop: Loop, value: int) -> None:
        """The body runs next for the loop variable ``value``; for a while loop, for step number ``value``."""

    def left(self, machine: Machine, loop: Loop) -> None:
        """The loop ended: what follows comes after all of its points."""

    def lanes(self, machine: Machine, active: NDArray[Any] | None) -> None:
        """A scalar region runs at many points at once, and from here on only the ``active`` ones are meant.

        ``None``: all of them.
        """
