"""Arguments between numpy and the library that a GPU provider's arrays live in."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["from_numpy", "to_numpy"]


def from_numpy(value: Any, library: str | None) -> Any:
    """``value`` as an array of ``library`` on its current GPU; scalars and ``library=None`` pass through."""
    if library is None or not isinstance(value, np.ndarray):
        return value
    module = importlib.import_module(library)
    return module.from_numpy(value).cuda() if library == "torch" else module.asarray(value)


def to_numpy(value: Any) -> NDArray[Any]:
    """A numpy copy of an array of any of the libraries; waits for the GPU."""
    if isinstance(value, np.ndarray):
        return value
    return np.asarray(value.cpu().numpy() if hasattr(value, "cpu") else value.get())
