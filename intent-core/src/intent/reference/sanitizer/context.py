"""The state of one checked evaluation that all families share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import IntentError
from intent.kir.walk import operands_of, regions_of, resources_of, walk
from intent.reference.logical.machine import Machine
from intent.reference.logical.observer import Loop, Stop
from intent.reference.sanitizer.deferred import Deferred
from intent.reference.sanitizer.memory import Storage, view_storage
from intent.reference.sanitizer.report import Findings
from intent.reference.sanitizer.tasks import Event, Tasks

Array = NDArray[Any]

__all__ = ["Check", "Context"]


class Context:
    """What the families know about the evaluation.

    ``current`` is the operation that runs. ``lanes`` are the points that are meant while a scalar region runs at
    many of them, or None. ``explained`` holds the ids of coordinates whose subregion was already found invalid.
    ``tested`` counts the executions of operations whose laws are tested. ``events`` are the accesses of the current
    outermost parallel loop; the number of the first one is ``first_event``.
    """

    def __init__(
        self, machine: Machine, kernel: kir.Kernel, findings: Findings, generator: np.random.Generator
    ) -> None:
        self.machine = machine
        self.kernel = kernel
        self.findings = findings
        self.generator = generator
        self.deferred = Deferred(self)
        self.tasks = Tasks()
        self.events: list[Event] = []
        self.first_event = 0
        self.current: kir.Op | None = None
        self.lanes: Array | None = None
        self.explained: set[int] = set()
        self.tested: dict[int, int] = {}
        self.storage: dict[str | int, Storage] = dict(view_storage(list(kernel.views), machine.views).items())
        self.domains = {info.id: info for info in kernel.domains}
        self.used = _used(kernel)
        self._loops: list[tuple[Loop, int]] = []
        self._track(kernel)

    def _track(self, kernel: kir.Kernel) -> None:
        """Only memory that the kernel writes, inside a parallel loop, can be raced for."""
        written = {
            r.name
            for op in walk(kernel.body)
            if isinstance(op, kir.Store | kir.ScatterReduce | kir.Atomic)
            for r in resources_of(op)
            if isinstance(r, kir.View)
        }
        memories = [self.storage[name].memory for name in written]
        for view in kernel.views:
            memory = self.storage[view.name].memory
            memory.tracked = any(memory is m for m in memories)
        self.tasks.ordering = any(
            isinstance(op, kir.Atomic) and op.order != "relaxed" for op in walk(kernel.body)
        )

    # -- loops

    def entered(self, loop: Loop) -> None:
        """One execution of a loop begins."""
        self._loops.append((loop, 0))
        if isinstance(loop, kir.For) and loop.parallel:
            if not self.tasks.path:
                # Accesses of earlier loops are ordered before everything that follows.
                self.first_event += len(self.events)
                self.events = []
            self.tasks.entered()

    def step(self, loop: Loop, value: int) -> None:
        """The loop goes on with another value."""
        self._loops[-1] = (loop, value)
        if isinstance(loop, kir.For) and loop.parallel:
            self.tasks.point(value)

    def left(self, loop: Loop) -> None:
        """The loop ended."""
        self._loops.pop()
        if isinstance(loop, kir.For) and loop.parallel:
            self.tasks.left()

    @property
    def point(self) -> str:
        """The loops' variables, outermost first: ``row = 3, k = 0``."""
        return ", ".join(f"{_variable(loop)} {value}" for loop, value in self._loops)

    # -- findings

    def meant(self, mask: Array) -> Array:
        """``mask`` without the points that the author's branch does not take."""
        return mask if self.lanes is None else mask & self.lanes

    def found(self, op: kir.Op, error: Callable[[], IntentError], *key: object) -> None:
        """Report a violation of ``op`` unless this one was reported before; ``error`` is built only then."""
        full = (op.id, *key)
        if full not in self.findings.errors:
            self.findings.add(full, error().at(op.span))

    def stop(self, op: kir.Op, reason: str) -> Stop:
        """The exception that ends this evaluation after a violation that leaves no values to go on with."""
        self.findings.stopped = self.findings.stopped or reason
        return Stop(reason)

    def storage_of(self, resource: kir.Resource) -> Storage:
        """The shadow of a view or buffer."""
        return self.storage[resource.name if isinstance(resource, kir.View) else resource.id]


Check = Callable[[Context, Any], None]


def _variable(loop: Loop) -> str:
    if isinstance(loop, kir.While):
        return "step"
    return f"{loop.body.args[0].name or 'point'} ="


def _used(kernel: kir.Kernel) -> frozenset[int]:
    """Ids of the values that some operation or yield reads."""
    found = {v.id for op in walk(kernel.body) for v in operands_of(op)}
    found |= {v.id for op in walk(kernel.body) for region in regions_of(op) for v in region.yields}
    return frozenset(found)
