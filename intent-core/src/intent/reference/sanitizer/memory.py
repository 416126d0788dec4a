"""Shadow memory: which elements are written, and who touched them last.

Resources that share storage (views of one alias group, one array passed twice) share cells: a cell is the
greatest unit of bytes that every element of the shared storage consists of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir

Array = NDArray[Any]
Cells = NDArray[np.int64]

__all__ = ["Cells", "Memory", "Storage", "buffer_storage", "view_storage"]


@dataclass(kw_only=True, eq=False)
class Memory:
    """Cells of one allocation.

    ``defined``: holds a value, from the caller or from the kernel. ``written``: the kernel wrote it. ``slots``:
    numbers of the latest accesses by kind, made when first needed. ``released``: per cell, what is ordered
    before an acquire of it. ``home``: how many parallel loops stand around the allocation.
    """

    size: int
    defined: NDArray[np.bool_]
    written: NDArray[np.bool_]
    tracked: bool = True
    home: int = 0
    slots: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    released: dict[int, dict[int, int]] = field(default_factory=dict)

    def slot(self, name: str) -> NDArray[np.int32]:
        """The access numbers of one kind, -1 where there was none."""
        found = self.slots.get(name)
        if found is None:
            found = self.slots[name] = np.full(self.size, -1, np.int32)
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Storage:
    """A resource's elements in a memory: its element at flat position p starts at cell ``first[p]``."""

    memory: Memory
    shape: tuple[int, ...]
    first: Cells | None = None
    width: int = 1

    @property
    def shared(self) -> bool:
        """Whether another view has elements in this memory."""
        return self.first is not None

    def cells(self, indices: Sequence[Array]) -> Cells:
        """The cells of elements, one row per element; ``indices`` holds one array per axis, all in bounds."""
        if not self.shape:
            flat = np.zeros(1, np.int64)
        else:
            flat = np.zeros(np.shape(indices[0]), np.int64)
            for index, extent in zip(indices, self.shape, strict=True):
                flat = flat * extent + index
        starts = flat if self.first is None else self.first[flat]
        return starts.reshape(-1, 1) + np.arange(self.width)


def buffer_storage(shape: tuple[int, ...], *, initialised: bool, home: int) -> Storage:
    """A fresh allocation of a logical buffer."""
    size = math.prod(shape)
    full = np.full(size, initialised)
    return Storage(memory=Memory(size=size, defined=full, written=full.copy(), home=home), shape=shape)


def view_storage(views: Sequence[kir.View], arrays: Mapping[str, Array]) -> dict[str, Storage]:
    """The storage of every view; arrays whose byte ranges meet share a memory."""
    out: dict[str, Storage] = {}
    for group in _groups(views, arrays):
        if len(group) == 1:
            (view,) = group
            array = arrays[view.name]
            held = np.full(array.size, view.mode != "out")
            memory = Memory(size=array.size, defined=held, written=np.zeros(array.size, np.bool_))
            out[view.name] = Storage(memory=memory, shape=array.shape)
        else:
            out |= _shared(group, arrays)
    return out


def _groups(views: Sequence[kir.View], arrays: Mapping[str, Array]) -> list[list[kir.View]]:
    """Views whose byte ranges meet, directly or through others."""
    groups: list[tuple[int, int, list[kir.View]]] = []
    for view in views:
        low, high = bounds(arrays[view.name])
        members = [view]
        apart = []
        for other_low, other_high, others in groups:
            if low < other_high and other_low < high:
                low, high, members = min(low, other_low), max(high, other_high), others + members
            else:
                apart.append((other_low, other_high, others))
        groups = [*apart, (low, high, members)]
    return [members for _, _, members in groups]


def bounds(array: Array) -> tuple[int, int]:
    """First byte and the byte after the last of an array's elements; equal when it has none."""
    address = array.__array_interface__["data"][0]
    if not array.size:
        return address, address
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    return address + sum(r for r in reach if r < 0), address + sum(r for r in reach if r > 0) + array.itemsize


def offsets(array: Array) -> Cells:
    """The byte offset of every element from the array's address, in row-major order."""
    total = np.zeros((), np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        total = np.add.outer(total, np.arange(extent, dtype=np.int64) * stride)
    return np.asarray(total).reshape(-1)


def _shared(group: Sequence[kir.View], arrays: Mapping[str, Array]) -> dict[str, Storage]:
    low = min(bounds(arrays[v.name])[0] for v in group)
    high = max(bounds(arrays[v.name])[1] for v in group)
    starts: dict[str, Cells] = {}
    unit = 0
    for view in group:
        array = arrays[view.name]
        starts[view.name] = offsets(array) + (array.__array_interface__["data"][0] - low)
        unit = math.gcd(unit, array.itemsize, *(int(s) for s in array.strides), int(starts[view.name][0]))
    size = (high - low) // unit
    memory = Memory(size=size, defined=np.zeros(size, np.bool_), written=np.zeros(size, np.bool_))
    out: dict[str, Storage] = {}
    for view in group:
        array = arrays[view.name]
        first, width = starts[view.name] // unit, array.itemsize // unit
        storage = Storage(memory=memory, shape=array.shape, first=first, width=width)
        out[view.name] = storage
        if view.mode != "out":
            memory.defined[first[:, None] + np.arange(width)] = True
    return out
