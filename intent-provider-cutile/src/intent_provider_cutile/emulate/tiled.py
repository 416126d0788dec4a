"""Arrays with a shape and strides, and loads and stores of their tiles."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from intent_provider_cutile.emulate.dtypes import BOOL, INT64, TileTypeError
from intent_provider_cutile.emulate.memory import Memory, OutsideAccess
from intent_provider_cutile.emulate.tile import Tile, check_shape

Index = Sequence[Tile | int]


class TiledArray:
    """What ``Array.from_foreign`` makes."""

    def __init__(
        self,
        memory: Memory,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        *,
        first: int = 0,
        sliced: int | None = None,
    ) -> None:
        self.memory, self.shape, self.strides = memory, shape, strides
        self.first, self.sliced = first, sliced

    @staticmethod
    def from_foreign(pointer: Memory, shape: Index, strides: Index) -> TiledArray:
        """An array at an address; extents and strides are never negative."""
        extents, steps = tuple(map(_number, shape)), tuple(map(_number, strides))
        if len(extents) != len(steps) or min((*extents, *steps), default=0) < 0:
            raise TileTypeError(f"an array of shape {extents} and strides {steps}")
        return TiledArray(pointer, extents, steps)

    def slice(self, axis: int, start: Tile | int, stop: Tile | int) -> TiledArray:
        """The part of the array between two places of an axis; its last tile may go beyond its end."""
        first, last = _number(start), _number(stop)
        if not (0 <= first < self.shape[axis] and first <= last <= self.shape[axis]):
            raise OutsideAccess(f"a slice from {first} to {last} of {self.shape[axis]} elements")
        shape = (*self.shape[:axis], last - first, *self.shape[axis + 1 :])
        return TiledArray(
            self.memory, shape, self.strides, first=self.first + first * self.strides[axis], sliced=axis
        )

    def places(self, index: Index, shape: tuple[int, ...]) -> tuple[Tile, Tile]:
        """Element offsets of the tile at an index of the tile space, and which of them are in the array.

        The provider asks for tiles that are all inside, or begin inside of a slice.
        """
        if not len(index) == len(shape) == len(self.shape):
            raise TileTypeError(f"index {index} and tile {shape} of an array of shape {self.shape}")
        offset = np.full(check_shape(shape), self.first, np.int64)
        inside = np.full(shape, True)
        for axis, (place, size) in enumerate(zip(index, shape, strict=True)):
            first = _number(place) * size
            last = first if axis == self.sliced else first + size - 1
            if first < 0 or last >= self.shape[axis]:
                raise OutsideAccess(f"a tile covers {first} to {last} of {self.shape[axis]} elements")
            along = [1] * len(shape)
            along[axis] = size
            where = (first + np.arange(size)).reshape(along)
            offset = offset + where * self.strides[axis]
            inside = inside & (where < self.shape[axis])
        return Tile(offset, INT64), Tile(inside, BOOL)


def _number(value: Tile | int) -> int:
    if isinstance(value, Tile):
        if value.shape or value.dtype.kind != "int":
            raise TileTypeError(f"{value.dtype.name}{value.shape} is no scalar integer")
        return int(value.data)
    return value


class PaddingMode(Enum):
    """What a tile has behind the end of its array."""

    UNDETERMINED, ZERO = range(2)


def load(
    array: TiledArray, index: Index, shape: tuple[int, ...], /, *, latency: int | None = None,
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
) -> Tile:  # fmt: skip
    """One tile of an array; ``latency`` is a hint from 1 to 10 without meaning."""
    if latency is not None and not 1 <= latency <= 10:
        raise TileTypeError(f"a latency of {latency}")
    offset, inside = array.places(index, shape)
    if not inside.data.all() and padding_mode is not PaddingMode.ZERO:
        raise TileTypeError("nobody said what is behind the end of the array")
    return array.memory.load_offset(offset, mask=inside, padding_value=0)


def store(array: TiledArray, index: Index, tile: Tile, /) -> None:
    """Write what of one tile is in the array."""
    offset, inside = array.places(index, tile.shape)
    array.memory.store_offset(offset, tile, mask=inside)


def assume_divisible_by(x: Tile, divisor: int, /) -> Tile:
    """The value itself, of which the claim must be true."""
    if int(x.data) % divisor:
        raise TileTypeError(f"{int(x.data)} is claimed to be divisible by {divisor}")
    return x
