"""The order of the passes, with the reason for each position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from intent import physical as ph
from intent.passes.absorption import absorption
from intent.passes.divisors import divisors
from intent.passes.flushed import flushed
from intent.passes.fusion import fusion
from intent.passes.narrowed import narrowed
from intent.passes.narrowing import narrowing
from intent.passes.online import online
from intent.passes.peeling import peeling
from intent.passes.permissions import Permissions
from intent.passes.rereading import rereading
from intent.passes.splitting import splitting
from intent.passes.starting import starting
from intent.passes.streaming import streaming

Pass = Callable[[ph.Program, Permissions], ph.Program]

PASSES: Final[tuple[tuple[str, Pass], ...]] = (
    # First, so that the others see a loop whole.
    ("fusion", fusion),
    # Makes folds of what the author did not write as one, for the passes after it.
    ("online", online),
    # Reads a fold's summary and identity, which absorption mixes with the carries.
    ("narrowing", narrowing),
    # Before peeling, so that what it rewrites stands there once.
    ("absorption", absorption),
    # After absorption, which gives contractions factors to start from; before peeling, while a loop is one.
    ("starting", starting),
    # Splits the range that narrowing left.
    ("peeling", peeling),
    # Needs only def-use; nothing later makes or removes casts.
    ("narrowed", narrowed),
    # As narrowed.
    ("flushed", flushed),
    # Nothing later makes contractions.
    ("splitting", splitting),
    # After all that makes and joins loops.
    ("rereading", rereading),
    # Beside it; both before the quotients that say which instance it is are rewritten.
    ("streaming", streaming),
    # Last, so that the others see the quotients of indices as they were made.
    ("divisors", divisors),
)


def refine(program: ph.Program, permissions: Permissions | None = None) -> ph.Program:
    """The program after all passes; every pass takes and leaves a valid program."""
    permissions = Permissions() if permissions is None else permissions
    for _, run in PASSES:
        program = run(program, permissions)
    return program
