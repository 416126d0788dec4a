"""Tables: at the end of a conformance run, how many cases hold per provider; and the coverage of plans.

``python -m intent_testkit.report --coverage`` prints how many cases exercise each (entry of a plan, kind of
operation), as the differential suite runs them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of coverage."""
    parser = argparse.ArgumentParser(
        prog="python -m intent_testkit.report", description="tables of the testkit"
    )
    parser.add_argument("--coverage", action="store_true", required=True, help="plan entries x operations")
    parser.add_argument(
        "--intent-case", metavar="TEXT", default="", help="only cases whose name contains TEXT"
    )
    given = parser.parse_args(arguments)
    # Imported here: the table of a conformance run needs neither plans nor construction.
    from intent_testkit.cases import ALL
    from intent_testkit.coverage import measure, rows

    for line in rows(measure(case for case in ALL if given.intent_case in case.name)):
        print(line)  # noqa: T201 - this is the program's output


if __name__ == "__main__":
    main()
