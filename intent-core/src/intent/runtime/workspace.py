"""The hidden workspace argument: one allocation for all buffers that outlive registers (spec 5, 4.9).

Slice ``i`` of a ``program`` scoped buffer belongs to global program id ``i``; a buffer of the ``invocation``
has one slice. Counts of arrivals come first: they are zero when a launch begins, and every launch leaves them
zero, so that they are set once, when the memory is allocated. Allocated by the caller's library, so it comes
from the caller's pool and follows the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from intent.diagnostics import CompilerFault, NotSupportedYet
from intent.physical import Program
from intent.provider import BoundView
from intent.runtime.array import Library
from intent.runtime.extents import value_of
from intent.types.dtypes import U8
from intent.types.extent import Atom

__all__ = ["ALIGNMENT", "Workspace", "allocate", "layout"]

ALIGNMENT: Final = 128
"""Bytes: every buffer begins at a multiple of it."""


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """``size`` in bytes and the byte offset of every buffer by its id; the first ``zeroed`` bytes begin as zero."""

    size: int
    offsets: Mapping[int, int]
    zeroed: int = 0


def layout(program: Program, env: Mapping[Atom, int], length: int) -> Workspace:
    """Place every workspace buffer for a launch of ``length`` programs; size 0 when there is none."""
    offsets: dict[int, int] = {}
    size = zeroed = 0
    for buffer in sorted(program.workspace, key=lambda b: b.role != "arrival"):
        size = -(-size // ALIGNMENT) * ALIGNMENT
        offsets[buffer.id] = size
        elements = 1 if buffer.scope == "invocation" else length
        for extent in buffer.shape:
            # What is left of an empty axis, N - 1 rows of none, has no elements: others begin where it does.
            elements *= max(value_of(extent, env, needed_by=f"buffer '{buffer.name}'"), 0)
        size += elements * buffer.dtype.bytes
        zeroed = size if buffer.role == "arrival" else zeroed
    return Workspace(size=size, zeroed=zeroed, offsets=offsets)


def allocate(workspace: Workspace, library: Library, device: str) -> BoundView | None:
    """The allocation as a one-dimensional ``u8`` view, aligned; None when there are no buffers.

    Buffers whose extents are all zero still have an address: a launch may pass it. On a GPU the device is current, and
    what begins as zero is set on its current stream.

    Raises:
        NotSupportedYet: No library that the caller has imported can allocate on the device.
    """
    if not workspace.offsets:
        return None
    if device == "cpu":
        # A numpy array, whose slice keeps it alive; memory of the caller's library would be seen by address only.
        memory = np.empty(workspace.size + ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % ALIGNMENT
        memory[start : start + workspace.zeroed] = 0
        return _bound(
            memory.ctypes.data + start, workspace.size, device, memory[start : start + workspace.size]
        )
    if library.reading is None:
        raise NotSupportedYet(
            "a kernel with a workspace beside GPU arrays of this library", fix="import torch or cupy first"
        )
    owner = library.empty((workspace.size + ALIGNMENT,), (1,), U8, device)
    array = library.recognize(owner)
    if array is None:
        raise CompilerFault(f"{library.name} does not recognise its own array", stage="workspace")
    shift = -array.pointer % ALIGNMENT
    if workspace.zeroed:
        owner[shift : shift + workspace.zeroed] = 0
    return _bound(array.pointer + shift, workspace.size, device, owner[shift:])


def _bound(pointer: int, size: int, device: str, array: object) -> BoundView:
    return BoundView(
        name="workspace", pointer=pointer, shape=(size,), strides=(1,), dtype="u8", device=device, array=array
    )
