"""Races between points of parallel loops (spec: logical-program 3 and 10).

Per cell the shadow memory holds the latest plain write, and of plain reads, atomic loads and updates (atomics and
scatter-reductions) the first of the current parallel loop and the latest. With the first, a write meets the other
point even when the latest access is its own.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import DataRace
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.memory import Cells, Memory
from intent.reference.sanitizer.places import Places, element
from intent.reference.sanitizer.tasks import Event

Kind = Literal["read", "write", "update", "look"]

__all__ = ["Kind", "access", "synchronise"]

CONFLICTS: Final[dict[Kind, tuple[Kind, ...]]] = {
    "read": ("write", "update"),
    "write": ("write", "read", "update", "look"),
    "update": ("write", "read"),
    "look": ("write",),
}
VERBS: Final[dict[Kind, str]] = {
    "read": "reads it",
    "write": "writes it",
    "update": "updates it atomically",
    "look": "loads it atomically",
}


def access(
    context: Context,
    op: kir.Load | kir.Store | kir.ScatterReduce | kir.Atomic,
    resource: kir.Resource,
    cells: Cells,
    lanes: Places,
    *,
    kind: Kind,
) -> None:
    """Compare an access with the earlier ones of other points, then remember it."""
    memory, tasks = context.storage_of(resource).memory, context.tasks
    if len(tasks.path) <= memory.home or not memory.tracked or not cells.size:
        return
    verb = "updates it by scatter_reduce" if isinstance(op, kir.ScatterReduce) else VERBS[kind]
    event = Event(
        op=op,
        verb=verb,
        atomic=kind in ("update", "look"),
        path=tasks.path,
        epoch=tasks.path[-1].epoch,
        point=context.point,
    )
    for other in CONFLICTS[kind]:
        for name in _slots(other):
            if name in memory.slots:
                _meet(context, event, resource, lanes, memory.slots[name][cells])
    _remember(memory, cells, kind, context.first_event + len(context.events), context.first_event)
    context.events.append(event)


def _slots(kind: Kind) -> tuple[str, ...]:
    return (kind,) if kind == "write" else (kind, f"first {kind}")


def _meet(
    context: Context,
    event: Event,
    resource: kir.Resource,
    lanes: Places,
    earlier: NDArray[np.int32],
) -> None:
    numbers = [int(earlier[0, 0])] if earlier.size == 1 else np.unique(earlier)
    for number in numbers:
        if number < context.first_event:
            continue
        other = context.events[number - context.first_event]
        if not context.tasks.concurrent(other):
            continue
        row = int(np.argmax((earlier == number).any(axis=1)))
        shown = element(resource.name, [i[row] for i in lanes.indices])
        pair = tuple(sorted((event.op.id, other.op.id)))
        key = ("race", *pair)
        if key in context.findings.errors:
            continue
        context.findings.add(key, _race(resource, shown, event, other))


def _race(resource: kir.Resource, shown: str, event: Event, other: Event) -> DataRace:
    """Of a plain and an atomic access the plain one is at fault, else the one that met the other."""
    if event.atomic and not other.atomic:
        event, other = other, event
    return DataRace(
        resource.name,
        element=shown,
        this=f"the point {event.point} {event.verb}",
        other=f"the point {other.point} {other.verb}",
        other_span=other.op.span,
        span=event.op.span,
    )


def _remember(memory: Memory, cells: Cells, kind: Kind, number: int, begin: int) -> None:
    flat = cells.reshape(-1)
    if kind != "write":
        first = memory.slot(f"first {kind}")
        first[flat] = np.where(first[flat] < begin, number, first[flat])
    memory.slot(kind)[flat] = number


def synchronise(context: Context, op: kir.Atomic, memory: Memory, cell: int, *, success: bool) -> None:
    """One atomic access of a cell: what it acquires and what it releases.

    An update of any order goes on with what was released before it, a store begins anew.
    """
    tasks, released = context.tasks, memory.released
    writes = op.kind != "load" and success
    if op.order in ("acquire", "acq_rel") and cell in released:
        tasks.acquire(released[cell])
    if not writes:
        return
    if op.kind == "store":
        released.pop(cell, None)
    if op.order in ("release", "acq_rel"):
        now, before = tasks.release(), released.get(cell, {})
        released[cell] = {n: max(now.get(n, -1), before.get(n, -1)) for n in now.keys() | before.keys()}
