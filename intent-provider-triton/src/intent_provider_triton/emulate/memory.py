"""Memory of an emulated launch: addresses are checked against the arrays that were passed."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class OutsideAccess(IndexError):
    """Emitted text touched memory that no argument of the launch owns."""


@dataclass(frozen=True)
class Block:
    """A range of host memory as bytes."""

    low: int
    high: int
    data: npt.NDArray[np.uint8]


class Memory:
    """All memory that one launch may touch."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []

    def add(self, low: int, high: int) -> None:
        """Register the bytes ``low <= address < high``; they must stay alive during the launch."""
        if high > low:
            raw = (ctypes.c_uint8 * (high - low)).from_address(low)
            self._blocks.append(Block(low, high, np.ctypeslib.as_array(raw)))

    def add_array(self, array: Array) -> None:
        """Register all elements of a numpy array of any strides."""
        if array.size:
            start = array.ctypes.data
            spans = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
            low = start + sum(s for s in spans if s < 0)
            self.add(low, start + sum(s for s in spans if s > 0) + array.itemsize)

    def load(
        self, addresses: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_], dtype: np.dtype[Any]
    ) -> Array:
        """Elements at the active addresses, zero elsewhere."""
        out = np.zeros(addresses.shape, dtype)
        if mask.any():
            data, places = self._places(addresses[mask], dtype)
            out[mask] = data[places].view(dtype).reshape(-1)
        return out

    def store(self, addresses: npt.NDArray[np.int64], values: Array, mask: npt.NDArray[np.bool_]) -> None:
        """Write the active elements."""
        if mask.any():
            data, places = self._places(addresses[mask], values.dtype)
            chosen = np.ascontiguousarray(values[mask]).reshape(-1, 1)
            data[places] = chosen.view(np.uint8)

    def compare_exchange(self, address: int, expected: Array, desired: Array) -> Array:
        """The word at an aligned address, replaced if it has the expected bits.

        A word of two bytes may reach past the first or last byte of an array: it is swapped for one of its bytes,
        and no allocation ends in the middle of one.
        """
        size = expected.dtype.itemsize
        touched = any(block.low < address + size and address < block.high for block in self._blocks)
        if size != 2 or address % 2 or not touched:
            place = np.asarray([address])
            self._places(place, expected.dtype)
        word = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        old = word.copy().view(expected.dtype)[0]
        if old.tobytes() == expected.tobytes():
            word[:] = np.frombuffer(desired.tobytes(), np.uint8)
        return np.asarray(old)

    def _places(
        self, active: npt.NDArray[np.int64], dtype: np.dtype[Any]
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """The block that holds the active elements, and the byte positions [element, byte] in it."""
        low, high = int(active.min()), int(active.max()) + dtype.itemsize
        for block in self._blocks:
            if block.low <= low and high <= block.high:
                return block.data, (active - block.low)[:, None] + np.arange(dtype.itemsize)
        raise OutsideAccess(f"an active lane touches addresses {low:#x} to {high:#x}, outside every argument")
