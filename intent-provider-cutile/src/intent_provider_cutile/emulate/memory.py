"""Memory of the stand-in: element offsets from an array's first element, checked against the array."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from intent_provider_cutile.emulate.dtypes import BOOL, Array, DType, TileTypeError, constant
from intent_provider_cutile.emulate.tile import Number, Tile

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class OutsideAccess(IndexError):
    """An active lane of the text touches memory outside its array."""


class Memory:
    """What ``Array.get_raw_memory()`` gives: loads, stores and atomics by element offset."""

    def __init__(self, name: str, low: int, high: int, first: int, dtype: DType) -> None:
        """``low <= address < high`` are the array's bytes, ``first`` its first element's address."""
        self.dtype = dtype
        self._name = name
        size = dtype.numpy.itemsize
        raw: Any = (ctypes.c_uint8 * (high - low)).from_address(low) if high > low else bytearray()
        self._data: Array = np.ndarray(((high - low) // size,), dtype.numpy, buffer=raw)
        self._origin = (first - low) // size

    def _places(self, offset: Tile | int, mask: Tile | bool | None) -> tuple[tuple[int, ...], Places, Mask]:
        """The access's shape, the element places of all lanes, and which lanes are active."""
        where = offset.data if isinstance(offset, Tile) else np.asarray(offset)
        if where.dtype.kind not in "iu":
            raise TileTypeError(f"an offset is an integer, not {where.dtype}")
        places = where.astype(np.int64) + self._origin
        active: Mask = np.ones(where.shape, np.bool_)
        if mask is not None:
            given = mask.data if isinstance(mask, Tile) else np.asarray(mask)
            if given.dtype != np.bool_:
                raise TileTypeError(f"a mask is bool, not {given.dtype}")
            active = np.broadcast_to(_fitting(given, where.shape), where.shape)
        touched = places[active]
        if touched.size and (touched.min() < 0 or touched.max() >= self._data.size):
            low, high = int(touched.min()) - self._origin, int(touched.max()) - self._origin
            raise OutsideAccess(f"'{self._name}': active lanes touch elements {low} to {high} from the first")
        return where.shape, places, active

    def load_offset(
        self, offset: Tile | int, /, *, mask: Tile | None = None, padding_value: Tile | Number = 0
    ) -> Tile:
        """Elements at the active places, padding elsewhere."""
        shape, places, active = self._places(offset, mask)
        out = np.array(np.broadcast_to(self._operand(padding_value, shape), shape))
        out[active] = self._data[places[active]]
        return Tile(out, self.dtype)

    def store_offset(self, offset: Tile | int, value: Tile | Number, /, *, mask: Tile | None = None) -> None:
        """Write the active lanes."""
        shape, places, active = self._places(offset, mask)
        self._data[places[active]] = np.broadcast_to(self._operand(value, shape), shape)[active]

    def _operand(self, value: Tile | Number, shape: tuple[int, ...]) -> Array:
        """An operand of exactly the element type, or a number that takes it (zero also for bools)."""
        if not isinstance(value, Tile):
            return constant(bool(value) if self.dtype == BOOL else value, self.dtype)
        if value.dtype != self.dtype:
            raise TileTypeError(f"{value.dtype.name} meets elements of {self.dtype.name}")
        return _fitting(value.data, shape)

    def _update(
        self, change: Callable[[Any, Any], Any], offset: Tile | int, update: Tile | Number, mask: Tile | None
    ) -> Tile:
        """One lane after the other."""
        shape, places, active = self._places(offset, mask)
        operand = np.broadcast_to(self._operand(update, shape), shape)
        old = np.zeros(shape, self.dtype.numpy)
        for lane in map(tuple, np.argwhere(active)):
            old[lane] = self._data[places[lane]]
            self._data[places[lane]] = change(old[lane], operand[lane])
        return Tile(old, self.dtype)

    def atomic_cas_offset(
        self, offset: Tile | int, expected: Tile, desired: Tile, /, *, mask: Tile | None = None, **how: object
    ) -> Tile:
        """Compare-and-swap by bits, one lane after the other; inactive lanes give the expected value."""
        self._check("cas", how)
        shape, places, active = self._places(offset, mask)
        wanted = np.broadcast_to(self._operand(expected, shape), shape)
        fresh = np.broadcast_to(self._operand(desired, shape), shape)
        old = np.array(wanted)
        for lane in map(tuple, np.argwhere(active)):
            old[lane] = self._data[places[lane]]
            if old[lane].tobytes() == wanted[lane].tobytes():
                self._data[places[lane]] = fresh[lane]
        return Tile(old, self.dtype)

    def _check(self, kind: str, how: dict[str, object]) -> None:
        """The dtypes that cuTile has this atomic for, and its arguments."""
        if self.dtype.name not in _ATOMICS[kind] or set(how) - {"memory_order", "memory_scope"}:
            raise TileTypeError(f"atomic {kind} of {self.dtype.name} with {sorted(how)}")


def _fitting(data: Array, shape: tuple[int, ...]) -> Array:
    """Data that broadcasts to the access's shape, which it must not enlarge."""
    try:
        np.broadcast_to(data, shape)
    except ValueError as error:
        raise TileTypeError(f"shape {data.shape} does not broadcast to the offsets' {shape}") from error
    return data


_WORDS = frozenset({"int32", "int64", "uint32", "uint64"})
_FLOATS = frozenset({"float32", "float64"})
_ATOMICS = {
    "add": _WORDS | _FLOATS | {"float16", "bfloat16"}, "xchg": _WORDS | _FLOATS, "cas": _WORDS | _FLOATS,
    "max": _WORDS, "min": _WORDS, "and": _WORDS, "or": _WORDS, "xor": _WORDS,
}  # fmt: skip
_CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "xchg": lambda _, b: b, "max": max, "min": min,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip


def _method(kind: str, change: Callable[[Any, Any], Any]) -> Callable[..., Tile]:
    def run(
        self: Memory, offset: Tile | int, update: Tile | Number, /, *, mask: Tile | None = None, **how: object
    ) -> Tile:
        self._check(kind, how)
        return self._update(change, offset, update, mask)

    return run


for _kind, _change in _CHANGES.items():
    setattr(Memory, f"atomic_{_kind}_offset", _method(_kind, _change))


class BaseArray:
    """An array argument: the text may only ask for its memory or its address."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def foreign_pointer(self) -> Memory:
        """The array's address, of which ``Array.from_foreign`` makes an array with shape and strides."""
        return self._memory

    def get_raw_memory(self) -> Memory:
        """The array's memory, from its first element."""
        return self._memory


def memory_of(name: str, array: Array, pointer: int, dtype: DType) -> Memory:
    """The memory of a numpy array of any strides whose first element is at ``pointer``."""
    if not array.size:
        return Memory(name, pointer, pointer, pointer, dtype)
    spans = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = pointer + sum(s for s in spans if s < 0)
    high = pointer + sum(s for s in spans if s > 0) + array.itemsize
    return Memory(name, low, high, pointer, dtype)
