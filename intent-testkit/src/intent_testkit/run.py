"""One run of one case: draw, place, call, bring back, judge."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from intent_testkit.cases.case import Case, ScalarSpec, Values, ViewSpec, as_array
from intent_testkit.cases.draw import Array, Extents
from intent_testkit.compare import compare
from intent_testkit.device import Place
from intent_testkit.memory import (
    BROADCAST,
    CONTIGUOUS,
    FLIPPED,
    STRIDED,
    TRANSPOSED,
    Allocation,
    allocate,
    poison,
)

# CuPy, which carries negative strides on a GPU, has no array of these.
_NOT_FLIPPED = frozenset({"bf16", "f8e4m3fn", "f8e5m2"})


class Runs(Protocol):
    """What a case needs of an artifact: a call with every runtime argument in the author's order."""

    def __call__(self, *arguments: Any) -> object: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Point:
    """One test: a case at one assignment of extents in one layout."""

    case: Case
    extents: Extents
    variant: str = CONTIGUOUS

    def __repr__(self) -> str:
        sizes = "".join(f"{name}{value}" for name, value in self.extents.items())
        return "-".join(part for part in (self.case.name, sizes, self.variant) if part)


def variants(case: Case) -> tuple[str, ...]:
    """The layouts that mean something for this case's views."""
    if case.variants is not None:
        return case.variants
    ranks = [len(spec.shape) for spec in case.views]
    kinds = [CONTIGUOUS]
    if any(ranks):
        kinds.append(STRIDED)
    if max(ranks, default=0) > 1:
        kinds.append(TRANSPOSED)
    if any(ranks) and not any(spec.dtype in _NOT_FLIPPED for spec in case.views):
        kinds.append(FLIPPED)
    if any(spec.role == "in" and spec.shape for spec in case.views):
        kinds.append(BROADCAST)
    return tuple(kinds)


def points(case: Case) -> tuple[Point, ...]:
    """Every extents assignment contiguously, and every other layout at the last two non-empty ones."""
    found = [Point(case=case, extents=extents) for extents in case.extents if CONTIGUOUS in variants(case)]
    filled = [extents for extents in case.extents if all(extents.values())]
    for variant in variants(case):
        if variant != CONTIGUOUS:
            found += [Point(case=case, extents=extents, variant=variant) for extents in filled[-2:]]
    return tuple(found)


def draw(point: Point) -> dict[str, Any]:
    """The arguments of a point by name, as values: arrays of the stored dtypes and Python numbers."""
    rng = np.random.default_rng(zlib.crc32(str(point).encode()))
    values: dict[str, Any] = {}
    for spec in point.case.parameters:
        if isinstance(spec, ScalarSpec):
            values[spec.name] = spec.of(point.extents)
        else:
            values[spec.name] = _fill(spec, point, rng)
    return values


def _fill(spec: ViewSpec, point: Point, rng: np.random.Generator) -> Array:
    shape = spec.extents(point.extents)
    if spec.role == "out":
        return poison(spec, shape)
    if spec.draw is None:
        raise ValueError(f"'{spec.name}' is read, so its spec must say how to draw it")
    values = as_array(spec.draw(rng, shape, point.extents), spec)
    if point.variant == BROADCAST and spec.role == "in" and shape:
        # The elements share storage along the first axis, so they must be equal there.
        values = np.ascontiguousarray(np.broadcast_to(values[:1], shape)) if shape[0] else values
    return values


def expected(point: Point, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the oracle gives for these arguments."""
    stored = {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in values.items()}
    with np.errstate(all="ignore"):
        found = point.case.oracle(Values(stored, point.extents))
    written = {spec.name for spec in point.case.views if spec.role != "in"}
    if set(found) != written:
        raise ValueError(f"the oracle of '{point.case.name}' gives {sorted(found)}, not {sorted(written)}")
    return found


def run(point: Point, artifact: Runs, place: Place) -> None:
    """Call ``artifact`` on the point's arguments and judge the outputs, the guards and the inputs.

    Raises:
        WrongResult: An output differs from the oracle by more than the case's tolerance.
        OutOfBoundsWrite: A byte outside a view changed.
        InputModified: An In view changed.
    """
    values = draw(point)
    wanted = expected(point, values)
    allocations = {spec.name: allocate(spec, values[spec.name], point.variant) for spec in point.case.views}
    arguments = [
        place.argument(allocations[spec.name]) if isinstance(spec, ViewSpec) else values[spec.name]
        for spec in point.case.parameters
    ]
    artifact(*arguments)
    for allocation in allocations.values():
        place.fetch(allocation)
    judge(point, allocations, wanted)


def judge(point: Point, allocations: Mapping[str, Allocation], wanted: Mapping[str, Any]) -> None:
    """Raise if an output is wrong, a byte outside a view changed, or an input changed."""
    for allocation in allocations.values():
        allocation.check_surroundings()
    for name, values in wanted.items():
        allocation = allocations[name]
        compare(allocation.spec, allocation.view, values, point.case.bound(name))
