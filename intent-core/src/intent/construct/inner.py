"""Which axes an operation walks inside an instance, and as what."""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent.construct.axes import Axis, loop_axis
from intent.construct.formats import element_axis
from intent.types import Extent
from intent.types.extent import const

Walked = Iterator[tuple[Axis, Extent, str]]


def walked_axes(  # noqa: C901 -- one case per kind
    op: kir.Op, trips: dict[int, Extent], eager: set[int], statements: set[int]
) -> Walked:
    """(axis, extent, role) of every axis that ``op`` may walk inside an instance.

    ``eager``: the reads that are held at their place; ``statements``: what runs at its place.
    """
    match op:
        case kir.Reduce():
            yield from _axes(op.operands[0], op.axes, "reduce")
        case kir.Contract():
            yield from _axes(op.lhs, tuple(k for k, _ in op.reduce), "contract")
        case kir.ScaledContract():
            yield element_axis(op), const(op.lhs_group), "contract"
        case kir.SparseContract():
            yield from _axes(op.compressed, tuple(k for k, _ in op.reduce), "reduce")
        case kir.Histogram():
            yield from _every(op.values, "reduce")
        case kir.Scan():
            yield from _axes(op.operands[0], (op.axis,), "scan")
        case kir.Store():
            yield from _every(op.value, "store")
        case kir.RegionFold():
            yield from _axes(op.source[0], (op.axis,), "fold")
            for v in op.results:
                yield from _every(v, "summary")
        case kir.RegionScan():
            yield from _axes(op.source[0], (op.axis,), "fold")
            for v in op.results[op.outputs :]:
                yield from _every(v, "carried")
        case kir.While():
            for v in op.results:
                yield from _every(v, "carried")
        case kir.For():
            if op.parallel:
                yield loop_axis(op), trips[op.id], "point"
            for v in op.results:
                yield from _every(v, "carried")
        case kir.If() if op.id in statements:
            for v in op.results:
                yield from _every(v, "carried")
        case kir.Load() if op.id in eager:
            yield from _every(op.result, "held")


def _axes(value: kir.Value, axes: tuple[int, ...], role: str) -> Walked:
    for k in axes:
        yield (value.id, k), value.shape[k], role


def _every(value: kir.Value, role: str) -> Walked:
    return _axes(value, tuple(range(value.rank)), role)
