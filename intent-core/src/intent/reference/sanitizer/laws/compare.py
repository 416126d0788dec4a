"""Do two sides of an equation agree, and where do they not?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.reference.logical.lifted import Components
from intent.reference.sanitizer.laws.wide import finite_scale

Array = NDArray[Any]

__all__ = ["Difference", "difference", "shown"]

Difference = tuple[int, tuple[int, ...]]


def difference(
    left: Components,
    right: Components,
    given: Sequence[Components],
    results: Sequence[Components],
    tolerance: float,
) -> Difference | None:
    """The first component and element in which two results differ, or None.

    Integers are compared exactly, floats by ``tolerance`` relative to the largest magnitude that takes part at
    that element: ``given`` are the values the equation is about, ``results`` partial results. Elements where
    something given is NaN are left out.
    """
    for number, pair in enumerate(zip(left, right, strict=True)):
        a, b = np.broadcast_arrays(*pair)
        if not _is_float(a):
            bad = np.asarray(a != b)
        else:
            wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
            parts = [p[number] for p in (*given, *results, left, right)]
            room = tolerance * finite_scale(parts, a.shape)
            equal = (
                (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b)) | (np.abs(wide_a - wide_b) <= room)
            )
            bad = ~equal
        for part in (p for value in given for p in value if _is_float(p) and _fits(p, a)):
            bad = bad & ~np.isnan(part.astype(np.float64))
        if bad.any():
            at = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.ndim else ()
            return number, tuple(int(i) for i in at)
    return None


def _is_float(x: Array) -> bool:
    return x.dtype.kind not in "bui"


def _fits(part: Array, whole: Array) -> bool:
    """Whether the part stands beside each element of the whole; components of other shapes do not."""
    try:
        return np.broadcast_shapes(part.shape, whole.shape) == whole.shape
    except ValueError:
        return False


def shown(value: Components, at: Difference) -> str:
    """A product at one element as text; components of other shapes stand as ``...``."""
    number, index = at
    shape = value[number].shape
    parts = []
    for part in value:
        if part.shape == shape and part.ndim == len(index):
            parts.append(_number(part[index]))
        else:
            parts.append(_number(part[()]) if not part.ndim else "...")
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _number(value: Any) -> str:
    return f"{float(value):.9g}" if np.asarray(value).dtype.kind not in "bui" else str(value)
