"""Points of an iteration space and the claim that they reach different elements."""

from __future__ import annotations

from dataclasses import dataclass

from intent.proof.facts import Fact
from intent.types import Extent
from intent.types.extent import Atom, Dyn

__all__ = ["Axis", "Distinct"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Positions ``low <= atom <= high`` (inclusive), by the author's name.

    ``own``: a position along an axis of the store itself, not of a loop. ``shown``: what the author calls the position,
    where it is not the atom itself (a loop with a step).
    """

    atom: Atom
    name: str
    low: Extent
    high: Extent
    shown: Extent | None = None
    own: bool = False

    def __str__(self) -> str:
        return f"{self.name} in [{self.low}, {self.high}]"


@dataclass(frozen=True, kw_only=True)
class Distinct:
    """Points that differ along an axis of ``apart`` have different ``coordinates``, whatever the other axes are.

    Extents of the resource, one per coordinate, are ``shape``: what is outside is not reached. Atoms of ``varying``
    have another value at every point of the loops, nobody knows which. ``implied``: further expressions that the
    element determines, each by a fact. ``partial``: there are coordinates that have no expression.
    """

    coordinates: tuple[Extent, ...]
    axes: tuple[Axis, ...]
    apart: tuple[Axis, ...]
    shape: tuple[Extent, ...]
    varying: frozenset[Atom] = frozenset()
    implied: tuple[tuple[Extent, Fact], ...] = ()
    partial: bool = False

    @property
    def by_data(self) -> bool:
        """Whether more than the launch decides where points go: nothing can be refuted, or be shown by a solver."""
        own = {axis.atom for axis in self.axes}
        bounds = [a for axis in self.axes for e in (axis.low, axis.high) for a in e.atoms()]
        return bool(self.partial or self.varying or any(isinstance(a, Dyn) and a not in own for a in bounds))

    @property
    def moving(self) -> tuple[Axis, ...]:
        """The axes that values of ``varying`` may differ along: loops, not the positions of one store."""
        return tuple(axis for axis in self.axes if not axis.own)

    def __str__(self) -> str:
        text = ", ".join(map(str, self.coordinates))
        for axis in self.axes:
            text = text.replace(str(axis.atom), axis.name)
        return f"[{text}] differs for different {', '.join(map(str, self.apart))}"
