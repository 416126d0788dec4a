"""The stand-in for the module ``cuda.tile`` that emitted text imports."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np

from intent_provider_cutile.emulate import carries
from intent_provider_cutile.emulate.collectives import COLLECTIVES
from intent_provider_cutile.emulate.dtypes import ALL, INT32, TileTypeError
from intent_provider_cutile.emulate.functions import FUNCTIONS, ranged
from intent_provider_cutile.emulate.tile import Tile
from intent_provider_cutile.emulate.tiled import PaddingMode, TiledArray, assume_divisible_by, load, store


class MemoryOrder(Enum):
    """Orders of an atomic."""

    RELAXED, ACQUIRE, RELEASE, ACQ_REL = range(4)


class MemoryScope(Enum):
    """Scopes of an atomic."""

    BLOCK, DEVICE = range(2)


class RoundingMode(Enum):
    """Hints about accuracy."""

    FULL, APPROX = range(2)


class Constant:
    """``ct.Constant[int]`` as an annotation."""

    def __class_getitem__(cls, item: type) -> type:
        return item


class Language:
    """One import of the stand-in; ``block`` is the block that runs, of ``blocks``."""

    def __init__(self) -> None:
        self.block, self.blocks = 0, 1
        self.module = SimpleNamespace(
            **ALL, **FUNCTIONS, **COLLECTIVES, MemoryOrder=MemoryOrder, MemoryScope=MemoryScope,
            RoundingMode=RoundingMode, PaddingMode=PaddingMode, Constant=Constant, IndexedWithInt64=object,
            ScalarInt64=int, bid=self._bid, num_blocks=self._num_blocks, kernel=_kernel, Array=TiledArray,
            load=load, store=store, assume_divisible_by=assume_divisible_by,
        )  # fmt: skip

    def namespace(self, name: str) -> dict[str, Any]:
        """Globals for the text: its import finds the stand-in, and ``range`` is that of tiles."""
        known = {**vars(builtins), "__import__": self._import}
        return {
            "__name__": name, "__builtins__": known, "range": ranged,
            carries.BEFORE: carries.before, carries.AFTER: carries.after,
        }  # fmt: skip

    def _import(self, name: str, *_: object) -> Any:
        if name != "cuda.tile":
            raise ImportError(f"emitted text imports cuda.tile only, not {name}")
        return SimpleNamespace(tile=self.module)

    def _bid(self, axis: int) -> Tile:
        return _along(axis, self.block)

    def _num_blocks(self, axis: int) -> Tile:
        return _along(axis, self.blocks)


def _along(axis: int, number: int) -> Tile:
    if axis != 0:
        raise TileTypeError("the grid has one dimension")
    return Tile(np.asarray(number, np.int32), INT32)


_OPTIONS = frozenset({"num_ctas", "occupancy", "num_worker_warps", "opt_level"})


def _kernel(function: Callable[..., None] | None = None, **options: int) -> Any:
    """``@ct.kernel``, bare or with settings for the compiler."""
    if set(options) - _OPTIONS:
        raise TileTypeError(f"unknown settings {sorted(set(options) - _OPTIONS)}")
    return (lambda f: f) if function is None else function


__all__: Sequence[str] = ["Language"]
