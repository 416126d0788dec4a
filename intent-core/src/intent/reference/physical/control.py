"""Uniform control, per instance; instances of a batch that diverge are masked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from intent.physical import If, Loop, Region, While
from intent.reference.physical.batch import Array, Batch

Carries = tuple[Array, ...]


def loop(batch: Batch, op: Loop) -> None:
    """A counted loop; instances with fewer trips keep their carries."""
    begin, end, step = (batch.get(v) for v in (op.begin, op.end, op.step))
    trips = np.maximum(-((begin - end) // step), 0)
    if batch.active is not None:
        trips = np.where(batch.active, trips, 0)
    carries = tuple(batch.get(v) for v in op.inits)
    outer = batch.active
    least, most = int(trips.min()), int(trips.max())
    if outer is not None and bool(outer.any()):
        least = int(trips[outer].min())
    for k in range(most):
        point = begin + k * step
        if k < least:
            carries = batch.run(op.body, [point, *carries])
        else:
            carries = _masked(batch, op.body, [point, *carries], carries, k < trips)
    batch.active = outer
    for result, carry in zip(op.results, carries, strict=True):
        batch.set(result, carry)


def _masked(
    batch: Batch, region: Region, arguments: Sequence[Array], carries: Carries, running: Array
) -> Carries:
    """Run the region for the ``running`` instances only; the others keep ``carries``."""
    outer = batch.active
    batch.active = running if outer is None else outer & running
    new = batch.run(region, arguments)
    batch.active = outer
    return tuple(batch.where(running, n, c) for n, c in zip(new, carries, strict=True))


def if_then_else(batch: Batch, op: If) -> None:
    """The region that the condition picks; both, masked, where instances differ."""
    condition = batch.get(op.condition)
    outer = batch.active
    live = condition if outer is None else condition[outer] if condition.size > 1 else condition
    if bool(live.all()) or not bool(live.any()):
        region = op.then if bool(live.all()) else op.orelse
        yielded = batch.run(region, ())
    else:
        batch.active = condition if outer is None else outer & condition
        yes = batch.run(op.then, ())
        batch.active = ~condition if outer is None else outer & ~condition
        no = batch.run(op.orelse, ())
        batch.active = outer
        yielded = tuple(batch.where(condition, a, b) for a, b in zip(yes, no, strict=True))
    for result, value in zip(op.results, yielded, strict=True):
        batch.set(result, value)


def while_loop(batch: Batch, op: While) -> None:
    """Iterate while any active instance's condition holds."""
    carries = tuple(batch.get(v) for v in op.inits)
    outer = batch.active
    running = np.ones(batch.count, np.bool_) if outer is None else outer.copy()
    while True:
        batch.active = running
        (condition,) = batch.run(op.condition, carries)
        running = running & condition
        if not bool(running.any()):
            break
        batch.active = running
        new = batch.run(op.body, carries)
        carries = tuple(batch.where(running, n, c) for n, c in zip(new, carries, strict=True))
    batch.active = outer
    for result, carry in zip(op.results, carries, strict=True):
        batch.set(result, carry)
