"""What the right providers spell of the cases, and trying mutants of a provider: only other texts are run.

The programs are made once, before anything is wrong; a mutant only spells them again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

import numpy as np

import intent
from intent.construct import Plan
from intent.diagnostics import CapabilityError
from intent.passes import refine
from intent.passes.expand import expand
from intent.physical import Program
from intent.provider.registry import registry
from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.replacing import put_in
from intent_testkit.mutants.right import file_of, telling_first
from intent_testkit.mutants.tested import OPERATIONS, failure, watched
from intent_testkit.mutants.trial import Outcome
from intent_testkit.plans import Compiled, violated
from intent_testkit.run import Point, run, variants
from intent_testkit.suite import Suite

TEXTS: Final = 12
"""Most other texts of one mutant that are run."""
CASES, TESTS = 20, 60
"""Most cases and most tests of operations that one mutant is tried on."""


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """Programs of the cases for one provider, digests of their texts, and which cases run which lines.

    The tests of single operations count as cases too; they are run whatever the text.
    """

    provider: str
    programs: dict[str, list[tuple[Point, Plan, Program]]] = field(default_factory=dict)
    texts: dict[str, frozenset[str]] = field(default_factory=dict)
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def cases(self, mutant: Mutant) -> list[str]:
        """The names of the cases that run the mutant's line or statement, the most telling first."""
        lines = self.lines.get(mutant.module, {})
        return lines.get(mutant.line) or lines.get(mutant.statement, [])

    def spelled(self, name: str) -> Iterator[tuple[Point, Plan, str]]:
        """The programs of a case as the provider spells them now, by digests."""
        target = registry().get(self.provider)
        for point, plan, program in self.programs[name]:
            source = target.serialize(program)
            parts = [getattr(source, f.name) for f in fields(source) if f.name != "program"]
            yield point, plan, hashlib.sha256(f"{point} {plan} {parts}".encode()).hexdigest()[:24]

    def tried(self, mutant: Mutant, names: Sequence[str]) -> Outcome:
        """Put the mutant in place of the right provider, for good, and run what it spells otherwise."""
        put_in(mutant)
        tests = [name for name in names if "::" in name]
        noticed, other = self._texts_tried([name for name in names if "::" not in name][:CASES])
        if noticed is None and tests:
            noticed, _ = failure(tests[:TESTS], self.provider)
        return Outcome(mutant=mutant, noticed=noticed, cases=len(names), other=other)

    def _texts_tried(self, names: Sequence[str]) -> tuple[str | None, int]:
        """What failed, and in how many cases there was another text until then."""
        other = ran = 0
        noticed: str | None = None
        try:
            for name in names:
                different = [p for p in self.spelled(name) if p[2] not in self.texts[name]]
                other += bool(different)
                for point, plan, _ in different:
                    self._check(point, plan)
                ran += len(different)
                if ran >= TEXTS:
                    break
        except Exception as error:  # noqa: BLE001 -- whatever it is, the fault was noticed
            noticed = f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:160]}"
        return noticed, other

    def _check(self, point: Point, plan: Plan) -> None:
        constexprs = dict(point.case.constexprs)
        with Suite.execution(self.provider) as (_, place):
            run(
                point,
                intent.compile(point.case.kernel, provider=self.provider, constexprs=constexprs, plan=plan),
                place,
            )


def watch(provider: str, modules: Iterable[str], every: int = 1, *, tests: bool = True) -> Emitted:
    """Spell the programs of every case (of each ``every``-th one), watching the lines of the modules that run.

    ``tests``: also run the tests of single operations.
    """
    found = Emitted(provider=provider)
    for case in ALL[::every]:
        found.programs[case.name] = list(_programs(case, provider))
    files = {file_of(module): module for module in modules}
    import coverage

    tracer = coverage.Coverage(include=list(files), data_file=None, branch=False)
    seconds: dict[str, float] = {}
    tracer.start()
    try:
        for name in found.programs:
            tracer.switch_context(name)
            began = time.perf_counter()
            found.texts[name] = frozenset(digest for *_, digest in found.spelled(name))
            seconds[name] = time.perf_counter() - began
        if tests:
            seconds |= watched(OPERATIONS, tracer.switch_context, provider)
    finally:
        tracer.stop()
    data = tracer.get_data()
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        found.lines[files[file]] = {line: [c for c in cs if c in seconds] for line, cs in by_line.items()}
    telling_first(found.lines, seconds)
    return found


def _programs(case: Case, provider: str) -> Iterator[tuple[Point, Plan, Program]]:
    """What the provider is given: the default plan, the first systematic ones and a random one, as it spells them."""
    capabilities = registry().get(provider).capabilities
    compiled = Compiled(case, capabilities)
    layouts = variants(case)
    full = [extents for extents in case.extents if all(extents.values())][-2:]
    for number, extents in enumerate(full):
        point = Point(case=case, extents=extents, variant=layouts[number % len(layouts)])
        rng = np.random.default_rng(number)
        plans = [compiled.default(extents), *compiled.random(extents, rng, 1)]
        plans += list(compiled.systematic(extents))[:3] if number == 0 else []
        for plan in dict.fromkeys(plans):
            program = compiled.constructed(plan)
            if violated(program, compiled, extents):
                continue
            try:
                refined = expand(refine(program), capabilities.functions, capabilities.histogram)
                registry().get(provider).serialize(refined)
            except CapabilityError:
                continue  # a plan that the provider cannot spell, and says so
            yield point, plan, refined
