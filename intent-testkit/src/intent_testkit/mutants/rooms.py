"""Rooms of the core that faults are put into: what each makes of a case, how another program is tested, own tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from intent.construct import Plan
from intent.passes import PASSES, Permissions
from intent.physical import Program
from intent.physical.text import print_program
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.provider.registry import registry
from intent_testkit.differential import check_plan, check_stage, plans_of, stages_of
from intent_testkit.mutants.expense import Expense, expense
from intent_testkit.plans import Compiled
from intent_testkit.run import Point, points

_NUMBER: Final = re.compile(r"[%!]\d+")
_PHYSICAL: Final = tuple(f"physical/test_{name}.py" for name in ("trial", "shared", "histograms"))
"""Tests of what programs are, which construction makes for them."""
_VERIFIED: Final = 8
"""Programs of a case that mutants of the verifier look at."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """Something that the compiler makes of a case: a digest of it, what it costs, and a test that raises.

    ``digest``: None for what is tested whatever it is.
    """

    digest: str | None
    expense: Expense
    check: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Room:
    """``package``: where its modules are; ``tests``: folders of the core's own tests that run them.

    ``asked``: most tests that one mutant is tried on.
    """

    name: str
    package: str
    tests: tuple[str, ...]
    made: Callable[[Compiled], Iterator[Made]]
    asked: int = 150


def constructed(compiled: Compiled) -> Iterator[Made]:
    """The program of every plan that the differential tests run."""
    for point, plan in plans_of(compiled):
        yield _planned(compiled, point, plan)


def planned(compiled: Compiled) -> Iterator[Made]:
    """The same, and what every installed provider's default plan makes."""
    yield from constructed(compiled)
    for name in registry().names():
        target = Compiled(compiled.case, registry().get(name).capabilities, kernel=compiled.kernel)
        for point in list(points(compiled.case))[-2:]:
            yield _planned(target, point, target.default(point.extents))


def refined(compiled: Compiled) -> Iterator[Made]:
    """The program after every pass, as plans have it and with all that is permitted."""
    for point, plan in plans_of(compiled):
        stages = [compiled.constructed(plan)]
        for _, run in PASSES:
            after = run(stages[-1], Permissions())
            if after is not stages[-1]:
                stages.append(after)
        yield Made(
            digest=_digest(point, plan, stages[1:]),
            expense=expense(stages[-1]),
            check=lambda point=point, plan=plan: check_plan(compiled, point, plan),  # type: ignore[misc]
        )
    for stage in stages_of(compiled):
        yield Made(
            digest=_digest(stage.point, stage.plan, [stage.program]),
            expense=expense(stage.program),
            check=lambda stage=stage: check_stage(compiled, stage),  # type: ignore[misc]
        )


def verified(compiled: Compiled) -> Iterator[Made]:
    """Right programs, constructed and refined, which the verifier must accept."""
    programs = [compiled.constructed(plan) for _, plan in islice(plans_of(compiled), _VERIFIED)]
    for number, program in enumerate(programs):
        for _, run in PASSES if number % 3 == 1 else ():
            program = run(program, Permissions())  # noqa: PLW2901 -- the same program, refined
        yield Made(
            digest=None,
            expense=Expense(),
            check=lambda program=program: verify(program, compiled.kernel),  # type: ignore[misc]
        )


def _planned(compiled: Compiled, point: Point, plan: Plan) -> Made:
    program = compiled.constructed(plan)
    return Made(
        digest=_digest(point, plan, [program]),
        expense=expense(program),
        check=lambda: check_plan(compiled, point, plan),
    )


def _digest(point: Point, plan: Plan, stages: list[Program]) -> str:
    """Equal for programs that differ in the numbers of their values only."""
    parts = [str(point), str(plan)]
    for program in stages:
        numbers: dict[str, str] = {}
        text = print_program(program)
        parts.append(_NUMBER.sub(lambda m, n=numbers: n.setdefault(m[0], f"{m[0][0]}{len(n)}"), text))  # type: ignore[misc]
        parts.append(str([op.origin for segment in program.segments for op in walk(segment.body)]))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


ROOMS: Final[dict[str, Room]] = {
    room.name: room
    for room in (
        Room(
            name="construct",
            package="intent.construct",
            tests=("construct", "explain", "planning", *_PHYSICAL),
            made=constructed,
        ),
        Room(
            name="passes", package="intent.passes", tests=("passes", "physical/test_trial.py"), made=refined
        ),
        Room(name="planning", package="intent.planning", tests=("planning",), made=planned, asked=400),
        Room(name="verify", package="intent.physical.verify", tests=("physical",), made=verified),
    )
}
"""By name."""
