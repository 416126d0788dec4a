"""Allocations under test: a view in some layout, between guard bytes, inside a block of known bytes.

Every byte that belongs to no element of the view (guards before and behind, the gaps of a strided layout) is
filled with a pattern and must still hold it after the call: a write outside the view is seen.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from intent_testkit.cases.case import ViewSpec
from intent_testkit.cases.draw import Array

GUARD: Final = 512
PATTERN: Final = 0xA5

CONTIGUOUS, STRIDED, TRANSPOSED, FLIPPED, BROADCAST = (
    "contiguous",
    "strided",
    "transposed",
    "flipped",
    "broadcast",
)
VARIANTS: Final = (CONTIGUOUS, STRIDED, TRANSPOSED, FLIPPED, BROADCAST)


class OutOfBoundsWrite(AssertionError):
    """Bytes that belong to no element of a view were changed."""


class InputModified(AssertionError):
    """An In view changed during the call."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where the elements of one view lie: shape, strides and offset of element zero, all in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    elements: int


def layout(shape: tuple[int, ...], variant: str, *, written: bool) -> Layout:
    """The layout ``variant`` for ``shape``. Written views stay contiguous under ``broadcast``."""
    order = list(range(len(shape)))
    if variant == TRANSPOSED:
        order.reverse()
    inner = 2 if variant == STRIDED else 1
    pad = 3 if variant == STRIDED else 0
    strides, step = [0] * len(shape), inner
    for axis in reversed(order):
        strides[axis] = step
        step = step * max(1, shape[axis]) + pad
    offset = 1 if variant == STRIDED else 0
    if variant == BROADCAST and shape and not written:
        strides[0] = 0
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True) if extent > 0)
    if variant == FLIPPED:
        offset = span - 1
        strides = [-stride for stride in strides]
    return Layout(
        shape=shape,
        strides=tuple(strides),
        offset=offset,
        elements=span + offset if variant == STRIDED else span,
    )


@dataclass(kw_only=True)
class Allocation:
    """One view inside its block. ``block`` is the host image of all bytes, ``view`` the elements in it."""

    spec: ViewSpec
    layout: Layout
    block: Array
    before: Array

    @property
    def view(self) -> Array:
        """The elements, as a numpy view of the block in the layout under test."""
        return _view(self.block, self.layout, self.spec.numpy)

    @property
    def start(self) -> int:
        """Byte offset of element zero inside the block."""
        return GUARD + self.layout.offset * self.spec.numpy.itemsize

    def check_surroundings(self) -> None:
        """Raise OutOfBoundsWrite if a byte outside the view changed, InputModified if an input did."""
        mine = np.zeros(self.block.shape, np.bool_)
        marks = _view(mine.view(np.uint8), self.layout, np.dtype((np.void, self.spec.numpy.itemsize)))
        if marks.size:
            marks[...] = np.void(b"\x01" * self.spec.numpy.itemsize)
        changed = np.flatnonzero((self.block != self.before) & ~mine)
        if changed.size:
            raise OutOfBoundsWrite(
                f"'{self.spec.name}': {changed.size} bytes outside the view were written, the first at byte "
                f"{int(changed[0]) - self.start} from its first element"
            )
        if self.spec.role == "in" and not np.array_equal(self.block, self.before):
            raise InputModified(f"input '{self.spec.name}' was modified")


def allocate(spec: ViewSpec, values: Array, variant: str) -> Allocation:
    """Place ``values`` in a fresh block in the layout ``variant``."""
    placed = layout(values.shape, variant, written=spec.role != "in")
    block = np.full(placed.elements * spec.numpy.itemsize + 2 * GUARD, PATTERN, np.uint8)
    if values.size:
        target = _view(block, placed, spec.numpy)
        target[...] = values
    return Allocation(spec=spec, layout=placed, block=block, before=block.copy())


def poison(spec: ViewSpec, shape: tuple[int, ...]) -> Array:
    """What an Out holds before the call: values that no oracle gives (bools hold bytes that are no bool)."""
    kind = spec.numpy
    if spec.dtype == "bool":
        return np.full(shape, 0x5A, np.uint8).view(np.bool_)
    if np.issubdtype(kind, np.integer):
        bits = zlib.crc32(spec.name.encode()) | 1 << 62
        return np.full(shape, bits, np.uint64).astype(kind)
    worst = {"f16": -54321.0, "f8e4m3fn": -416.0, "f8e5m2": -49152.0}.get(spec.dtype, -3.21e30)
    return np.full(shape, worst, np.float64).astype(kind)


def _view(block: Array, placed: Layout, dtype: np.dtype[Any]) -> Array:
    if not np.prod(placed.shape, dtype=np.int64):
        return np.empty(placed.shape, dtype)
    start = GUARD + placed.offset * dtype.itemsize
    strides = tuple(stride * dtype.itemsize for stride in placed.strides)
    return np.ndarray(placed.shape, dtype, buffer=block.data, offset=start, strides=strides)
