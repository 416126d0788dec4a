"""Arrays with a shape and strides, and loads and stores of their tiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from intent_provider_cutile.emulate.dtypes import INT64, TileTypeError
from intent_provider_cutile.emulate.memory import Memory, OutsideAccess
from intent_provider_cutile.emulate.tile import Tile, check_shape

Index = Sequence[Tile | int]


class TiledArray:
    """What ``Array.from_foreign`` makes."""

    def __init__(self, memory: Memory, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.memory, self.shape, self.strides = memory, shape, strides

    @staticmethod
    def from_foreign(pointer: Memory, shape: Index, strides: Index) -> TiledArray:
        """An array at an address; extents and strides are never negative."""
        extents, steps = tuple(map(_number, shape)), tuple(map(_number, strides))
        if len(extents) != len(steps) or min((*extents, *steps), default=0) < 0:
            raise TileTypeError(f"an array of shape {extents} and strides {steps}")
        return TiledArray(pointer, extents, steps)

    def places(self, index: Index, shape: tuple[int, ...]) -> Tile:
        """Element offsets of the tile at an index of the tile space; the provider only asks for tiles all inside."""
        if not len(index) == len(shape) == len(self.shape):
            raise TileTypeError(f"index {index} and tile {shape} of an array of shape {self.shape}")
        offset = np.zeros(check_shape(shape), np.int64)
        for axis, (place, size) in enumerate(zip(index, shape, strict=True)):
            first = _number(place) * size
            if first < 0 or first + size > self.shape[axis]:
                raise OutsideAccess(
                    f"a tile covers {first} to {first + size - 1} of {self.shape[axis]} elements"
                )
            along = [1] * len(shape)
            along[axis] = size
            offset = offset + ((first + np.arange(size)) * self.strides[axis]).reshape(along)
        return Tile(offset, INT64)


def _number(value: Tile | int) -> int:
    if isinstance(value, Tile):
        if value.shape or value.dtype.kind != "int":
            raise TileTypeError(f"{value.dtype.name}{value.shape} is no scalar integer")
        return int(value.data)
    return value


def load(array: TiledArray, index: Index, shape: tuple[int, ...], /, *, latency: int | None = None) -> Tile:
    """One tile of an array; ``latency`` is a hint from 1 to 10 without meaning."""
    if latency is not None and not 1 <= latency <= 10:
        raise TileTypeError(f"a latency of {latency}")
    return array.memory.load_offset(array.places(index, shape))


def store(array: TiledArray, index: Index, tile: Tile, /) -> None:
    """Write one tile of an array."""
    array.memory.store_offset(array.places(index, tile.shape), tile)


def assume_divisible_by(x: Tile, divisor: int, /) -> Tile:
    """The value itself, of which the claim must be true."""
    if int(x.data) % divisor:
        raise TileTypeError(f"{int(x.data)} is claimed to be divisible by {divisor}")
    return x
