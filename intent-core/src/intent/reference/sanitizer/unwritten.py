"""Reads of elements that hold nothing yet: buffers without init, and Outs that the kernel has not written.

What a caller left in an Out stays there (language decision 8), but no kernel may rest on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import UnwrittenRead
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.memory import Cells
from intent.reference.sanitizer.places import Places, element

Array = NDArray[Any]

__all__ = ["loaded", "updated", "written"]


def loaded(context: Context, op: kir.Load, lanes: Places, cells: Cells) -> None:
    """A plain read; elements that are read and then not looked at are no violation."""
    missing = _missing(context, op.source, cells)
    if missing.any():
        mask = np.zeros(lanes.shape, np.bool_)
        mask[lanes.inside] = missing
        error = _error(op.source, lanes, missing, context.point, op)
        context.deferred.add(op, mask, lambda: error, "unwritten")


def updated(
    context: Context, op: kir.Atomic | kir.ScatterReduce, target: kir.Resource, lanes: Places, cells: Cells
) -> None:
    """An access in which the old value takes part."""
    missing = _missing(context, target, cells)
    if missing.any():
        context.found(op, lambda: _error(target, lanes, missing, context.point, op), "unwritten")


def written(context: Context, target: kir.Resource, cells: Cells) -> None:
    """From here on the elements hold something."""
    memory = context.storage_of(target).memory
    memory.defined[cells] = True
    memory.written[cells] = True


def _missing(context: Context, resource: kir.Resource, cells: Cells) -> Array:
    memory = context.storage_of(resource).memory
    strict = isinstance(resource, kir.View) and resource.mode == "out" and resource.alias is None
    return np.asarray(~(memory.written if strict else memory.defined)[cells].all(axis=1))


def _error(resource: kir.Resource, lanes: Places, missing: Array, point: str, op: kir.Op) -> UnwrittenRead:
    place = int(np.argmax(missing))
    shown = element(resource.name, [i[place] for i in lanes.indices])
    kind = "an Out view" if isinstance(resource, kir.View) else "a buffer without init="
    count = int(missing.sum())
    notes = (f"{count} elements of this read are unwritten",) if count > 1 else ()
    return UnwrittenRead(resource.name, element=shown, kind=kind, point=point, span=op.span, notes=notes)
