"""How far index data may go: data that a mask sorts out by its size has to take large values, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from intent import kir
from intent.kir.walk import walk
from intent.types import Extent

__all__ = ["Reach", "reaches"]

Reach = Mapping[str, tuple[Extent, ...]]
"""By the name of a view, or its alias group: the extents that each of its elements has to stay below."""

_WITHIN = ("mod", "and", "shr", "floordiv", "minimum", "clamp")
"""Functions that authors bring any number into a range with."""


def reaches(kernel: kir.Kernel) -> Reach:
    """The views whose elements are bins or coordinates themselves, or become so whatever they are."""
    made: dict[int, kir.Op] = {r.id: op for op in walk(kernel.body) for r in op.results}
    found: dict[str, tuple[Extent, ...]] = {}
    for value, extent in _indexed(kernel):
        for place, direct in _sources(value, made):
            found[place] = (*found.get(place, ()), *((extent,) if direct else ()))
    return found


def _indexed(kernel: kir.Kernel) -> Iterator[tuple[kir.Value, Extent]]:
    """What says where something is, with the extent of what it is in."""
    for op in walk(kernel.body):
        if isinstance(op, kir.Histogram):
            yield op.values, op.result.shape[0]
        elif isinstance(op, kir.Load | kir.Gather):
            yield from zip(op.relation.coordinates, op.source.shape, strict=True)
        elif isinstance(op, kir.Store | kir.ScatterReduce | kir.Atomic):
            yield from zip(op.relation.coordinates, op.target.shape, strict=True)


def _sources(value: kir.Value, made: Mapping[int, kir.Op]) -> Iterator[tuple[str, bool]]:
    """The views that a value comes from, and whether it is their elements themselves."""
    left, seen = [(value, True)], set[int]()
    while left:
        current, direct = left.pop()
        op = made.get(current.id)
        if op is None or current.id in seen:
            continue
        seen.add(current.id)
        if isinstance(op, kir.Load) and isinstance(op.source, kir.View):
            yield op.source.alias or op.source.name, direct
        elif isinstance(op, kir.Cast | kir.Broadcast | kir.Reshape | kir.Transpose):
            left.append((op.value, direct))
        elif isinstance(op, kir.Pointwise) and op.fn == "select":
            left += ((v, direct) for v in op.operands[1:])
        elif isinstance(op, kir.Pointwise) and op.fn in _WITHIN:
            left.append((op.operands[0], False))
