"""Two lanes of one unique store with one destination (spec: logical-program 9; language decision 4).

Collisions between points of a parallel loop are races.
"""

from __future__ import annotations

import numpy as np

from intent import kir
from intent.diagnostics import CollidingStore
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.memory import Cells
from intent.reference.sanitizer.places import Places, element

__all__ = ["check"]


def check(context: Context, op: kir.Store, lanes: Places, cells: Cells) -> None:
    """Report the first destination that two lanes share, whatever values they bring."""
    starts = cells[:, 0]
    if op.uniqueness == "point" or starts.size < 2:
        return
    order = np.argsort(starts, kind="stable")
    same = np.flatnonzero(starts[order][1:] == starts[order][:-1])
    if not same.size:
        return
    one, two = int(order[same[0]]), int(order[same[0] + 1])

    def error() -> CollidingStore:
        shown = element(op.target.name, [i[one] for i in lanes.indices])
        positions = [f"[{', '.join(map(str, lanes.lane(n)))}]" for n in (one, two)]
        return CollidingStore(
            op.target.name,
            element=shown,
            lanes=positions,
            promised=op.uniqueness == "assumed",
            point=context.point,
        )

    context.found(op, error, "collision")
