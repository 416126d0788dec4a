"""One mutant against the cases, in a process of its own: a fork that takes the wrong compiler with it when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intent_testkit.differential import check_guards, check_plan
from intent_testkit.mutants.expense import dearer, together
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import put_in
from intent_testkit.mutants.right import Right, made, priced

CASES: Final = 30
"""Most cases that one mutant is tried on."""
PROGRAMS: Final = 400
"""Most other programs of one mutant that are verified and run."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``noticed``: what failed, or None for a survivor.

    ``cases``: how many run the mutant's line. ``other``: in how many of these it made another program before it was
    noticed: a survivor with none is, as far as the cases tell, the same compiler. ``dearer``: what these have more of.
    """

    mutant: Mutant
    noticed: str | None
    cases: int
    other: int = 0
    dearer: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Constructed:
    """Tries mutants of construction and of passes: only programs that the right compiler does not make are run."""

    right: Right

    def cases(self, module: str, line: int) -> list[str]:
        """The names of the cases that run a line, the most telling first."""
        return self.right.cases(module, line)

    def tried(self, mutant: Mutant, names: Sequence[str]) -> Outcome:
        """Put the mutant in place of the right compiler, for good, and test what it makes of the cases."""
        return tried(mutant, names[:CASES], self.right)


def tried(mutant: Mutant, names: Sequence[str], right: Right) -> Outcome:
    """Put the mutant in place of the right compiler, for good, and test what it makes of the cases until one fails."""
    put_in(mutant)
    passes = mutant.module.startswith("intent.passes")
    more: set[str] = set()
    other = programs = 0
    noticed: str | None = None
    try:
        for name in names:
            compiled, known = right.lowered(name), right.programs[name]
            all_made = list(made(compiled, passes=passes))
            different = [m for m in all_made if m.digest not in known]
            other += bool(different)
            programs += len(different)
            for m in different:
                check_plan(compiled, m.point, m.plan)
            if different:
                check_guards(compiled.case)
                cost = right.expenses[priced(name, passes=passes)]
                more.update(dearer(together(m.expense for m in all_made), cost))
            if programs > PROGRAMS:
                break
    except Exception as error:  # noqa: BLE001 -- whatever it is, the fault was noticed
        text = " ".join(str(error).split())
        noticed = f"{name}: {type(error).__name__}: {text[:160]}"
    return Outcome(mutant=mutant, noticed=noticed, cases=len(names), other=other, dearer=tuple(sorted(more)))
