"""Domains whose members index an axis of memory: they have at most as many members as the axis.

An access outside of its resource is invalid input (language decision 18), so where a domain's members are the
coordinates of an access, its extent is bounded by the axis; and where everything that walks the domain stands beside
that access, the bound holds wherever it matters.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent.kir.walk import operands_of, regions_of, walk
from intent.types import Extent

__all__ = ["indexed_axes"]

_FREE = (
    kir.Iota,
    kir.Broadcast,
    kir.Pointwise,
    kir.Cast,
    kir.Constant,
    kir.ExtentValue,
)
"""Operations that walk nothing by themselves."""


def indexed_axes(kernel: kir.Kernel) -> Iterator[tuple[Extent, Extent]]:
    """Run-time extents of domains, each with the extent of an axis that all its members index."""
    made = {r.id: op for op in walk(kernel.body) for r in op.results}
    for region in _regions(kernel.body):
        for op in region.ops:
            for extent, axis in _indexed(op, made):
                if not extent.launch_visible and _walked(kernel.body, extent) <= _walked(region, extent):
                    yield extent, axis


def _regions(region: kir.Region) -> Iterator[kir.Region]:
    yield region
    for op in region.ops:
        for inner in regions_of(op):
            yield from _regions(inner)


def _indexed(op: kir.Op, made: dict[kir.ValueID, kir.Op]) -> Iterator[tuple[Extent, Extent]]:
    """Extents of domains that an access without a predicate takes as whole coordinates."""
    if not isinstance(op, kir.Load | kir.Store) or op.valid is not None:
        return
    resource = op.source if isinstance(op, kir.Load) else op.target
    for coordinate, axis in zip(op.relation.coordinates, resource.shape, strict=True):
        if isinstance(made.get(coordinate.id), kir.Iota):
            yield coordinate.shape[0], axis


def _walked(region: kir.Region, extent: Extent) -> set[kir.OpID]:
    """The operations of a region that walk values of an extent."""
    return {
        op.id
        for op in walk(region)
        if not isinstance(op, _FREE)
        and any(e is extent for v in (*op.results, *operands_of(op)) for e in v.shape)
    }
