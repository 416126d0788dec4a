"""Measuring plans on the arguments of one call, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from intent.construct.plan import Plan
from intent.diagnostics import IntentError, PlanError
from intent.runtime.launch import Checked
from intent.runtime.restoring import keep
from intent.runtime.restoring import wait as wait_for

__all__ = ["Measured", "Tuning", "tune"]

_ROUNDS: Final = 5
_ENOUGH: Final = 0.02
"""Seconds of one round, in which launches follow each other without a wait."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One plan: the seconds of a launch, or why it could not be measured."""

    plan: Plan
    seconds: float | None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What tuning found. ``plan`` is used from now on for extents like those of the call."""

    plan: Plan
    seconds: float
    measured: tuple[Measured, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.plan.name or 'a plan'}: {_micro(self.seconds)} a launch, the best of {len(self.measured)}"
        ]
        for entry in self.measured:
            cost = entry.problem if entry.seconds is None else _micro(entry.seconds)
            lines.append(f"  {entry.plan.name or 'a plan'}: {cost}")
        return "\n".join(lines)


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"


def _best_seconds(launch: Callable[[], None], wait: Callable[[], None]) -> float:
    """Seconds of one launch: the best of a few rounds of launches, each followed by one ``wait``."""
    launch()  # builds
    wait()
    once = _seconds(launch, wait, 1)
    count = max(1, min(1000, int(_ENOUGH / max(once, 1e-9))))
    return min(once, *(_seconds(launch, wait, count) for _ in range(_ROUNDS if once < 1 else 1)))


def _seconds(launch: Callable[[], None], wait: Callable[[], None], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        launch()
    wait()
    return (time.perf_counter() - begin) / count


def tune(checked: Checked, plans: list[Plan], prepare: Callable[[Plan], Callable[[], None]]) -> Tuning:
    """Measure ``plans`` on a checked call; ``prepare`` gives a call without arguments that launches one of them.

    Written arrays are put back after each plan, whatever happens.

    Raises:
        PlanError: None of the plans could be measured.
    """
    arrays = checked.bound.arrays
    kept = [keep(arrays[v.name], v.dtype) for v in checked.fitting.variant.program.views if v.mode != "in"]

    def wait() -> None:
        for array in arrays.values():
            wait_for(array)

    found = []
    for plan in plans:
        try:
            found.append(_measured(plan, prepare, wait))
        finally:
            for put_back in kept:
                put_back()
    timed = [m for m in found if m.seconds is not None]
    best = min(timed, key=lambda m: m.seconds or 0.0, default=None)
    if best is None or best.seconds is None:
        raise PlanError(f"none of {len(plans)} plans could be measured; the first: {found[0].problem}")
    return Tuning(plan=best.plan, seconds=best.seconds, measured=tuple(found))


def _measured(
    plan: Plan, prepare: Callable[[Plan], Callable[[], None]], wait: Callable[[], None]
) -> Measured:
    """Measure one plan; one that does not fit the kernel, the call or the target is reported as such."""
    try:
        return Measured(plan=plan, seconds=_best_seconds(prepare(plan), wait))
    except IntentError as error:
        return Measured(plan=plan, seconds=None, problem=f"{error.code}: {error.message}")
