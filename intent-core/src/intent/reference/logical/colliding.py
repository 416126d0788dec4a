"""Effects that meet in one element: scatter-reduction, atomics, histograms (spec: logical-program 9, 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.lifted import lift
from intent.reference.logical.machine import Machine
from intent.reference.logical.pointwise import apply
from intent.reference.logical.reduce import builtin
from intent.reference.logical.relation import Basic, General, select
from intent.types import DType

Array = NDArray[Any]
Update = Callable[[Array, tuple[Array, ...]], Array]


def scatter_reduce(machine: Machine, op: kir.ScatterReduce) -> None:
    """``target[i] = combine(target[i], value)``; the old value takes part; any order."""
    value = machine[op.value]
    builtin_two = None if op.kind is None else builtin(op.kind, op.value.dtype)
    two = builtin_two or lift(machine, cast("kir.Region", op.combine))

    def update(old: Array, operands: tuple[Array, ...]) -> Array:
        return two((old,), operands)[0]

    _modify(machine, op, value.shape, (value,), update)


def atomic(machine: Machine, op: kir.Atomic) -> None:
    """One indivisible access per active point, one after another. Inactive points give zero."""
    operands = tuple(machine[v] for v in op.operands)
    shape = machine.shape(op.results[0].shape) if op.results else point_shape(machine, op)
    dtype = op.target.dtype
    old = _modify(
        machine, op, shape, tuple(np.broadcast_to(o, shape) for o in operands), _update(op.kind, dtype)
    )
    if not op.results:
        return
    machine[op.results[0]] = old
    if op.kind == "compare_exchange":
        machine[op.results[1]] = np.asarray(_same_bits(old, np.broadcast_to(operands[0], shape)))


def point_shape(machine: Machine, op: kir.Atomic) -> tuple[int, ...]:
    """The shape of the points of an atomic operation without results."""
    if op.valid is not None:
        return machine[op.valid].shape
    shapes = [machine[v].shape for v in op.operands]
    if shapes:
        return np.broadcast_shapes(*shapes)
    rank = 1 + max((a for axes in op.relation.axes for a in axes), default=-1)
    shape = [1] * rank
    for coordinate, axes in zip(op.relation.coordinates, op.relation.axes, strict=True):
        for extent, axis in zip(machine[coordinate].shape, axes, strict=True):
            shape[axis] = extent
    return tuple(shape)


def _same_bits(a: Array, b: Array) -> Array:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return np.asarray(
        np.ascontiguousarray(a).view(unsigned) == np.ascontiguousarray(b).view(unsigned)
    ).reshape(a.shape)


def _update(kind: str, dtype: DType) -> Update:
    if kind == "load":
        return lambda old, _: old
    if kind in ("store", "exchange"):
        return lambda _, operands: operands[0]
    if kind == "compare_exchange":
        return lambda old, operands: np.where(_same_bits(old, operands[0]), operands[1], old)
    fn = {"max": "maximum", "min": "minimum"}.get(kind, kind)
    return lambda old, operands: apply(fn, dtype, old, operands[0])


def _modify(
    machine: Machine,
    op: kir.ScatterReduce | kir.Atomic,
    shape: tuple[int, ...],
    operands: tuple[Array, ...],
    update: Update,
) -> Array:
    """Update the target point by point and give the old values (zero where inactive).

    Points of one element follow each other in an order that ``choices`` picks; different elements do not
    see each other, so the k-th points of all elements are done together.
    """
    target = machine.resource(op.target)
    old = np.zeros(shape, target.dtype)
    selection = select(machine, op.relation, target.shape, shape, op.valid)
    general = _points(selection, target.shape) if isinstance(selection, Basic) else selection
    active, indices = general.active, general.indices
    count = int(active.sum())
    order = np.asarray(machine.choices.order(count), dtype=np.intp)
    flat = np.zeros(count, np.int64)
    for index, extent in zip(indices, target.shape, strict=True):
        flat = flat * extent + index
    places = tuple(np.asarray(i)[order] for i in indices)
    if target.ndim == 0:
        target, places = target.reshape(1), (np.zeros(count, np.int64),)
    values = tuple(np.asarray(o[active])[order] for o in operands)
    seen = np.zeros(count, target.dtype)
    for turn in _turns(flat[order]):
        where = tuple(p[turn] for p in places)
        before = np.array(target[where])
        target[where] = update(before, tuple(v[turn] for v in values))
        seen[turn] = before
    flat_old = np.zeros(count, target.dtype)
    flat_old[order] = seen
    old[active] = flat_old
    return old


def _points(basic: Basic, extents: tuple[int, ...]) -> General:
    """The points of a basic selection as index arrays."""
    axes = [np.arange(e)[i] for i, e in zip(basic.index, extents, strict=True)]
    mesh = np.ix_(*(np.atleast_1d(a) for a in axes)) if axes else ()
    kept = [k for k, a in enumerate(axes) if np.ndim(a)]
    missing = tuple(k for k in range(len(basic.shape)) if k not in basic.axes)
    out = []
    for m in mesh:
        grid = np.broadcast_to(m, tuple(np.size(a) for a in axes)).reshape([np.size(axes[k]) for k in kept])
        spread = np.expand_dims(grid.transpose(basic.order), missing)
        out.append(np.broadcast_to(spread, basic.shape).reshape(-1))
    return General(indices=tuple(out), active=np.ones(basic.shape, np.bool_))


def _turns(destinations: Array) -> list[Array]:
    """Positions grouped so that each group has no destination twice and each destination keeps its order."""
    if destinations.size == 0:
        return []
    by = np.argsort(destinations, kind="stable")
    ordered = destinations[by]
    first = np.r_[True, ordered[1:] != ordered[:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(ordered.size), 0))
    turn = np.arange(ordered.size) - start
    again = np.argsort(turn, kind="stable")
    bounds = np.flatnonzero(np.diff(turn[again])) + 1
    return [by[group] for group in np.split(again, bounds)]


def histogram(machine: Machine, op: kir.Histogram) -> None:
    """Counts per bin; active values out of range are invalid input and counted nowhere."""
    (bins,) = machine.shape(op.result.shape)
    values = machine[op.values].reshape(-1)
    active = np.ones(values.shape, np.bool_) if op.valid is None else machine[op.valid].reshape(-1)
    counted = values[active & (values >= 0) & (values < bins)].astype(np.int64)
    machine[op.result] = np.bincount(counted, minlength=bins)[:bins].astype(op.result.dtype.numpy)
