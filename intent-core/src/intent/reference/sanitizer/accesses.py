"""Every read and write of memory: bounds, promises about them, unwritten elements, collisions, races.

Out-of-range and silenced lanes take part in nothing else (language decision 18).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from intent import kir
from intent.diagnostics import FalseBoundsPromise
from intent.reference.logical.colliding import point_shape
from intent.reference.sanitizer import bounds, collisions, races, unwritten
from intent.reference.sanitizer.arithmetic import first
from intent.reference.sanitizer.context import Check, Context
from intent.reference.sanitizer.memory import buffer_storage
from intent.reference.sanitizer.places import Places, places

__all__ = ["AFTER", "BEFORE"]


def _gather(context: Context, op: kir.Gather) -> None:
    machine = context.machine
    extents, shape = machine[op.source].shape, machine.shape(op.result.shape)
    lanes = places(machine, op.relation, extents, shape, op.valid)
    bounds.check(context, op, lanes, op.source.name or "a value", writes=False)


def _load(context: Context, op: kir.Load) -> None:
    machine = context.machine
    lanes = _lanes(context, op, op.source, machine.shape(op.result.shape), op.valid)
    bounds.check(context, op, lanes, op.source.name, writes=False, assumed=op.assumed)
    storage = context.storage_of(op.source)
    if not op.source.mutable and not storage.shared:
        return
    cells = storage.cells(lanes.indices)
    unwritten.loaded(context, op, lanes, cells)
    races.access(context, op, op.source, cells, lanes, kind="read")


def _store(context: Context, op: kir.Store) -> None:
    lanes = _lanes(context, op, op.target, context.machine[op.value].shape, op.valid)
    bounds.check(context, op, lanes, op.target.name, writes=True, assumed=op.assumed)
    cells = context.storage_of(op.target).cells(lanes.indices)
    collisions.check(context, op, lanes, cells)
    races.access(context, op, op.target, cells, lanes, kind="write")
    unwritten.written(context, op.target, cells)


def _scatter_reduce(context: Context, op: kir.ScatterReduce) -> None:
    lanes = _lanes(context, op, op.target, context.machine[op.value].shape, op.valid)
    bounds.check(context, op, lanes, op.target.name, writes=True)
    cells = context.storage_of(op.target).cells(lanes.indices)
    unwritten.updated(context, op, op.target, lanes, cells)
    races.access(context, op, op.target, cells, lanes, kind="update")
    unwritten.written(context, op.target, cells)


def _atomic(context: Context, op: kir.Atomic) -> None:
    shape = context.machine.shape(op.results[0].shape) if op.results else point_shape(context.machine, op)
    lanes = _lanes(context, op, op.target, shape, op.valid)
    bounds.check(context, op, lanes, op.target.name, writes=op.kind != "load")
    cells = context.storage_of(op.target).cells(lanes.indices)
    if op.kind not in ("store", "exchange") or any(r.id in context.used for r in op.results):
        unwritten.updated(context, op, op.target, lanes, cells)
    races.access(context, op, op.target, cells, lanes, kind="look" if op.kind == "load" else "update")
    if op.kind != "load":
        unwritten.written(context, op.target, cells)


def _atomic_order(context: Context, op: kir.Atomic) -> None:
    """What a released value carries from point to point."""
    if not context.tasks.ordering or not context.tasks.path:
        return
    shape = context.machine.shape(op.results[0].shape) if op.results else point_shape(context.machine, op)
    lanes = _lanes(context, op, op.target, shape, op.valid)
    storage = context.storage_of(op.target)
    succeeded = np.ones(lanes.shape, np.bool_)
    if op.kind == "compare_exchange":
        succeeded = context.machine[op.results[1]]
    for cell, success in zip(storage.cells(lanes.indices)[:, 0], succeeded[lanes.inside], strict=True):
        races.synchronise(context, op, storage.memory, int(cell), success=bool(success))


def _lanes(
    context: Context,
    op: kir.Load | kir.Store | kir.ScatterReduce | kir.Atomic,
    resource: kir.Resource,
    shape: tuple[int, ...],
    valid: kir.Value | None,
) -> Places:
    return places(context.machine, op.relation, context.machine.resource(resource).shape, shape, valid)


def _allocated(context: Context, op: kir.BufferAlloc) -> None:
    shape: Sequence[int] = context.machine.buffers[op.buffer.id].shape
    context.storage[op.buffer.id] = buffer_storage(
        tuple(shape), initialised=op.init is not None, home=len(context.tasks.path)
    )


def _assume_in_bounds(context: Context, op: kir.AssumeInBounds) -> None:
    """The promise holds for every lane of the index, used or not."""
    index = context.machine[op.index]
    extent = context.machine.resource(op.target).shape[op.axis]
    bad = np.asarray((index < 0) | (index >= extent))
    if bad.any():
        context.found(
            op,
            lambda: FalseBoundsPromise(
                op.target.name, index=first(index, bad), axis=op.axis, extent=extent, point=context.point
            ),
        )


BEFORE: Final[dict[type[kir.Op], Check]] = {
    kir.Gather: _gather,
    kir.Load: _load,
    kir.Store: _store,
    kir.ScatterReduce: _scatter_reduce,
    kir.Atomic: _atomic,
    kir.AssumeInBounds: _assume_in_bounds,
}
AFTER: Final[dict[type[kir.Op], Check]] = {kir.BufferAlloc: _allocated, kir.Atomic: _atomic_order}
