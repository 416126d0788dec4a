"""Identity elements of the builtin reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.types import DType

Array = NDArray[Any]
E4M3FN_MAX = 448.0


def identity_of(kind: str, dtype: DType) -> Array:
    """The element that ``kind`` leaves everything unchanged with."""
    if kind in ("sum", "any"):
        return np.array(0, dtype.numpy)
    if kind in ("prod", "all"):
        return np.array(1, dtype.numpy)
    if dtype.kind == "bool":
        return np.array(kind == "min", np.bool_)
    if dtype.is_integer:
        return np.array(dtype.minimum if kind == "max" else dtype.maximum, dtype.numpy)
    top = E4M3FN_MAX if dtype.name == "f8e4m3fn" else np.inf  # that format has no infinities
    return np.array(-top if kind == "max" else top, np.float32).astype(dtype.numpy)
