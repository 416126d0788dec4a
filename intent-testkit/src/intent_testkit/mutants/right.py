"""What the right compiler makes of the cases: programs that are known to be right, and who runs which lines.

A wrong compiler that makes these very programs needs no further test of them, and no test can find it by them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

import intent
import intent_testkit
from intent_testkit.cases import ALL
from intent_testkit.mutants.expense import Expense
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.tested import of_core
from intent_testkit.plans import Compiled

Lines = dict[str, dict[int, list[str]]]
_CASES: Final = {case.name: case for case in ALL}


@dataclass(frozen=True, kw_only=True)
class Right:
    """``lines``: module -> line -> names of the cases and tests that run it, see :func:`telling_first`.

    ``programs``: digests by case; ``expenses``: what all of them cost together. ``mattered``: mutant -> names of the
    cases and tests in which it matters that the condition is asked that it does not ask. ``failing``: what those tests
    say that fail although nothing is wrong, and are not asked.
    """

    lines: Lines
    programs: dict[str, frozenset[str]]
    expenses: dict[str, Expense]
    mattered: dict[str, list[str]] = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)
    compiled: dict[str, Compiled] = field(default_factory=dict)

    def cases(self, mutant: Mutant) -> list[str]:
        """The names of the cases and tests (with "::") that can tell the mutant, the most telling first.

        Those in which its condition matters, where that is known; or else that run its line, or its statement: some
        lines are run without being seen.
        """
        if mutant.name in self.mattered:
            return self.mattered[mutant.name]
        lines = self.lines.get(mutant.module, {})
        return lines.get(mutant.line) or lines.get(mutant.statement, [])

    def lowered(self, case: str) -> Compiled:
        """The case with the kernel that was lowered for it before anything was wrong; everything else is new."""
        known = self.compiled.get(case)
        if known is None:
            known = self.compiled[case] = Compiled(_CASES[case])
        return Compiled(known.case, kernel=known.kernel)

    def save(self, path: Path) -> None:
        """Write lines and programs, for :func:`load`."""
        programs = {case: sorted(digests) for case, digests in self.programs.items()}
        found = {
            "of": sources(),
            "lines": self.lines,
            "programs": programs,
            "expenses": self.expenses,
            "mattered": self.mattered,
            "failing": self.failing,
        }
        path.write_text(json.dumps(found), encoding="utf-8")


def load(path: Path) -> Right | None:
    """What :meth:`Right.save` wrote; None if there is nothing, or if it was written of other sources."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if found.get("of") != sources():
        return None
    lines = {m: {int(k): v for k, v in by_line.items()} for m, by_line in found["lines"].items()}
    programs = {case: frozenset(digests) for case, digests in found["programs"].items()}
    expenses = {case: Counter(counts) for case, counts in found["expenses"].items()}
    return Right(
        lines=lines,
        programs=programs,
        expenses=expenses,
        mattered=found["mattered"],
        failing=found["failing"],
    )


def sources() -> str:
    """A digest of the compiler, of the testkit and of the core's tests."""
    folders = [Path(str(package.__file__)).parent for package in (intent, intent_testkit)]
    files = sorted(file for folder in (*folders, *map(Path, of_core("."))) for file in folder.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def lines_run(data: Any, files: Mapping[str, str], seconds: Mapping[str, float]) -> Lines:
    """Module -> line -> what ran it, of coverage data; ``files``: the modules by their files."""
    return {
        files[file]: {
            line: [name for name in names if name in seconds]
            for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }


def telling_first(lines: Lines, seconds: Mapping[str, float]) -> dict[str, int]:
    """Sort the cases of every line: those first that add most lines in a second, which a few together run all.

    The place of every case.
    """
    runs: dict[str, int] = dict.fromkeys(seconds, 0)  # a bit for every line
    for number, cases in enumerate(cases for by_line in lines.values() for cases in by_line.values()):
        for case in cases:
            runs[case] |= 1 << number
    rank: dict[str, int] = {}
    new = 0
    while len(rank) < len(runs):
        left = [case for case in runs if case not in rank]
        new = new if any(runs[case] & new for case in left) else reduce(or_, (runs[case] for case in left))
        best = max(left, key=lambda case: (runs[case] & new).bit_count() / max(seconds[case], 1e-3))
        rank[best] = len(rank)
        new &= ~runs[best]
    for by_line in lines.values():
        for line in by_line:
            by_line[line].sort(key=lambda case: rank[case])
    return rank


def file_of(module: str) -> str:
    """Where the source of an importable module is. Raises ModuleNotFoundError for a name without one."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return str(Path(spec.origin).resolve())
