"""Values that are no numbers of the ring, and what of a kernel rests on them."""

from __future__ import annotations

from intent import kir
from intent.kir.walk import operands_of, regions_of, walk

__all__ = ["holds_unknown", "steered"]


def holds_unknown(kernel: kir.Kernel) -> bool:
    """Whether the kernel computes with packed formats, whose values the ring does not have."""
    return any(isinstance(op, kir.ScaledContract) for op in walk(kernel.body))


def steered(kernel: kir.Kernel) -> bool:
    """Whether what is executed, or where it goes, may rest on unknown values."""
    unknown: set[int] = set()
    places: set[object] = set()
    before = -1
    while before != len(unknown) + len(places):
        before = len(unknown) + len(places)
        for op in walk(kernel.body):
            if _rests(op, unknown, places):
                unknown |= {r.id for r in op.results}
                unknown |= {a.id for region in regions_of(op) for a in region.args}
                if isinstance(op, kir.Store | kir.ScatterReduce | kir.Atomic):
                    places.add(_place(op.target))
    return any(v.id in unknown for op in walk(kernel.body) for v in _steering(op))


def _rests(op: kir.Op, unknown: set[int], places: set[object]) -> bool:
    if isinstance(op, kir.ScaledContract) or (isinstance(op, kir.Load) and _place(op.source) in places):
        return True
    inside = (v for region in regions_of(op) for v in region.yields)
    return any(v.id in unknown for v in (*operands_of(op), *inside))


def _place(resource: kir.Resource) -> object:
    return (resource.alias or resource.name) if isinstance(resource, kir.View) else resource.id


def _steering(op: kir.Op) -> tuple[kir.Value, ...]:
    """Operands that decide what is executed, and which elements an access takes."""
    match op:
        case kir.If():
            return (op.condition,)
        case kir.For():
            return (op.begin, op.end, op.step)
        case kir.While():
            return op.condition.yields
        case kir.Load() | kir.Gather() | kir.Store() | kir.ScatterReduce() | kir.Atomic():
            valid = () if op.valid is None else (op.valid,)
            return (*op.relation.coordinates, *valid)
        case kir.Iota():
            return (op.begin, op.step)
    return ()
