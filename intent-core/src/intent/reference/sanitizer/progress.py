"""While loops that cannot end (spec: logical-program 10: no progress of a wait is promised).

The state of a step is what the loop carries and what memory holds. A state that comes back comes back for ever.
States are compared with the one of the latest step whose number is a power of two, which meets every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import NoProgress
from intent.reference.sanitizer.context import Context

Array = NDArray[Any]
State = list[Array]

__all__ = ["Progress"]

PATIENCE: Final = 128
"""Steps that a loop may take before anybody looks."""


@dataclass(kw_only=True, eq=False)
class Progress:
    """The remembered state of each running while loop, by operation id."""

    remembered: dict[int, State]

    def step(self, context: Context, loop: kir.While, number: int) -> None:
        """Before step ``number``: report a state that was there before, and stop."""
        if number == 0:
            self.remembered.pop(loop.id, None)
        if number < PATIENCE:
            return
        before = self.remembered.get(loop.id)
        carried = [np.array(context.machine[v]) for v in loop.body.yields]
        if (
            before is not None
            and _equal(before, carried)
            and _equal(before[len(carried) :], _memory(context))
        ):
            point = context.point
            context.found(loop, lambda: NoProgress(steps=number, point=point))
            raise context.stop(loop, "a loop does not end")
        if number & (number - 1) == 0:
            self.remembered[loop.id] = [*carried, *(np.array(a) for a in _memory(context))]


def _memory(context: Context) -> State:
    return [*context.machine.views.values(), *context.machine.buffers.values()]


def _equal(before: State, now: State) -> bool:
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(before, now, strict=False))
