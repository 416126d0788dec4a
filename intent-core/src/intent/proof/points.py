"""Points of an iteration space and the claim that they reach different elements."""

from __future__ import annotations

from dataclasses import dataclass

from intent.types import Extent
from intent.types.extent import Atom

__all__ = ["Axis", "Distinct"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Positions ``low <= atom <= high`` (inclusive), by the author's name."""

    atom: Atom
    name: str
    low: Extent
    high: Extent

    def __str__(self) -> str:
        return f"{self.name} in [{self.low}, {self.high}]"


@dataclass(frozen=True, kw_only=True)
class Distinct:
    """Points that differ along an axis of ``apart`` have different ``coordinates``, whatever the other axes are.

    Extents of the resource, one per coordinate, are ``shape``: what is outside is not reached.
    """

    coordinates: tuple[Extent, ...]
    axes: tuple[Axis, ...]
    apart: tuple[Axis, ...]
    shape: tuple[Extent, ...]

    def __str__(self) -> str:
        text = ", ".join(map(str, self.coordinates))
        for axis in self.axes:
            text = text.replace(str(axis.atom), axis.name)
        return f"[{text}] differs for different {', '.join(map(str, self.apart))}"
