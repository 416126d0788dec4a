"""Where an access goes: the coordinates of its lanes, which lanes act, and which stay inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.machine import Machine

Array = NDArray[Any]

__all__ = ["Places", "element", "places"]

ONE_LANE = np.ones((), np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """The lanes of one access to a source of ``extents``.

    ``coordinates`` holds one array of the lanes' ``shape`` per source axis; ``active`` are the lanes that are
    not silenced.
    """

    extents: tuple[int, ...]
    shape: tuple[int, ...]
    coordinates: tuple[Array, ...]
    active: Array

    @cached_property
    def inside(self) -> Array:
        """The active lanes all of whose coordinates are in range."""
        found = self.active
        for coordinate, extent in zip(self.coordinates, self.extents, strict=True):
            found = found & (coordinate >= 0) & (coordinate < extent)
        return found

    @cached_property
    def indices(self) -> tuple[Array, ...]:
        """Per source axis, the coordinates of the inside lanes, in row-major order."""
        return tuple(c[self.inside] for c in self.coordinates)

    def lane(self, number: int) -> tuple[int, ...]:
        """The position of the ``number``-th inside lane among all lanes."""
        return tuple(int(axis[number]) for axis in np.nonzero(self.inside)) if self.shape else ()


def places(
    machine: Machine,
    relation: kir.Relation,
    extents: Sequence[int],
    shape: tuple[int, ...],
    valid: kir.Value | None,
) -> Places:
    """The lanes of an access through ``relation`` by a value of ``shape``."""
    if not shape:
        # One lane: what most points of loops do, and worth not broadcasting.
        active = ONE_LANE if valid is None else machine[valid]
        alone = tuple(machine[c] for c in relation.coordinates)
        return Places(extents=tuple(extents), shape=shape, coordinates=alone, active=active)
    coordinates = []
    for value, axes in zip(relation.coordinates, relation.axes, strict=True):
        coordinate = machine[value]
        spread = [1] * len(shape)
        for size, axis in zip(coordinate.shape, axes, strict=True):
            spread[axis] = size
        ordered = coordinate.transpose(np.argsort(np.array(axes, dtype=np.intp))).reshape(spread)
        coordinates.append(np.broadcast_to(ordered, shape))
    active = np.broadcast_to(np.True_ if valid is None else machine[valid], shape)
    return Places(extents=tuple(extents), shape=shape, coordinates=tuple(coordinates), active=active)


def element(name: str, indices: Sequence[Any]) -> str:
    """``y[3, 5]``."""
    return f"{name}[{', '.join(str(int(i)) for i in indices)}]" if len(indices) else f"{name}[()]"
