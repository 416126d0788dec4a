"""How fragments are stored: axis 0 is the program instance, then one axis per lane dim.

Every axis has its full extent or extent 1 (the same value along it), so that masks and coordinates that
depend on one dim stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.physical import Dim

Array = NDArray[Any]


def align(array: Array, have: Sequence[Dim], want: Sequence[Dim]) -> Array:
    """``array`` over dims ``have`` with the axes of ``want``, a superset; new axes have extent 1."""
    if tuple(have) == tuple(want):
        return array
    place = [want.index(d) for d in have]
    ordered = array.transpose(0, *(1 + k for k in sorted(range(len(have)), key=place.__getitem__)))
    extents = [1] * len(want)
    for where, extent in zip(sorted(place), ordered.shape[1:], strict=True):
        extents[where] = extent
    return ordered.reshape(ordered.shape[0], *extents)


def expand(array: Array, dims: Sequence[Dim], first: int) -> Array:
    """``array`` with the axes from lane axis ``first`` on repeated to their full extents."""
    shape = array.shape[: 1 + first] + tuple(d.size for d in dims[first:])
    return np.broadcast_to(array, shape)


def flatten(array: Array, first: int) -> Array:
    """The lane axes from ``first`` on as one axis."""
    return array.reshape(*array.shape[: 1 + first], prod(array.shape[1 + first :]))


def over_lanes(per_instance: Array, rank: int) -> Array:
    """An array over instances only, shaped to broadcast against fragments of ``rank`` dims."""
    return per_instance.reshape(-1, *([1] * rank))
