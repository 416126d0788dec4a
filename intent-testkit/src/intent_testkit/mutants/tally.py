"""Counting what becomes of mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from intent_testkit.mutants.survivors import KNOWN
from intent_testkit.mutants.trial import Outcome


@dataclass(kw_only=True)
class Tally:
    """Verdicts by kind of fault: as :func:`verdict_of` gives them."""

    name: str
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> str:
        """Count an outcome; a line that says what it is."""
        verdict = verdict_of(outcome)
        self.counts.setdefault(outcome.mutant.fault, Counter())[verdict] += 1
        made = f"other programs in {outcome.other} of {outcome.cases} cases; {outcome.tests} tests"
        said = {
            "found": outcome.noticed,
            "dearer": f"{made}: {', '.join(outcome.dearer)}",
            "known": KNOWN.get(outcome.mutant.name),
        }
        return f"{verdict:6} {outcome.mutant}\n       {said.get(verdict, made)}"

    @staticmethod
    def record(outcome: Outcome) -> dict[str, object]:
        """The same as data."""
        return {
            "name": outcome.mutant.name,
            "verdict": verdict_of(outcome),
            "noticed": outcome.noticed,
            "cases": outcome.cases,
            "tests": outcome.tests,
            "other": outcome.other,
            "what": str(outcome.mutant),
        }

    @property
    def total(self) -> Counter[str]:
        """Verdicts of all kinds together."""
        return sum(self.counts.values(), Counter())

    @property
    def rate(self) -> float:
        """Found among all that are neither dearer nor alike nor known."""
        total = self.total
        return total["found"] / max(1, total["found"] + total["open"])

    def by_fault(self) -> Iterator[str]:
        """A line for each kind of fault."""
        for fault, counts in sorted(self.counts.items()):
            yield f"{fault:18} {counts['found']:4} of {counts.total():4} found; {_rest(counts)}"

    def __str__(self) -> str:
        total = self.total
        return f"{self.name}: {total.total()} tried, {total['found']} found; {_rest(total)}: {self.rate:.1%}"


def verdict_of(outcome: Outcome) -> str:
    """``found``, ``known``, ``alike``, ``dearer`` or ``open``."""
    if outcome.noticed is not None:
        return "found"
    if outcome.mutant.name in KNOWN:
        return "known"
    return "alike" if outcome.alike else "dearer" if outcome.dearer else "open"


def _rest(counts: Counter[str]) -> str:
    right = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("dearer", "alike", "known"))
    return f"{right}, {counts['open']} not told apart"
