"""Putting arrays back as they were after trial launches, whichever library made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent.diagnostics import NotSupportedYet
from intent.runtime.array import Array, memory_of
from intent.types import DType

__all__ = ["keep", "wait"]


def keep(array: Array, dtype: DType) -> Callable[[], None]:
    """Copy an array's elements; the result puts them back.

    Raises:
        NotSupportedYet: An array on a GPU whose library offers no copy.
    """
    if array.device == "cpu":
        memory = memory_of(array, dtype.numpy)
        copy = memory.copy()

        def put_back() -> None:
            memory[...] = copy

        return put_back
    owner: Any = array.owner
    if hasattr(owner, "clone") and hasattr(owner, "copy_"):  # torch
        clone = owner.clone()
        return lambda: _discard(owner.copy_(clone))
    if hasattr(owner, "copy") and hasattr(owner, "__setitem__"):  # CuPy
        copied = owner.copy()
        return lambda: _discard(owner.__setitem__(..., copied))
    raise NotSupportedYet("tuning on GPU arrays of this library", fix="pass torch tensors or CuPy arrays")


def _discard(result: object) -> None:
    del result


def wait(array: Array) -> None:
    """Wait for everything that runs on an array's device: read one of its elements back."""
    if array.device == "cpu" or array.empty:
        return
    owner: Any = array.owner
    owner[(0,) * len(array.shape)].item()
