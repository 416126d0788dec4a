"""Which cases have anything that instances or lanes could race for."""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent import physical as ph
from intent.kir.walk import walk as walk_logical
from intent.physical.walk import walk
from intent_testkit.cases.case import Case
from intent_testkit.run import Point

FEATURES = ("atomics", "scatter", "buffers", "fences", "workspace")


def stress_point(case: Case) -> Point:
    """The largest non-empty assignment of extents, contiguous."""
    return Point(case=case, extents=[e for e in case.extents if all(e.values())][-1])


def features(kernel: kir.Kernel, program: ph.Program) -> tuple[str, ...]:
    """What the kernel, or the program that was made of it, has of :data:`FEATURES`."""
    found = {"workspace"} if program.workspace else set()
    found |= {_LOGICAL[type(op)] for op in walk_logical(kernel.body) if type(op) in _LOGICAL}
    found |= {_PHYSICAL[type(op)] for op in _physical(program) if type(op) in _PHYSICAL}
    return tuple(name for name in FEATURES if name in found)


def settles_bits(program: ph.Program) -> bool:
    """Whether two runs must agree to the bit: nothing rounds in an order that atomics leave open."""
    return not any(
        isinstance(op, ph.Atomic) and op.target.dtype.is_float and op.kind in ("add", "compare_exchange")
        for op in _physical(program)
    )


def updated_bytes(program: ph.Program) -> frozenset[str]:
    """The views of one-byte elements that the program updates atomically."""
    return frozenset(
        op.target.name
        for op in _physical(program)
        if isinstance(op, ph.Atomic) and isinstance(op.target, ph.View) and op.target.dtype.bytes == 1
    )


_LOGICAL: dict[type[kir.Op], str] = {
    kir.Atomic: "atomics",
    kir.ScatterReduce: "scatter",
    kir.BufferAlloc: "buffers",
}
_PHYSICAL: dict[type[ph.Op], str] = {ph.Atomic: "atomics", ph.BufferAlloc: "buffers", ph.Fence: "fences"}


def _physical(program: ph.Program) -> Iterator[ph.Op]:
    for segment in program.segments:
        yield from walk(segment.body)
