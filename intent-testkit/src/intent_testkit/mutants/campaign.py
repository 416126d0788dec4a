"""Trying mutants side by side, each against the cases that run its line."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Final, Protocol

import numpy as np

from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import NotReplaceable
from intent_testkit.mutants.trial import Outcome

SECONDS, MEMORY = 1500, 6 << 30
"""Time by the clock, and bytes, that one mutant may take."""
_FORK: Final = multiprocessing.get_context("fork")


class Known(Protocol):
    """What the right compiler does, and how a wrong one is tried."""

    def cases(self, mutant: Mutant) -> list[str]:
        """The names of the cases that can tell the mutant, the most telling first."""
        ...

    def tried(self, mutant: Mutant, names: Sequence[str]) -> Outcome:
        """Put the mutant in place of the right compiler, for good, and test what it makes of the cases."""
        ...


def drawn(mutants: Iterable[Mutant], each: int, seed: int) -> list[Mutant]:
    """At most ``each`` mutants of every kind of fault; all of them for 0.

    The order is random, so that the first ones of a long campaign tell how it will end.
    """
    by_fault: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_fault.setdefault(mutant.fault, []).append(mutant)
    rng = np.random.default_rng(seed)
    chosen: list[Mutant] = []
    for found in by_fault.values():
        order = rng.permutation(len(found))[: each or None]
        chosen += [found[k] for k in order]
    return [chosen[k] for k in rng.permutation(len(chosen))]


def outcomes(mutants: Sequence[Mutant], right: Known, jobs: int) -> Iterator[Outcome]:
    """Try every mutant, ``jobs`` at a time; in the order in which they end."""
    waiting = list(reversed(mutants))
    running: dict[Connection, tuple[ForkProcess, Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            here, there = _FORK.Pipe(duplex=False)
            process = _FORK.Process(target=_child, args=(there, mutant, right))
            process.start()
            there.close()
            running[here] = process, mutant, time.monotonic()
        ended = set(wait(list(running), timeout=1))
        for here, (process, mutant, began) in list(running.items()):
            late = time.monotonic() - began > SECONDS
            if here not in ended and not late:
                continue
            del running[here]
            found = _outcome(here if here in ended else None, mutant, right)
            if found is not None:
                yield found
            process.kill()
            process.join()
            here.close()


def _child(there: Connection, mutant: Mutant, right: Known) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        there.send(right.tried(mutant, right.cases(mutant)))
    except NotReplaceable:
        there.send(None)
    there.close()


def _outcome(ended: Connection | None, mutant: Mutant, right: Known) -> Outcome | None:
    """None for a fault in code that has run before it could be put in."""
    cases = len(right.cases(mutant))
    if ended is None:
        return Outcome(mutant=mutant, noticed=f"no end after {SECONDS} s", cases=cases)
    try:
        found: Outcome | None = ended.recv()
    except EOFError:
        return Outcome(mutant=mutant, noticed="the compiler died", cases=cases)
    return found
