"""Memory of one view or buffer: reads and writes at coordinates, with every active access checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from intent.diagnostics import CompilerFault

Array = NDArray[Any]
Index = NDArray[np.int64]


class OutOfBounds(Exception):
    """An active lane has a coordinate outside: ``value`` on axis ``axis`` of ``shape``."""

    def __init__(self, axis: int, value: int, shape: tuple[int, ...]) -> None:
        super().__init__(f"coordinate {value} on axis {axis} of {shape}")
        self.axis = axis
        self.value = value
        self.shape = shape


class Memory:
    """An array seen as a line of elements: ``line[origin + sum of coordinate * stride]``."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shape = array.shape
        size = array.itemsize
        if any(s % size for s in array.strides):
            raise CompilerFault("strides are no multiples of the element", stage="program evaluation")
        self.strides = tuple(s // size for s in array.strides)
        self.origin = -sum(s * (n - 1) for s, n in zip(self.strides, array.shape, strict=True) if s < 0)
        if array.size == 0:
            self.line = np.zeros(1, array.dtype)
            return
        span = 1 + sum(abs(s) * (n - 1) for s, n in zip(self.strides, array.shape, strict=True))
        # The element at the lowest address is the line's first.
        lowest = tuple(
            slice(n - 1, n) if s < 0 else slice(0, 1) for s, n in zip(self.strides, array.shape, strict=True)
        )
        # With the ellipsis a rank-zero array gives a view of its element, not a copy.
        start = array[(..., *lowest)]
        # Through plain integers: numpy cannot describe every narrow float to itself.
        self.line = as_strided(start.view(f"u{size}"), shape=(span,), strides=(size,)).view(array.dtype)

    def offsets(
        self, coordinates: Sequence[Index], active: Array | None, rank: int
    ) -> tuple[Index, Array | None]:
        """Line offsets of the coordinates (any for inactive lanes), and ``active`` unless all lanes are.

        All arrays have ``rank`` axes.

        Raises OutOfBounds if an active lane's coordinate is outside.
        """
        if active is not None and bool(active.all()):
            active = None
        base = self.origin
        parts = []
        for axis, (c, extent, stride) in enumerate(zip(coordinates, self.shape, self.strides, strict=True)):
            if c.size == 1 and 0 <= (value := int(c.item())) < extent:
                base += value * stride
                continue
            # As unsigned numbers, negative coordinates are beyond every extent.
            outside = c.view(np.uint64) >= extent
            if outside.any():
                wrong = outside if active is None else outside & active
                if wrong.any():
                    where = tuple(k[0] for k in np.nonzero(wrong))
                    raise OutOfBounds(axis, int(np.broadcast_to(c, wrong.shape)[where]), self.shape)
                c = np.where(outside, 0, c)  # noqa: PLW2901 - such lanes are inactive
            parts.append(c if stride == 1 else c * stride)
        if not parts:
            return np.array(base, np.int64, ndmin=rank), active
        total = parts[0] + base if base else parts[0]
        for part in parts[1:]:
            total = total + part
        return total, active

    def read(self, coordinates: Sequence[Index], active: Array | None, fill: Array) -> Array:
        """Elements at the coordinates; ``fill`` where not active."""
        offsets, active = self.offsets(coordinates, active, fill.ndim)
        if active is None:
            return self.line[offsets]
        if self.array.size == 0:
            shape = np.broadcast_shapes(offsets.shape, active.shape, fill.shape)
            return np.array(np.broadcast_to(fill, shape))
        return np.where(active, self.line[offsets], fill)

    def write(self, coordinates: Sequence[Index], value: Array, active: Array | None) -> None:
        """Store ``value`` at the coordinates of active lanes."""
        offsets, active = self.offsets(coordinates, active, value.ndim)
        if active is None:
            shape = np.broadcast_shapes(offsets.shape, value.shape)
            self.line[np.broadcast_to(offsets, shape)] = value
            return
        shape = np.broadcast_shapes(offsets.shape, value.shape, active.shape)
        chosen = np.broadcast_to(active, shape)
        self.line[np.broadcast_to(offsets, shape)[chosen]] = np.broadcast_to(value, shape)[chosen]
