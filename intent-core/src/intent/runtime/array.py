"""A caller's array as the runtime sees it, whichever library made it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from intent.types import DType

__all__ = ["Array", "Library", "Reading", "memory_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """How straight code reads the GPU arrays of a library; ``{0}`` stands for the array.

    ``layout``: expressions that together decide every field of :class:`Array` but the address, and whether
    it is plain memory. ``address``: the address. Both may raise for what is no such array. ``device`` gives
    the number of the current device, ``stream`` the raw handle of its current stream by that number.
    ``exchange`` is DLPack's exchange table for compiled code, ``negated`` what tells of an array that it is not
    the plain memory which that describes.
    """

    layout: str
    address: str
    device: Callable[[], int]
    stream: Callable[[int], int]
    exchange: Any = None
    negated: Callable[[Any], bool] | None = None


class Library(Protocol):
    """An array library that the caller uses: where outputs are allocated and which stream is current."""

    @property
    def name(self) -> str: ...

    @property
    def reading(self) -> Reading | None:
        """How generated code reads its arrays on a GPU; None when it has none there."""
        ...

    def recognize(self, value: object) -> Array | None:
        """``value`` as an Array, or None when it is not an array of this library."""
        ...

    def empty(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, device: str) -> Any:
        """A new uninitialised array; ``strides`` in elements, non-negative."""
        ...

    def stream(self, device: str) -> int | None:
        """The raw handle of the caller's current stream on ``device``; None on the CPU."""
        ...

    def capturing(self, device: str) -> bool:
        """Whether the current stream of ``device``, the current one, is being captured into a graph."""
        ...

    def current(self, device: str) -> AbstractContextManager[Any]:
        """Makes ``device`` current, and restores the one that was."""
        ...


class Array(NamedTuple):
    """Address, logical shape and layout of one array argument; made for every argument of every call.

    ``byte_strides`` may be negative or zero. ``dtype`` is the element type's name in Intent, or the library's
    own name when the language has no such type. ``device`` is ``cpu`` or ``cuda:N``. ``owner`` keeps the
    memory alive.
    """

    pointer: int
    shape: tuple[int, ...]
    byte_strides: tuple[int, ...]
    itemsize: int
    dtype: str
    device: str
    readonly: bool
    owner: Any
    library: Library

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements; exact only when every byte stride is a multiple of the item size."""
        return tuple(s // self.itemsize for s in self.byte_strides)

    @property
    def empty(self) -> bool:
        """Whether the array has no elements."""
        return 0 in self.shape

    def bounds(self) -> tuple[int, int]:
        """First byte and the byte after the last that the array's elements occupy; equal when it is empty."""
        if self.empty:
            return self.pointer, self.pointer
        reach = [(extent - 1) * stride for extent, stride in zip(self.shape, self.byte_strides, strict=True)]
        low = self.pointer + sum(r for r in reach if r < 0)
        return low, self.pointer + sum(r for r in reach if r > 0) + self.itemsize


def memory_of(array: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A numpy array over CPU memory that another library owns; the caller keeps ``array.owner`` alive."""
    low, high = array.bounds()
    if low == high:
        return np.empty(array.shape, dtype)
    buffer = memoryview((ctypes.c_char * (high - low)).from_address(low))
    return np.ndarray(array.shape, dtype, buffer, offset=array.pointer - low, strides=array.byte_strides)
