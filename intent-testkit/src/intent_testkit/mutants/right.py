"""What the right compiler makes of the cases: programs that are known to be right, and who runs which lines.

A wrong compiler that makes these very programs needs no further test of them, and no test can find it by them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final

from intent.construct import Plan
from intent.passes import PASSES, Permissions
from intent.physical import Program
from intent.physical.text import print_program
from intent.physical.walk import walk
from intent_testkit.cases import ALL
from intent_testkit.differential import plans_of
from intent_testkit.mutants.expense import Expense, expense, together
from intent_testkit.plans import Compiled
from intent_testkit.run import Point

_NUMBER: Final = re.compile(r"[%!]\d+")


@dataclass(frozen=True, kw_only=True)
class Right:
    """``lines``: module -> line -> names of the cases that run it, see :func:`telling_first`.

    ``programs``: digests by case; ``expenses``: what all of them cost together, by :func:`priced`.
    """

    lines: dict[str, dict[int, list[str]]]
    programs: dict[str, frozenset[str]]
    expenses: dict[str, Expense]
    compiled: dict[str, Compiled] = field(default_factory=dict)

    def cases(self, module: str, line: int) -> list[str]:
        """The names of the cases that run a line, the most telling first."""
        return self.lines.get(module, {}).get(line, [])

    def lowered(self, case: str) -> Compiled:
        """The case with the kernel that was lowered for it before anything was wrong; everything else is new."""
        known = self.compiled.get(case)
        if known is None:
            known = self.compiled[case] = Compiled(_CASES[case])
        return Compiled(known.case, kernel=known.kernel)

    def save(self, path: Path) -> None:
        """Write lines and programs, for :func:`load`."""
        programs = {case: sorted(digests) for case, digests in self.programs.items()}
        found = {"lines": self.lines, "programs": programs, "expenses": self.expenses}
        path.write_text(json.dumps(found), encoding="utf-8")


_CASES: Final = {case.name: case for case in ALL}


def load(path: Path) -> Right:
    """What :meth:`Right.save` wrote. Lines are those of the sources then."""
    found = json.loads(path.read_text(encoding="utf-8"))
    lines = {m: {int(k): v for k, v in by_line.items()} for m, by_line in found["lines"].items()}
    programs = {case: frozenset(digests) for case, digests in found["programs"].items()}
    expenses = {case: Counter(counts) for case, counts in found["expenses"].items()}
    return Right(lines=lines, programs=programs, expenses=expenses)


def watch(modules: Iterable[str]) -> Right:
    """Make every program of every case once, watching the lines of the modules that run."""
    files = {file_of(module): module for module in modules}
    import coverage

    tracer = coverage.Coverage(include=list(files), data_file=None, branch=False)
    seconds: dict[str, float] = {}
    programs: dict[str, frozenset[str]] = {}
    expenses: dict[str, Expense] = {}
    compiled: dict[str, Compiled] = {}
    tracer.start()
    try:
        for case in ALL:
            tracer.switch_context(case.name)
            began = time.perf_counter()
            known = compiled[case.name] = Compiled(case)
            digests: set[str] = set()
            for passes in (False, True):
                all_made = list(made(known, passes=passes))
                digests.update(m.digest for m in all_made)
                expenses[priced(case.name, passes=passes)] = together(m.expense for m in all_made)
            programs[case.name] = frozenset(digests)
            seconds[case.name] = time.perf_counter() - began
    finally:
        tracer.stop()
    data = tracer.get_data()
    found: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for file in data.measured_files():
        for line, cases in data.contexts_by_lineno(file).items():
            found[files[file]][line] = [case for case in cases if case in seconds]
    telling_first(found, seconds)
    return Right(lines=dict(found), programs=programs, expenses=expenses, compiled=compiled)


def telling_first(lines: dict[str, dict[int, list[str]]], seconds: dict[str, float]) -> None:
    """Sort the cases of every line: those first that add most lines in a second, which a few together run all."""
    runs: dict[str, int] = dict.fromkeys(seconds, 0)  # a bit for every line
    for number, cases in enumerate(cases for by_line in lines.values() for cases in by_line.values()):
        for case in cases:
            runs[case] |= 1 << number
    rank: dict[str, int] = {}
    new = 0
    while len(rank) < len(runs):
        left = [case for case in runs if case not in rank]
        new = new if any(runs[case] & new for case in left) else reduce(or_, (runs[case] for case in left))
        best = max(left, key=lambda case: (runs[case] & new).bit_count() / seconds[case])
        rank[best] = len(rank)
        new &= ~runs[best]
    for by_line in lines.values():
        for line in by_line:
            by_line[line].sort(key=lambda case: rank[case])


def priced(case: str, *, passes: bool) -> str:
    """The name of what the programs of a case cost, before or after the passes."""
    return f"{case} after the passes" if passes else case


@dataclass(frozen=True, kw_only=True)
class Made:
    """One program that the differential tests run: a digest of it and its plan, and what it costs."""

    point: Point
    plan: Plan
    digest: str
    expense: Expense


def made(compiled: Compiled, *, passes: bool) -> Iterator[Made]:
    """What the differential tests run of a case.

    ``passes``: with what every pass makes of it, for mutants of passes.
    """
    for point, plan in plans_of(compiled):
        stages = [compiled.constructed(plan)]
        for _, run in PASSES if passes else ():
            after = run(stages[-1], Permissions())
            if after is not stages[-1]:
                stages.append(after)
        digest = _digest(point, plan, stages)
        yield Made(point=point, plan=plan, digest=digest, expense=expense(stages[-1]))


def _digest(point: Point, plan: Plan, stages: list[Program]) -> str:
    """Equal for programs that differ in the numbers of their values only."""
    parts = [str(point), str(plan)]
    for program in stages:
        numbers: dict[str, str] = {}
        text = print_program(program)
        parts.append(_NUMBER.sub(lambda m, n=numbers: n.setdefault(m[0], f"{m[0][0]}{len(n)}"), text))  # type: ignore[misc]
        parts.append(str([op.origin for segment in program.segments for op in walk(segment.body)]))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_of(module: str) -> str:
    """Where the source of an importable module is. Raises ModuleNotFoundError for a name without one."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return str(Path(spec.origin).resolve())
