"""The order of the passes, with the reason for each position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from intent import physical as ph
from intent.passes.narrowed_division import narrowed_division

Pass = Callable[[ph.Program], ph.Program]

PASSES: Final[tuple[tuple[str, Pass], ...]] = (
    # Needs only def-use; nothing later makes or removes casts.
    ("narrowed_division", narrowed_division),
)


def refine(program: ph.Program) -> ph.Program:
    """The program after all passes; every pass takes and leaves a valid program."""
    for _, run in PASSES:
        program = run(program)
    return program
