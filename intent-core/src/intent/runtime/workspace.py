"""The hidden workspace argument: one allocation for all buffers that outlive registers (spec 5, 4.9).

Slice ``i`` of a ``program`` scoped buffer belongs to global program id ``i``; a buffer of the ``invocation``
has one slice. Allocated by the caller's library, so it comes from the caller's pool and follows the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from intent.diagnostics import CompilerFault
from intent.physical import Program
from intent.provider import BoundView
from intent.runtime.array import Library, memory_of
from intent.runtime.extents import value_of
from intent.types.dtypes import U8
from intent.types.extent import Atom

__all__ = ["ALIGNMENT", "Workspace", "allocate", "layout"]

ALIGNMENT: Final = 128
"""Bytes: every buffer begins at a multiple of it."""


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """``size`` in bytes and the byte offset of every buffer by its id."""

    size: int
    offsets: Mapping[int, int]


def layout(program: Program, env: Mapping[Atom, int], length: int) -> Workspace:
    """Place every workspace buffer for a launch of ``length`` programs; size 0 when there is none."""
    offsets: dict[int, int] = {}
    size = 0
    for buffer in program.workspace:
        size = -(-size // ALIGNMENT) * ALIGNMENT
        offsets[buffer.id] = size
        elements = 1 if buffer.scope == "invocation" else length
        for extent in buffer.shape:
            elements *= value_of(extent, env, needed_by=f"buffer '{buffer.name}'")
        size += elements * buffer.dtype.bytes
    return Workspace(size=size, offsets=offsets)


def allocate(workspace: Workspace, library: Library, device: str) -> BoundView | None:
    """The allocation as a one-dimensional ``u8`` view, aligned; None when nothing is needed."""
    if workspace.size == 0:
        return None
    owner = library.empty((workspace.size + ALIGNMENT,), (1,), U8, device)
    array = library.recognize(owner)
    if array is None:
        raise CompilerFault(f"{library.name} does not recognise its own array", stage="workspace")
    shift = -array.pointer % ALIGNMENT
    view = memory_of(array, U8.numpy)[shift : shift + workspace.size] if device == "cpu" else owner[shift:]
    return BoundView(
        name="workspace",
        pointer=array.pointer + shift,
        shape=(workspace.size,),
        strides=(1,),
        dtype="u8",
        device=device,
        array=view,
    )
