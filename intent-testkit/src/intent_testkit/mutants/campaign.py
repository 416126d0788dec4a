"""Trying mutants side by side, each against the cases that run its line."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import inf
from typing import Protocol

import numpy as np

from intent_testkit.mutants.forked import Lost, forked
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import NotReplaceable
from intent_testkit.mutants.trial import Outcome

SECONDS, MEMORY = 1500, 6 << 30
"""Time by the clock, and bytes, that one mutant may take."""


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


def outcomes(
    mutants: Sequence[Mutant], right: Known, jobs: int, *, begin_within: float = inf
) -> Iterator[Outcome]:
    """Try every mutant, ``jobs`` at a time, none begun after ``begin_within`` s; in the order in which they end.

    Faults in code that has run before it could be put in have no outcome.
    """
    tried = partial(_tried, right)
    for mutant, found in forked(mutants, tried, jobs, most=SECONDS, begin_within=begin_within):
        if isinstance(found, Lost):
            noticed = "the compiler died" if found is Lost.DIED else f"no end after {SECONDS} s"
            yield Outcome(mutant=mutant, noticed=noticed, cases=len(right.cases(mutant)))
        elif found is not None:
            yield found


def _tried(right: Known, mutant: Mutant) -> Outcome | None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        return right.tried(mutant, right.cases(mutant))
    except NotReplaceable:
        return None
