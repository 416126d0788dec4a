"""One mutant against cases and tests, in a process of its own: a fork that takes the wrong compiler with it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Final

from intent_testkit.differential import check_guards
from intent_testkit.mutants.expense import dearer, together
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import put_in
from intent_testkit.mutants.right import Right
from intent_testkit.mutants.rooms import Made, Room
from intent_testkit.mutants.tested import failure

PER_CASE, PROGRAMS = 8, 160
"""Most other programs of one case, and of one mutant, that are verified and run."""
SECONDS: Final = 60
"""Processor time that a case or a test may take; the longest take two."""


class NoEnd(BaseException):
    """A wrong compiler does not come to an end."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``noticed``: what failed, or None for a survivor.

    ``cases``: how many were tried, ``tests``: how many tests were run. ``other``: in how many cases it made another
    program before it was noticed: a survivor with none is, as far as the cases tell, the same compiler. ``dearer``:
    what these have more of. ``alike``: these are other texts, and compile to the same
    instructions.
    """

    mutant: Mutant
    noticed: str | None
    cases: int
    tests: int = 0
    other: int = 0
    dearer: tuple[str, ...] = ()
    alike: bool = False


@dataclass(frozen=True, kw_only=True)
class Constructed:
    """Tries mutants of a room: only programs that the right compiler does not make are run, and then its tests."""

    right: Right
    room: Room
    most: int = 60
    """Most cases that one mutant is tried on."""

    def cases(self, mutant: Mutant) -> list[str]:
        """The names of the cases and tests that can tell the mutant, the most telling first."""
        return self.right.cases(mutant)

    def tried(self, mutant: Mutant, names: Sequence[str]) -> Outcome:
        """Put the mutant in place of the right compiler, for good, and test what it makes of the cases."""
        cases = [name for name in names if "::" not in name][: self.most]
        tests = [name for name in names if "::" in name][: self.room.asked]
        put_in(mutant)
        signal.signal(signal.SIGPROF, _no_end)
        more: set[str] = set()
        other = programs = ran = 0
        noticed: str | None = None
        for name in cases:
            try:
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                count = self._case(name, more)
            except (Exception, NoEnd) as error:  # noqa: BLE001 -- whatever it is, the fault was noticed
                text = " ".join(str(error).split())
                noticed = f"{name}: {type(error).__name__}: {text[:160]}"
                break
            other += count > 0
            programs += count
            if programs > PROGRAMS:
                break
        if noticed is None and tests:
            noticed, ran = failure(tests, before=lambda _: signal.setitimer(signal.ITIMER_PROF, SECONDS))
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Outcome(
            mutant=mutant,
            noticed=noticed,
            cases=len(cases),
            tests=ran,
            other=other,
            dearer=tuple(sorted(more)),
        )

    def _case(self, name: str, more: set[str]) -> int:
        """Test what is made of a case; how many other programs were; ``more`` notes what they cost more."""
        compiled, known = self.right.lowered(name), self.right.programs[name]
        all_made = list(self.room.made(compiled))
        different = [m for m in all_made if m.digest not in known]
        tested = _spread(different)
        for made in tested:
            made.check()
        if not different or different[0].digest is None:
            return 0
        check_guards(compiled.case)
        more.update(dearer(together(m.expense for m in all_made), self.right.expenses[name]))
        return len(tested)


def _spread(made: Sequence[Made]) -> Sequence[Made]:
    """At most ``PER_CASE`` of them, from the first to the last."""
    return made[:: -(-len(made) // PER_CASE)] if made else made


def _no_end(_: int, frame: FrameType | None) -> None:
    raise NoEnd(f"after {SECONDS} s, in {frame.f_code.co_qualname if frame else 'nothing'}")
