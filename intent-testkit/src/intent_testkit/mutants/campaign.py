"""Trying mutants side by side, each against the cases that reach it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.reach import Reach

SECONDS = 300
CASES = 60
"""Most cases that one mutant is tried on; the cheapest that reach its line."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``noticed``: what failed, or None for a survivor. ``cases``: how many reach the mutant's line."""

    mutant: Mutant
    noticed: str | None
    cases: int


def drawn(mutants: Iterable[Mutant], reached: Reach, each: int, seed: int) -> list[Mutant]:
    """At most ``each`` mutants of every kind of fault, on lines that some case runs."""
    by_fault: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        if reached.get(mutant.module, {}).get(mutant.line):
            by_fault.setdefault(mutant.fault, []).append(mutant)
    rng = np.random.default_rng(seed)
    chosen: list[Mutant] = []
    for found in by_fault.values():
        order = rng.permutation(len(found))[:each]
        chosen += [found[k] for k in sorted(order)]
    return chosen


def outcomes(mutants: Sequence[Mutant], reached: Reach, jobs: int) -> Iterator[Outcome]:
    """Try every mutant, ``jobs`` at a time, in order."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda pair: _tried(pair[0], pair[1], Path(folder), reached), enumerate(mutants))


def _tried(number: int, mutant: Mutant, folder: Path, reached: Reach) -> Outcome:
    cases = reached[mutant.module][mutant.line]
    path = folder / f"{number}.py"
    path.write_text(mutant.source, encoding="utf-8")
    command = [sys.executable, "-m", "intent_testkit.mutants.trial", mutant.module, str(path), *cases[:CASES]]
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and files of ours
            command, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(mutant=mutant, noticed=f"no end after {SECONDS} s", cases=len(cases))
    if done.returncode == 0:
        return Outcome(mutant=mutant, noticed=None, cases=len(cases))
    last = (done.stdout.strip() or done.stderr.strip() or "died").splitlines()[-1]
    return Outcome(mutant=mutant, noticed=last, cases=len(cases))
