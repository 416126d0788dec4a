"""Watching the right provider: what it spells of the cases and in the tests, and which of them run which lines.

Every case, and every few tests, have a process of their own, as in :mod:`intent_testkit.mutants.watching`; the programs
that the provider was given come back from there, to be spelled again by wrong ones.
"""

from __future__ import annotations

import copyreg
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from intent.construct import Plan
from intent.diagnostics import CapabilityError
from intent.passes import refine
from intent.passes.finishing import finish
from intent.physical import Program
from intent.provider.registry import registry
from intent.types import DType
from intent.types.dtypes import BY_NAME
from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case
from intent_testkit.cases.draw import Extents
from intent_testkit.mutants.code import spelling
from intent_testkit.mutants.emitted import Emitted, Given
from intent_testkit.mutants.forked import Lost, forked
from intent_testkit.mutants.right import Lines, file_of, lines_run, telling_first
from intent_testkit.mutants.tested import OPERATIONS, collected, noted
from intent_testkit.mutants.watching import Share, dealt, merge
from intent_testkit.plans import Compiled, violated
from intent_testkit.run import Point, variants

TESTS: Final = 30
"""Tests that share a process."""
_CASES: Final = {case.name: case for case in ALL}


def _dtype(name: str) -> DType:
    return BY_NAME[name]


copyreg.pickle(DType, lambda dtype: (_dtype, (dtype.name,)))  # there is one object of each


@dataclass(frozen=True, kw_only=True)
class _Sent:
    """A program of a case as one process sends it to another: kernels and oracles stay where they are."""

    extents: Extents
    variant: str
    plan: Plan
    program: Program


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What a share shows, and how long it took. ``failed``: what tests said that fail although nothing is wrong."""

    seconds: Mapping[str, float]
    texts: Mapping[str, list[str]]
    programs: tuple[_Sent, ...] = ()
    given: Mapping[str, list[Program]] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)


def watch(
    provider: str,
    modules: Sequence[str],
    cases: Sequence[str] = tuple(_CASES),
    tests: Sequence[str] = OPERATIONS,
    jobs: int = 1,
    without: str = "",
) -> Emitted:
    """Spell the programs of the cases and run the tests of files and folders, watching the lines of the modules.

    ``without``: tests in whose names this regular expression is found are not run, such as those that compare texts.
    Tests that fail already say nothing about mutants, and are not asked; ``Emitted.failing`` has them.
    """
    found = Emitted(provider=provider)
    names, unread = collected(tests, provider)
    found.failing.update(unread)
    if without:
        names = [name for name in names if not re.search(without, name)]
    shares: list[Share] = [*((name,) for name in cases), *dealt(names, TESTS)]
    files = {file_of(module): module for module in modules}
    seconds: dict[str, float] = {}
    seen = dict(forked(shares, partial(_seen, provider, files), jobs))
    for share in shares:
        shown = seen[share]
        if isinstance(shown, Lost):
            found.failing.update(dict.fromkeys(share, shown.value))
            continue
        if share[0] in _CASES:
            found.programs[share[0]] = [_given(_CASES[share[0]], sent) for sent in shown.programs]
        found.texts.update(shown.texts)
        found.given.update(shown.given)
        found.failing.update(shown.failed)
        seconds |= shown.seconds
        merge(found.lines, shown.lines)
    telling_first(found.lines, seconds)
    return found


def _given(case: Case, sent: _Sent) -> Given:
    point = Point(case=case, extents=sent.extents, variant=sent.variant)
    return Given(point=point, plan=sent.plan, program=sent.program)


def _seen(provider: str, files: Mapping[str, str], share: Share) -> _Seen:
    import coverage

    tracer = coverage.Coverage(include=list(files), data_file=None, branch=False)
    tracer.set_option("run:disable_warnings", ["no-data-collected"])  # a test may run none of the lines
    case = _CASES.get(share[0])
    programs = [] if case is None else list(_programs(case, provider))
    tracer.start()
    try:
        shown = _tests(provider, share, tracer) if case is None else _case(provider, case, programs, tracer)
    finally:
        tracer.stop()
    return replace(shown, lines=lines_run(tracer.get_data(), files, shown.seconds))


def _case(provider: str, case: Case, programs: Sequence[Given], tracer: Any) -> _Seen:
    tracer.switch_context(case.name)
    found = Emitted(provider=provider, programs={case.name: list(programs)})
    began = time.process_time()
    texts = found.spelled(case.name)
    seconds = time.process_time() - began
    sent = (
        _Sent(extents=g.point.extents, variant=g.point.variant, plan=g.plan, program=g.program)
        for g in programs
    )
    return _Seen(seconds={case.name: seconds}, texts={case.name: texts}, programs=tuple(sent))


def _tests(provider: str, names: Share, tracer: Any) -> _Seen:
    found = Emitted(provider=provider)
    with spelling(provider) as spelled:
        seconds, failed = noted(names, tracer.switch_context, provider, _taken(spelled, found.given))
    for name in failed:
        found.given.pop(name, None)
    tracer.switch_context("")
    texts = {name: found.spelled(name) for name in found.given}
    return _Seen(seconds=seconds, texts=texts, given=found.given, failed=failed)


def _taken(spelled: list[Program], given: dict[str, list[Program]]) -> Callable[[str], None]:
    """After each test, its programs are put under its name."""

    def after(name: str) -> None:
        given[name] = list({id(program): program for program in spelled}.values())
        spelled.clear()

    return after


def _programs(case: Case, provider: str) -> Iterator[Given]:
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
                refined = finish(refine(program), capabilities, planes=plan.planes)
                registry().get(provider).serialize(refined)
            except CapabilityError:
                continue  # a plan that the provider cannot spell, and says so
            yield Given(point=point, plan=plan, program=refined)
