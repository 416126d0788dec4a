"""The observer that asks every family about every operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical import Observer
from intent.reference.logical.machine import Machine
from intent.reference.logical.observer import Loop
from intent.reference.sanitizer import accesses, arithmetic, extents, laws, regions, structured
from intent.reference.sanitizer.context import Check, Context
from intent.reference.sanitizer.progress import Progress
from intent.reference.sanitizer.report import Findings

__all__ = ["Sanitizer"]

Table = Mapping[type[kir.Op], tuple[Check, ...]]


def _merged(*families: Mapping[type[kir.Op], Check]) -> Table:
    table: dict[type[kir.Op], tuple[Check, ...]] = {}
    for family in families:
        for op, check in family.items():
            table[op] = (*table.get(op, ()), check)
    return table


# Extents first: the other families rest on shapes that agree.
BEFORE: Final = _merged(
    extents.BEFORE, regions.BEFORE, arithmetic.BEFORE, structured.BEFORE, laws.BEFORE, accesses.BEFORE
)
AFTER: Final = _merged(arithmetic.AFTER, accesses.AFTER)


class Sanitizer(Observer):
    """Checks one evaluation and adds what it finds to ``findings``."""

    def __init__(self, findings: Findings, generator: np.random.Generator) -> None:
        self.findings = findings
        self.generator = generator
        self.progress = Progress(remembered={})
        self.context: Context

    def started(self, machine: Machine, kernel: kir.Kernel) -> None:
        self.context = Context(machine, kernel, self.findings, self.generator)

    def before(self, machine: Machine, op: kir.Op) -> None:
        context = self.context
        context.current = op
        context.deferred.before(op)
        for check in BEFORE.get(type(op), ()):
            check(context, op)

    def after(self, machine: Machine, op: kir.Op) -> None:
        context = self.context
        for check in AFTER.get(type(op), ()):
            check(context, op)
        context.deferred.after(op)

    def yielded(self, machine: Machine, region: kir.Region) -> None:
        self.context.deferred.yielded(region)

    def entered(self, machine: Machine, loop: Loop) -> None:
        self.context.entered(loop)

    def point(self, machine: Machine, loop: Loop, value: int) -> None:
        self.context.step(loop, value)
        if isinstance(loop, kir.While):
            self.progress.step(self.context, loop, value)

    def left(self, machine: Machine, loop: Loop) -> None:
        self.context.left(loop)

    def lanes(self, machine: Machine, active: NDArray[Any] | None) -> None:
        self.context.lanes = active
