"""Tiles of the stand-in: immutable numpy data with a dtype and a power-of-two shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intent_provider_cutile.emulate.dtypes import BOOL, Array, DType, TileTypeError, constant

Number = bool | int | float


def check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a tile. Raises TileTypeError unless every extent is a power of two."""
    for n in shape:
        if n < 1 or n & (n - 1):
            raise TileTypeError(f"tile shape {tuple(shape)}: {n} is no power of two")
    return tuple(shape)


class Tile:
    """A value of the text; ``data`` has the tile's shape, ``()`` for a scalar."""

    __slots__ = ("data", "dtype")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Array, dtype: DType) -> None:
        self.data = data
        self.dtype = dtype
        check_shape(data.shape)
        if data.dtype != dtype.numpy:
            raise TileTypeError(f"numpy gave {data.dtype} for {dtype.name}")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def item(self) -> Tile:
        """The only element as a scalar."""
        return Tile(self.data.reshape(()), self.dtype)

    def __bool__(self) -> bool:
        if self.shape or self.dtype != BOOL:
            raise TileTypeError(f"a condition is a scalar bool, not {self.dtype.name}{self.shape}")
        return bool(self.data)

    def __getitem__(self, key: Any) -> Tile:
        places = key if isinstance(key, tuple) else (key,)
        kept = sum(isinstance(p, slice) and p == slice(None) for p in places)
        if kept != self.data.ndim or any(p is not None and not isinstance(p, slice) for p in places):
            raise TileTypeError(f"a subscript only inserts axes: {key!r} on shape {self.shape}")
        return Tile(self.data[places], self.dtype)

    def __neg__(self) -> Tile:
        return Tile(np.negative(self.data), number(self).dtype)

    def __invert__(self) -> Tile:
        if self.dtype.kind not in ("bool", "int", "uint"):
            raise TileTypeError(f"~ of {self.dtype.name}")
        return Tile(np.invert(self.data), self.dtype)


def number(tile: Tile) -> Tile:
    """The tile, if it may take part in arithmetic."""
    if tile.dtype.kind in ("bool", "small float"):
        raise TileTypeError(f"no arithmetic on {tile.dtype.name}")
    return tile


def paired(a: Tile | Number, b: Tile | Number) -> tuple[Array, Array, DType]:
    """Both operands in their common dtype: equal dtypes, two signed integer widths, or a fitting Python number."""
    if isinstance(a, Tile) and isinstance(b, Tile):
        if a.dtype == b.dtype:
            return a.data, b.data, a.dtype
        if a.dtype.kind == b.dtype.kind == "int":
            wide = a.dtype if a.dtype.bits > b.dtype.bits else b.dtype
            return a.data.astype(wide.numpy), b.data.astype(wide.numpy), wide
        raise TileTypeError(f"{a.dtype.name} meets {b.dtype.name}")
    if isinstance(a, Tile):
        return a.data, constant(_plain(b), a.dtype), a.dtype
    if isinstance(b, Tile):
        return constant(_plain(a), b.dtype), b.data, b.dtype
    raise TileTypeError(f"{a!r} and {b!r} would be folded with Python's arithmetic")


def _plain(value: Any) -> Number:
    if not isinstance(value, bool | int | float):
        raise TileTypeError(f"{value!r} is neither a tile nor a number")
    return value


def shaped(compute: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    """``compute`` with numpy's broadcasting, which is that of tiles."""
    try:
        return np.asarray(compute(a, b))
    except ValueError as error:
        raise TileTypeError(f"shapes {a.shape} and {b.shape} do not broadcast") from error


def arithmetic(compute: Callable[[Array, Array], Array], a: Tile | Number, b: Tile | Number) -> Tile:
    """A binary operation on numbers, in their common dtype."""
    left, right, dtype = paired(a, b)
    if dtype.kind in ("bool", "small float"):
        raise TileTypeError(f"no arithmetic on {dtype.name}")
    return Tile(shaped(compute, left, right), dtype)


def bitwise(compute: Callable[[Array, Array], Array], a: Tile | Number, b: Tile | Number) -> Tile:
    """``&``, ``|`` and ``^``: of one dtype."""
    if isinstance(a, Tile) and isinstance(b, Tile) and a.dtype != b.dtype:
        raise TileTypeError(f"{a.dtype.name} meets {b.dtype.name} bit by bit")
    return shifted(compute, a, b)


def shifted(compute: Callable[[Array, Array], Array], a: Tile | Number, b: Tile | Number) -> Tile:
    """``<<`` and ``>>``."""
    left, right, dtype = paired(a, b)
    if dtype.kind not in ("bool", "int", "uint"):
        raise TileTypeError(f"no bits of {dtype.name}")
    return Tile(shaped(compute, left, right), dtype)


def compared(compute: Callable[[Array, Array], Array], a: Tile | Number, b: Tile | Number) -> Tile:
    """A comparison, element by element."""
    left, right, dtype = paired(a, b)
    if dtype.kind == "small float":
        raise TileTypeError(f"no comparison of {dtype.name}")
    return Tile(shaped(compute, left, right), BOOL)


def true_quotient(a: Array, b: Array) -> Array:
    """``/``, on floats only."""
    if not np.issubdtype(a.dtype, np.inexact) and a.dtype.kind != "V":
        raise TileTypeError(f"/ of {a.dtype}")
    return np.asarray(np.divide(a, b))


_OPERATORS = {
    "add": (np.add, arithmetic), "sub": (np.subtract, arithmetic), "mul": (np.multiply, arithmetic),
    "truediv": (true_quotient, arithmetic), "floordiv": (np.floor_divide, arithmetic), "mod": (np.mod, arithmetic),
    "and": (np.bitwise_and, bitwise), "or": (np.bitwise_or, bitwise), "xor": (np.bitwise_xor, bitwise),
    "lshift": (np.left_shift, shifted), "rshift": (np.right_shift, shifted),
}  # fmt: skip
_COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _install() -> None:
    """Give Tile its operators, with reflected forms."""
    for name, (compute, kind) in _OPERATORS.items():
        setattr(Tile, f"__{name}__", lambda a, b, c=compute, k=kind: k(c, a, b))
        setattr(Tile, f"__r{name}__", lambda a, b, c=compute, k=kind: k(c, b, a))
    for name, compare in _COMPARISONS.items():
        setattr(Tile, f"__{name}__", lambda a, b, c=compare: compared(c, a, b))


_install()
