"""The table at the end of a conformance run: per provider, how many cases hold at all of their points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One point that ran: on which provider, how, and whether it held (``excused``: failed as foretold)."""

    provider: str
    execution: str
    case: str
    passed: bool
    excused: bool = False


def table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Lines of text, one per provider and execution, then the names of the cases that failed."""
    groups: dict[tuple[str, str], dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        groups[outcome.provider, outcome.execution][outcome.case].append(outcome)
    for (provider, execution), cases in sorted(groups.items()):
        points = sum(map(len, cases.values()))
        failed = sorted(name for name, found in cases.items() if not all(o.passed for o in found))
        excused = sorted(name for name, found in cases.items() if any(o.excused for o in found))
        held = len(cases) - len(failed) - len(set(excused) - set(failed))
        yield f"{provider} ({execution}): {held} of {len(cases)} cases hold, {points} points"
        if excused:
            yield f"  excused: {', '.join(excused)}"
        if failed:
            yield f"  failed: {', '.join(failed)}"
