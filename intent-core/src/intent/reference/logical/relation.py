"""Index relations as selections of an array (spec: logical-program 9).

A selection is either a basic one (slices: every coordinate is a scalar or an arithmetic progression on a
relation axis of its own, all in bounds) or a general one (index arrays with an active mask).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.machine import Machine

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Basic:
    """``source[index]``, its axes permuted by ``order``, has the relation's axes ``axes``; others repeat."""

    index: tuple[int | slice, ...]
    order: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class General:
    """``indices``, one array per source axis, of the ``active`` points in row-major order."""

    indices: tuple[Array, ...]
    active: Array


Selection = Basic | General


def select(
    machine: Machine,
    relation: kir.Relation,
    extents: Sequence[int],
    shape: tuple[int, ...],
    valid: kir.Value | None,
) -> Selection:
    """The points of a source of ``extents`` that ``relation`` names, as an array of ``shape``.

    Points whose ``valid`` is false or that lie outside (negative run-time coordinates included) are inactive.
    """
    coordinates = [machine[c] for c in relation.coordinates]
    if valid is None:
        basic = _basic(coordinates, relation.axes, extents, shape)
        if basic is not None:
            return basic
    active = np.ones(shape, np.bool_) if valid is None else np.broadcast_to(machine[valid], shape).copy()
    spread = []
    for coordinate, axes, extent in zip(coordinates, relation.axes, extents, strict=True):
        axis_shape = [1] * len(shape)
        for size, axis in zip(coordinate.shape, axes, strict=True):
            axis_shape[axis] = size
        # Axes of a coordinate need not come in the relation's order.
        ordered = coordinate.transpose(np.argsort(np.array(axes, dtype=np.intp))).reshape(axis_shape)
        active &= (ordered >= 0) & (ordered < extent)
        spread.append(np.broadcast_to(ordered, shape))
    return General(indices=tuple(s[active] for s in spread), active=active)


def _basic(
    coordinates: Sequence[Array],
    axes: Sequence[tuple[int, ...]],
    extents: Sequence[int],
    shape: tuple[int, ...],
) -> Basic | None:
    index: list[int | slice] = []
    place: list[int] = []
    for coordinate, where, extent in zip(coordinates, axes, extents, strict=True):
        if coordinate.ndim == 0:
            at = int(coordinate)
            if not 0 <= at < extent:
                return None
            index.append(at)
            continue
        if coordinate.ndim > 1 or where[0] in place or coordinate.size != shape[where[0]]:
            return None
        run = _progression(coordinate, extent)
        if run is None:
            return None
        index.append(run)
        place.append(where[0])
    order = tuple(int(k) for k in np.argsort(np.array(place, dtype=np.intp)))
    return Basic(index=tuple(index), order=order, axes=tuple(sorted(place)), shape=shape)


def _progression(coordinate: Array, extent: int) -> slice | None:
    if coordinate.size == 0:
        return slice(0, 0)
    first, last = int(coordinate[0]), int(coordinate[-1])
    if not (0 <= first < extent and 0 <= last < extent):
        return None
    if coordinate.size == 1:
        return slice(first, first + 1)
    step = int(coordinate[1]) - first
    if step == 0 or not bool((np.diff(coordinate) == step).all()):
        return None
    stop = last + (1 if step > 0 else -1)
    return slice(first, stop if stop >= 0 else None, step)


def read(source: Array, selection: Selection, fill: Array) -> Array:
    """A new array of the selected elements; inactive points hold ``fill``."""
    if isinstance(selection, Basic):
        part = np.asarray(source[selection.index]).transpose(selection.order)
        missing = tuple(k for k in range(len(selection.shape)) if k not in selection.axes)
        return np.array(np.broadcast_to(np.expand_dims(part, missing), selection.shape))
    out = np.empty(selection.active.shape, source.dtype)
    out[...] = fill
    out[selection.active] = source[selection.indices]
    return out


def write(target: Array, selection: Selection, value: Array) -> None:
    """Store ``value`` at the selected elements; inactive points do nothing."""
    if isinstance(selection, General):
        target[selection.indices] = value[selection.active]
        return
    if value.size == 0:
        return
    # A relation axis that no coordinate mentions repeats one destination; the last of its values stays.
    covered = tuple(slice(None) if k in selection.axes else -1 for k in range(value.ndim))
    inverse = np.argsort(np.array(selection.order, dtype=np.intp))
    target[selection.index] = value[covered].transpose(inverse)
