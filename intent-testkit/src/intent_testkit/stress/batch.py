"""Batches: the arguments of many launches, each with written views of its own between guards of its own.

The blocks of one view lie one behind the other at a pitch that keeps alignment, so that every repetition takes
the same build. Views that are only read are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Protocol

import numpy as np

from intent_testkit.cases.draw import Array
from intent_testkit.device import torch_dtype
from intent_testkit.memory import GUARD, Allocation

PITCH: Final = 512
"""Bytes: blocks begin at multiples of it."""


class Batch(Protocol):
    """The arguments of ``count`` launches."""

    count: int

    def argument(self, name: str, repetition: int) -> Any:
        """The view ``name`` of one repetition."""

    def launching(self, repetition: int) -> AbstractContextManager[Any]:
        """The stream on which that repetition is launched."""

    def differing(self) -> list[int]:
        """Repetitions whose written blocks are not those of the first, byte for byte, after all have run."""

    def fetch(self, repetitions: Sequence[int]) -> list[dict[str, Array]]:
        """The blocks of these repetitions, shared ones included."""


def pitch(allocation: Allocation) -> int:
    """Bytes from one block of a view to the next."""
    return -(-allocation.block.size // PITCH) * PITCH


def batch_bytes(allocations: Mapping[str, Allocation]) -> int:
    """Bytes that one repetition takes."""
    return sum(pitch(a) for a in allocations.values() if a.spec.role != "in")


class HostBatch:
    """Numpy blocks."""

    def __init__(self, allocations: Mapping[str, Allocation], count: int) -> None:
        self.count = count
        self._allocations = dict(allocations)
        self._blocks = {
            name: np.tile(_padded(a), (1 if a.spec.role == "in" else count, 1))
            for name, a in allocations.items()
        }

    def argument(self, name: str, repetition: int) -> Array:
        """A view of the repetition's row."""
        allocation = self._allocations[name]
        row = self._blocks[name][repetition if allocation.spec.role != "in" else 0]
        return Allocation(
            spec=allocation.spec, layout=allocation.layout, block=row[: allocation.block.size], before=row
        ).view

    def launching(self, repetition: int) -> AbstractContextManager[Any]:
        """The host has one."""
        return nullcontext()

    def differing(self) -> list[int]:
        """By comparison of rows."""
        different = np.zeros(self.count, np.bool_)
        for name, rows in self._blocks.items():
            if self._allocations[name].spec.role != "in":
                different |= (rows != rows[0]).any(axis=1)
        return [int(r) for r in np.flatnonzero(different)]

    def fetch(self, repetitions: Sequence[int]) -> list[dict[str, Array]]:
        """Copies of rows."""
        return _split(self._allocations, self._blocks, repetitions, lambda rows, chosen: rows[chosen])


class GpuBatch:
    """Torch blocks; launches go round over a few streams, so that repetitions also meet each other."""

    def __init__(self, allocations: Mapping[str, Allocation], count: int, streams: int) -> None:
        import torch

        self.count = count
        self._torch = torch
        self._allocations = dict(allocations)
        self._streams = [torch.cuda.Stream() for _ in range(streams)]
        self._blocks = {}
        self._typed = {}
        for name, a in allocations.items():
            row = torch.from_numpy(_padded(a)).cuda()
            self._blocks[name] = row.repeat(1 if a.spec.role == "in" else count, 1)
            self._typed[name] = self._blocks[name].view(-1).view(torch_dtype(a.spec.dtype))
        torch.cuda.synchronize()

    def argument(self, name: str, repetition: int) -> Any:
        """A tensor over the repetition's row."""
        a = self._allocations[name]
        row = repetition * pitch(a) if a.spec.role != "in" else 0
        offset = (row + a.start) // a.spec.numpy.itemsize
        return self._torch.as_strided(self._typed[name], a.layout.shape, a.layout.strides, offset)

    def launching(self, repetition: int) -> AbstractContextManager[Any]:
        """One stream after the other."""
        stream: AbstractContextManager[Any] = self._torch.cuda.stream(
            self._streams[repetition % len(self._streams)]
        )
        return stream

    def differing(self) -> list[int]:
        """By comparison of rows on the device; waits for all launches."""
        self._torch.cuda.synchronize()
        different = self._torch.zeros(self.count, dtype=self._torch.bool, device="cuda")
        for name, rows in self._blocks.items():
            if self._allocations[name].spec.role != "in":
                different |= (rows != rows[0]).any(dim=1)
        return [int(r) for r in different.nonzero().flatten().tolist()]

    def fetch(self, repetitions: Sequence[int]) -> list[dict[str, Array]]:
        """Rows copied to the host."""
        return _split(
            self._allocations, self._blocks, repetitions, lambda rows, chosen: rows[chosen].cpu().numpy()
        )


class BareBatch:
    """One launch on a GPU, every view an allocation of exactly its elements, without guards of its own.

    For compute-sanitizer, which knows where an allocation ends and takes guards for memory like any other. Views
    in ``paired`` get an even number of bytes: no GPU has an atomic on one byte, so an update of a byte exchanges
    the aligned pair that holds it, with the other byte as it was.
    """

    def __init__(self, allocations: Mapping[str, Allocation], paired: frozenset[str] = frozenset()) -> None:
        import torch

        self.count = 1
        self._torch = torch
        self._allocations = dict(allocations)
        self._elements = {}
        for name, a in allocations.items():
            elements = a.block[GUARD:-GUARD]
            size = elements.size + (elements.size % 2 if name in paired else 0)
            self._elements[name] = torch.empty(size, dtype=torch.uint8, device="cuda")[: elements.size]
            self._elements[name].copy_(torch.from_numpy(elements.copy()))
        torch.cuda.synchronize()

    def argument(self, name: str, repetition: int) -> Any:
        """A tensor over the allocation."""
        layout = self._allocations[name].layout
        typed = self._elements[name].view(torch_dtype(self._allocations[name].spec.dtype))
        return self._torch.as_strided(typed, layout.shape, layout.strides, layout.offset)

    def launching(self, repetition: int) -> AbstractContextManager[Any]:
        """The current stream."""
        return nullcontext()

    def differing(self) -> list[int]:
        """There is no other launch; waits for this one."""
        self._torch.cuda.synchronize()
        return []

    def fetch(self, repetitions: Sequence[int]) -> list[dict[str, Array]]:
        """The blocks with what the allocations hold."""
        found = {name: a.block.copy() for name, a in self._allocations.items()}
        for name, block in found.items():
            block[GUARD:-GUARD] = self._elements[name].cpu().numpy()
        return [found for _ in repetitions]


def _padded(allocation: Allocation) -> Array:
    row = np.full(pitch(allocation), allocation.block[-1], np.uint8)
    row[: allocation.block.size] = allocation.block
    return row


def _split(
    allocations: Mapping[str, Allocation], blocks: Mapping[str, Any], repetitions: Sequence[int], take: Any
) -> list[dict[str, Array]]:
    found: list[dict[str, Array]] = [{} for _ in repetitions]
    if not repetitions:
        return found
    for name, a in allocations.items():
        shared = a.spec.role == "in"
        rows = take(blocks[name], [0] if shared else list(repetitions))
        for k in range(len(repetitions)):
            found[k][name] = rows[0 if shared else k][: a.block.size].copy()
    return found
