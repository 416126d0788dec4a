"""Who owns what of a buffer that stands in front of distributed points (spec: kir-to-gpu-program 5).

A buffer of the invocation is one piece of memory, and every instance keeps to its own slice: along the axes that
follow its coordinates it has exactly these. It begins its slice with the initial value, once.
"""

from __future__ import annotations

from dataclasses import dataclass

from intent import kir
from intent.construct.demand import AxisKey
from intent.construct.independence import covered_axis
from intent.construct.units import Unit, target_resource
from intent.types import Extent


@dataclass(frozen=True)
class Owned:
    """How instances share a buffer.

    ``around``: the parallel loops around its allocation, outermost first. ``slices``: the buffer's axes along which
    an instance has just its own coordinates, by the label of the instance axis.
    """

    around: tuple[int, ...]
    slices: dict[str, int]


def buffers_owned(
    allocations: list[Unit], units: list[Unit], keys: dict[AxisKey, str], extents: dict[str, Extent]
) -> dict[int, Owned]:
    """The ownership of each allocated buffer, by its id. ``extents``: those of the instance axes."""
    found = {}
    for allocated in allocations:
        op = allocated.op
        assert isinstance(op, kir.BufferAlloc)
        signatures = [
            *(s for u in units for write, s in u.writes if target_resource(write) == op.buffer),
            *(r.signature for u in units for r in u.reads if r.op.source == op.buffer),
        ]
        slices = {}
        for label, extent in extents.items():
            members = {key for key, name in keys.items() if name == label}
            axis = covered_axis(op.buffer, signatures, members, extent)
            if axis is not None:
                slices[label] = axis
        found[op.buffer.id] = Owned(tuple(f.id for f in allocated.prefix), slices)
    return found


def allocations_of(units: list[Unit]) -> list[Unit]:
    """The units that only allocate a buffer which can be given to instances in slices.

    A buffer whose initial value depends on what the others write takes part as one of them.
    """
    written = {
        target_resource(op) for u in units for op, _ in u.writes if not isinstance(op, kir.BufferAlloc)
    }
    return [
        unit
        for unit in units
        if isinstance(unit.op, kir.BufferAlloc) and not any(r.op.source in written for r in unit.reads)
    ]
