"""Active indices outside what they index (spec: logical-program 9; language decision 18)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import OutOfBounds
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.places import Places, element

Array = NDArray[Any]
Access = kir.Gather | kir.Load | kir.Store | kir.ScatterReduce | kir.Atomic

__all__ = ["check"]


def check(
    context: Context, op: Access, lanes: Places, name: str, *, writes: bool, assumed: tuple[bool, ...] = ()
) -> None:
    """Report the first active lane outside each axis.

    Axes of a false ``assume_in_bounds`` are blamed on the promise, coordinates of an invalid subregion on the
    subregion, and coordinates that are invalid themselves on what made them.
    """
    for axis, (value, coordinate, extent) in enumerate(
        zip(op.relation.coordinates, lanes.coordinates, lanes.extents, strict=True)
    ):
        if (assumed and assumed[axis]) or value.id in context.explained:
            continue
        outside = lanes.active & ((coordinate < 0) | (coordinate >= extent))
        if not outside.any() or not (outside & ~_invalid(context, op, axis, lanes)).any():
            continue
        context.found(op, _error(context, lanes, name, axis, outside, writes=writes), "bounds", axis)


def _invalid(context: Context, op: Access, axis: int, lanes: Places) -> Array:
    mask = context.deferred.mask(op.relation.coordinates[axis])
    if mask is None:
        return np.False_  # type: ignore[return-value]
    spread = [1] * len(lanes.shape)
    axes = op.relation.axes[axis]
    for size, place in zip(mask.shape, axes, strict=True):
        spread[place] = size
    return mask.transpose(np.argsort(np.array(axes, dtype=np.intp))).reshape(spread)


def _error(context: Context, lanes: Places, name: str, axis: int, outside: Array, *, writes: bool) -> Any:
    def build() -> OutOfBounds:
        at = np.unravel_index(int(np.argmax(outside)), outside.shape) if outside.ndim else ()
        shown = element(name, [c[at] for c in lanes.coordinates])
        if outside.ndim:
            shown += f", lane [{', '.join(str(int(i)) for i in at)}]"
        count = int(outside.sum())
        notes = (f"{count} lanes of this access are outside",) if count > 1 else ()
        return OutOfBounds(
            name,
            index=shown,
            axis=axis,
            extent=lanes.extents[axis],
            writes=writes,
            point=context.point,
            notes=notes,
        )

    return build
