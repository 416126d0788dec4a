"""What the right providers spell of the cases, and trying mutants of a provider: only other texts are run.

The programs are made once, before anything is wrong; a mutant only spells them again.
"""

from __future__ import annotations

import hashlib
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import intent
from intent.construct import Plan
from intent.diagnostics import CapabilityError, MissingToolkit
from intent.physical import Program
from intent_testkit.mutants.code import code_of, dearer_only, price, said, unordered
from intent_testkit.mutants.expense import together
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import put_in
from intent_testkit.mutants.right import Lines
from intent_testkit.mutants.tested import failure
from intent_testkit.mutants.trial import Outcome
from intent_testkit.run import Point, run
from intent_testkit.suite import Suite

TEXTS, EACH = 16, 2
"""Most other texts of one mutant that are run, and most of one case."""
TESTS: Final = 50
"""Most tests of one mutant that are run."""
UNTOLD: Final = 15
"""Most tests of a mutant that spells nothing otherwise."""
REFUSED: Final = "refused "
CODES: Final = 3
"""Most other texts of one mutant whose code is compared."""
MOST: Final = 240
"""Seconds of processor time that a mutant may take: one that takes more does not come to an end."""
LONG: Final = 40.0
"""Seconds of processor time after which no further text is run, and no further test; each is given as much."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """One program that the provider is given, and where it is run."""

    point: Point
    plan: Plan
    program: Program


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """Programs of the cases for one provider, digests of their texts, and which cases run which lines.

    The tests of single operations count as cases too: those that spell no program that is spelled otherwise are not
    run. ``given`` has the programs of each of them.
    """

    provider: str
    programs: dict[str, list[Given]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, list[Program]] = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)
    """What tests say that fail without any mutant; they are left out."""

    def cases(self, mutant: Mutant) -> list[str]:
        """The names of the cases that run the mutant's line or statement, the most telling first."""
        lines = self.lines.get(mutant.module, {})
        return lines.get(mutant.line) or lines.get(mutant.statement, [])

    def spelled(self, name: str) -> list[str]:
        """Digests of all that the provider says of each program of a case, as it spells them now."""
        known = self.given[name] if "::" in name else [given.program for given in self.programs[name]]
        return [_digest(self.provider, program) for program in known]

    def tried(self, mutant: Mutant, names: Sequence[str]) -> Outcome:
        """Put the mutant in place of the right provider, for good, and run what it spells otherwise."""
        resource.setrlimit(resource.RLIMIT_CPU, (MOST, MOST))
        put_in(mutant)
        noticed, changed = self._texts_tried([name for name in names if "::" not in name])
        programs = [given.program for _, given in changed]
        tests = 0
        if noticed is None:
            reaching = [name for name in names if "::" in name]
            telling = list(islice(filter(self._is_told_by, reaching), TESTS))
            if not telling and not changed:  # what is said of arguments and launches, and not of texts
                telling = reaching[:UNTOLD]
            if telling:
                noticed, tests = failure(telling, self.provider, seconds=LONG)
            programs += (
                [program for test in telling for program in self._otherwise(test)] if not noticed else []
            )
        other = len({name for name, _ in changed})
        outcome = Outcome(mutant=mutant, noticed=noticed, cases=len(names), tests=tests, other=other)
        return outcome if noticed or not programs else self._compared(outcome, programs)

    def _texts_tried(self, names: Sequence[str]) -> tuple[str | None, list[tuple[str, Given]]]:
        """What failed, and which programs had another text until then."""
        changed: list[tuple[str, Given]] = []
        ran = 0
        noticed: str | None = None
        end = time.process_time() + LONG
        try:
            for name in names:
                now = zip(self.programs[name], self.spelled(name), self.texts[name], strict=True)
                different = [given for given, text, right in now if text != right]
                changed += [(name, given) for given in different]
                for given in different[:EACH]:
                    self._check(given)
                    ran += 1
                if ran >= TEXTS or time.process_time() > end:
                    break
        except Exception as error:  # noqa: BLE001 -- whatever it is, the fault was noticed
            noticed = f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:160]}"
        return noticed, changed

    def _is_told_by(self, test: str) -> bool:
        """Whether a test spells something otherwise, or spells no program but runs the line."""
        try:
            return not self.given[test] or self.spelled(test) != self.texts[test]
        except Exception:  # noqa: BLE001 -- the test that spells this program will say
            return True

    def _otherwise(self, test: str) -> list[Program]:
        """The programs of a test that are spelled otherwise, and not refused."""
        now = zip(self.given[test], self.spelled(test), self.texts[test], strict=True)
        return [program for program, text, right in now if text != right and not text.startswith(REFUSED)]

    def _check(self, given: Given) -> None:
        case = given.point.case
        with Suite.execution(self.provider) as (_, place):
            artifact = intent.compile(
                case.kernel, provider=self.provider, constexprs=dict(case.constexprs), plan=given.plan
            )
            run(given.point, artifact, place)

    def _compared(self, outcome: Outcome, changed: Sequence[Program]) -> Outcome:
        """Whether other texts compile to the same code, or to code that costs more and nothing less."""
        programs = changed[:: -(-len(changed) // CODES)]
        try:
            wrong = [code_of(self.provider, program) for program in programs]
            put_in(replace(outcome.mutant, source=outcome.mutant.original, original=outcome.mutant.source))
            right = [code_of(self.provider, program) for program in programs]
        except MissingToolkit:
            return outcome
        except Exception as error:  # noqa: BLE001 -- the compiler refuses what the right provider does not say
            return replace(
                outcome, noticed=f"native build: {type(error).__name__}: {' '.join(str(error).split())[:160]}"
            )
        more = dearer_only(together(map(price, wrong)), together(map(price, right)))
        return replace(
            outcome, alike=[*map(unordered, wrong)] == [*map(unordered, right)], dearer=tuple(more)
        )


def _digest(provider: str, program: Program) -> str:
    try:
        text, begin = repr(said(provider, program)), ""
    except CapabilityError as error:  # what a test expects
        text, begin = str(error), REFUSED
    return begin + hashlib.sha256(text.encode()).hexdigest()[:24]
