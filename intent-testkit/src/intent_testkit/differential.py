"""The differential driver: one case through both evaluators and several plans."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from intent.construct import Plan
from intent.diagnostics import PlanError
from intent.passes import PASSES, Permissions
from intent.passes.peeling import peeled
from intent.physical import Program
from intent.physical.verify import verify
from intent_testkit.cases.case import Case, ViewSpec
from intent_testkit.cases.draw import Extents
from intent_testkit.device import Host
from intent_testkit.memory import allocate
from intent_testkit.plans import Compiled, violated
from intent_testkit.run import Point, Runs, draw, expected, judge, points, run, variants
from intent_testkit.suite import compile_case

RANDOM_PLANS = 3


class WrongPlan(AssertionError):
    """A plan gives another result than the oracle, breaks a guard of its own, or is too like the others."""


def check_logical(case: Case) -> None:
    """Run the logical evaluator at every extents assignment, plainly and with an adversary."""
    compiled = Compiled(case)
    for point in points(case):
        _attempt(point, lambda arguments, _: compiled.run_logical(arguments), "the logical evaluator")
        adversary = _generator(point)
        _attempt(
            point,
            lambda arguments, _, rng=adversary: compiled.run_logical(arguments, rng),  # type: ignore[misc]
            "the logical evaluator with an adversary",
        )


def plans_of(compiled: Compiled) -> Iterator[tuple[Point, Plan]]:
    """What :func:`check_plans` runs: minimal, default and random plans at an empty and the two largest assignments.

    The smaller of the two also gets the systematic plans.
    """
    layouts = variants(compiled.case)
    chosen = _chosen(compiled.case)
    middle = next((extents for extents in chosen if all(extents.values())), None)
    for number, extents in enumerate(chosen):
        point = Point(case=compiled.case, extents=extents, variant=layouts[number % len(layouts)])
        yield point, compiled.minimal(extents)
        yield point, compiled.default(extents)
        more = compiled.systematic(extents) if extents is middle else ()
        for plan in (*compiled.random(extents, _generator(point), RANDOM_PLANS), *more):
            yield point, plan


def check_plans(case: Case) -> None:
    """Run every plan of :func:`plans_of`, instances in random order."""
    compiled = Compiled(case)
    for point, plan in plans_of(compiled):
        check_plan(compiled, point, plan)


def check_plan(compiled: Compiled, point: Point, plan: Plan) -> None:
    """Verify the program of one plan and run it at one point, instances in random order."""
    program = compiled.program(plan)
    broken = violated(program, compiled, point.extents)
    if broken:
        raise WrongPlan(f"{point}: a plan made for these extents violates its guards {broken}\n{plan}")
    _attempt(
        point,
        lambda _, named: compiled.run_physical(program, named, point.extents, _generator(point)),
        f"plan '{plan.name}'\n{plan}",
    )


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A program that a pass has changed."""

    point: Point
    plan: Plan
    name: str
    program: Program


def stages_of(compiled: Compiled) -> Iterator[Stage]:
    """What :func:`check_passes` runs: the program after every pass that changed it.

    The default plan at an empty and the two largest assignments, the systematic plans at the smaller of those; all
    permissions are given, and loops are peeled also where that is not worth it.
    """
    permissions = Permissions(relaxed=True)
    layouts = variants(compiled.case)
    chosen = _chosen(compiled.case)
    middle = next((extents for extents in chosen if all(extents.values())), None)
    for number, extents in enumerate(chosen):
        point = Point(case=compiled.case, extents=extents, variant=layouts[number % len(layouts)])
        for plan in (compiled.default(extents), *(compiled.systematic(extents) if extents is middle else ())):
            program = compiled.constructed(plan)
            for name, run_pass in _EAGER:
                before, program = program, run_pass(program, permissions)
                if program is not before:
                    yield Stage(point=point, plan=plan, name=name, program=program)


def check_stage(compiled: Compiled, stage: Stage) -> None:
    """Verify a program that a pass made, and run it, instances in random order."""
    verify(stage.program)
    _attempt(
        stage.point,
        lambda _, named: compiled.run_physical(
            stage.program, named, stage.point.extents, _generator(stage.point)
        ),
        f"pass '{stage.name}' under plan '{stage.plan.name}'\n{stage.plan}",
    )


def check_passes(case: Case) -> int:
    """Verify and run every program of :func:`stages_of`; how many there are."""
    compiled = Compiled(case)
    changed = 0
    for stage in stages_of(compiled):
        check_stage(compiled, stage)
        changed += 1
    return changed


_EAGER: Final = tuple(
    (name, (lambda program, _: peeled(program, wide=1)) if name == "peeling" else run) for name, run in PASSES
)


def _chosen(case: Case) -> list[Extents]:
    """An assignment with a zero (if there is one) and the last two without."""
    empty = [extents for extents in case.extents if not all(extents.values())][:1]
    full = [extents for extents in case.extents if all(extents.values())][-2:]
    return empty + full


def _attempt(point: Point, execute: Callable[[list[Any], dict[str, Any]], None], what: str) -> None:
    values = draw(point)
    wanted = expected(point, values)
    allocations = {spec.name: allocate(spec, values[spec.name], point.variant) for spec in point.case.views}
    named = {
        spec.name: allocations[spec.name].view if isinstance(spec, ViewSpec) else values[spec.name]
        for spec in point.case.parameters
    }
    try:
        execute(list(named.values()), named)
        judge(point, allocations, wanted)
    except Exception as error:
        error.add_note(f"at {point}, by {what}")
        raise


def _generator(point: Point) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"plans of {point}".encode()))


def check_guards(case: Case) -> int:
    """Launch artifacts of guarded plans where the guards hold and where they do not; the violations met.

    A fixed plan whose guard is violated must be refused, with every output untouched: running another plan
    in its place, or this one, is a failure.
    """
    compiled = Compiled(case)
    met = 0
    full = [extents for extents in case.extents if all(extents.values())]
    for extents in full[-2:]:
        rng = _generator(Point(case=case, extents=extents, variant="guards"))
        for plan in [compiled.default(extents), *compiled.random(extents, rng, RANDOM_PLANS)]:
            program = compiled.constructed(plan)
            if not program.guards:
                continue
            artifact = compile_case("reference", case, plan)
            run(Point(case=case, extents=extents), artifact, Host())
            if artifact.plan != plan:
                raise WrongPlan(f"{case.name} {extents}: ran\n{artifact.plan}\ninstead of\n{plan}")
            for other in full:
                if violated(program, compiled, other):
                    _refused(Point(case=case, extents=other), artifact)
                    met += 1
    return met


def _refused(point: Point, artifact: Runs) -> None:
    values = draw(point)
    allocations = {spec.name: allocate(spec, values[spec.name], point.variant) for spec in point.case.views}
    arguments = [
        allocations[spec.name].view if isinstance(spec, ViewSpec) else values[spec.name]
        for spec in point.case.parameters
    ]
    try:
        artifact(*arguments)
    except PlanError:
        pass
    else:
        raise WrongPlan(f"{point}: a plan was launched although its guards do not hold")
    for allocation in allocations.values():
        if not np.array_equal(allocation.block, allocation.before):
            raise WrongPlan(f"{point}: a refused launch changed '{allocation.spec.name}'")
