"""Two points that reach one element, found by trying small launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from intent.proof.claims import extents_of
from intent.proof.facts import Facts
from intent.proof.models import true
from intent.proof.points import Distinct
from intent.types import Extent
from intent.types.extent import Atom, Call, Scalar, Symbol

__all__ = ["Collision", "collision"]

_SIZES = (5, 3, 2, 4, 8, 33)
"""Extents and scalars of the launches that are tried; more than one, so that points can differ."""
_LAUNCHES = 30
_POINTS = 1_200
_FAR = 1 << 40
"""An extent that nothing else mentions is taken to be as large as it has to be."""

Values = dict[Atom, int]
Array = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Collision:
    """``one`` and ``other`` reach ``element`` when the extents and scalars are ``launch``.

    ``always``: in every launch that was tried some points meet.
    """

    claim: Distinct
    one: Mapping[str, int] = field(compare=False)
    other: Mapping[str, int] = field(compare=False)
    element: tuple[int, ...] = ()
    launch: Mapping[str, int] = field(default_factory=dict, compare=False)
    always: bool = False

    @property
    def proved(self) -> bool:
        return False

    def witness(self, resource: str) -> str:
        """``i = 3, j = 0 and i = 2, j = 5 both write y[15] when S = 5``."""
        points = " and ".join(_listed(point) for point in (self.one, self.other))
        text = f"{points} both write {resource}[{', '.join(map(str, self.element))}]"
        return f"{text} when {_listed(self.launch)}" if self.launch else text

    def __str__(self) -> str:
        return self.witness("")


def _listed(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def collision(claim: Distinct, facts: Facts) -> Collision | None:
    """A collision at a launch that satisfies the facts, or None where none was met."""
    parameters = _parameters(claim, facts)
    if parameters is None:
        return None
    found: Collision | None = None
    always = tried = 0
    for launch in islice(_launches(parameters, claim, facts), _LAUNCHES):
        met = _meet(claim, launch)
        tried += met is not None
        if met:
            always += 1
            found = found or _told(claim, launch, *met[0])
    if found is None:
        return None
    return Collision(
        claim=claim, one=found.one, other=found.other, element=found.element, launch=found.launch,
        always=always == tried,
    )  # fmt: skip


def _parameters(claim: Distinct, facts: Facts) -> list[Atom] | None:
    """What a launch fixes; None where coordinates rest on data, about which nothing can be tried."""
    own = {axis.atom for axis in claim.axes}
    mentioned = [*claim.coordinates, *(e for axis in claim.axes for e in (axis.low, axis.high))]
    mentioned += [e for fact in facts for e in extents_of(fact.claim)]
    atoms = dict.fromkeys(a for e in mentioned for a in e.atoms() if a not in own and not isinstance(a, Call))
    if not all(isinstance(a, Symbol | Scalar) for a in atoms):
        return None
    return sorted(atoms, key=str)


def _launches(parameters: list[Atom], claim: Distinct, facts: Facts) -> Iterator[Values]:
    """Launches that satisfy the facts, with at least two positions along every axis that can have them."""
    free = [a for e in claim.shape for a in e.atoms() if not isinstance(a, Call) and a not in parameters]
    # Mixed sizes first: equal ones hide collisions that unequal ones show, and the other way round.
    for values in islice(product(_SIZES, repeat=len(parameters)), 4096):
        launch = dict(zip(parameters, values, strict=True))
        if all(true(fact.claim, launch) for fact in facts):
            yield launch | dict.fromkeys(free, _FAR)


def _meet(claim: Distinct, launch: Values) -> list[tuple[Values, Values]] | None:
    """Pairs of points that differ where they must and reach one element; None where this launch has too few points."""
    points = _points(claim, launch)
    if points is None:
        return None
    count = len(next(iter(points.values()))) if points else 0
    inside = np.ones(count, np.bool_)
    reached = []
    for coordinate, extent in zip(claim.coordinates, claim.shape, strict=True):
        place = np.broadcast_to(_evaluated(coordinate, {**launch, **points}), (count,))
        inside &= (place >= 0) & (place < extent.evaluate(launch))
        reached.append(place)
    where = np.flatnonzero(inside)
    if where.size < 2:
        return None
    places = np.stack([place[where] for place in reached]) if reached else np.zeros((1, where.size), np.int64)
    order = np.lexsort(places)
    same = np.flatnonzero((places[:, order[1:]] == places[:, order[:-1]]).all(axis=0))
    pairs = []
    for k in same:
        one, other = (
            {atom: int(values[where[order[n]]]) for atom, values in points.items()} for n in (k, k + 1)
        )
        if any(one[axis.atom] != other[axis.atom] for axis in claim.apart):
            pairs.append((other, one))
    return pairs


def _points(claim: Distinct, launch: Values) -> dict[Atom, Array] | None:
    """Every point of the launch, an array per axis; axes may depend on those before them. None beyond the limit."""
    points: list[Values] = [{}]
    for axis in claim.axes:
        extended: list[Values] = []
        for point in points:
            try:
                low, high = (e.evaluate({**launch, **point}) for e in (axis.low, axis.high))
            except (KeyError, ZeroDivisionError):
                return None
            if len(extended) + max(high - low + 1, 0) > _POINTS:
                return None
            extended += [{**point, axis.atom: value} for value in range(low, high + 1)]
        points = extended
    if any(
        len({p[axis.atom] for p in points}) < 2 for axis in claim.apart if (axis.high - axis.low).const != 0
    ):
        return None
    return {axis.atom: np.array([p[axis.atom] for p in points], np.int64) for axis in claim.axes}


def _evaluated(e: Extent, values: Mapping[Atom, int | Array]) -> int | Array:
    total: int | Array = 0
    for monomial, k in e.terms:
        product_: int | Array = k
        for atom in monomial:
            product_ = product_ * (_called(atom, values) if isinstance(atom, Call) else values[atom])
        total = total + product_
    return total


def _called(atom: Call, values: Mapping[Atom, int | Array]) -> int | Array:
    a, b = (_evaluated(x, values) for x in atom.args[:2])
    match atom.op:
        case "floordiv":
            return a // b
        case "mod":
            return a % b
        case "ceildiv":
            return -(-a // b)
        case "max":
            return np.maximum(a, b)
        case "min":
            return np.minimum(a, b)
        case _:
            return np.where(np.equal(a, 1), b, a)


def _told(claim: Distinct, launch: Values, one: Values, other: Values) -> Collision:
    element = tuple(c.evaluate({**launch, **one}) for c in claim.coordinates)
    told = {a for c in claim.coordinates for a in c.atoms()} & launch.keys()
    return Collision(
        claim=claim,
        one=_shown(claim, launch, one),
        other=_shown(claim, launch, other),
        element=element,
        launch={_name(a): launch[a] for a in sorted(told, key=str)},
    )


def _shown(claim: Distinct, launch: Values, point: Values) -> dict[str, int]:
    """The point by the author's names and values."""
    values = {**launch, **point}
    return {
        axis.name: point[axis.atom] if axis.shown is None else axis.shown.evaluate(values)
        for axis in claim.axes
    }


def _name(atom: Atom) -> str:
    return atom.name if isinstance(atom, Symbol | Scalar) else str(atom)
