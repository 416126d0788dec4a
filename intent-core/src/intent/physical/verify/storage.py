"""Rules on the kernel's buffers: how often they come into being, their type and shape, their first contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.kir.walk import regions_of as regions_in
from intent.physical.fragment import Region
from intent.physical.ops import BufferAlloc, If, Op
from intent.physical.program import Program
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import BUFFER, FIRST_WRITE, Problem, Rule, operations
from intent.physical.walk import regions_of

__all__ = ["RULES"]


def buffer_scope(comparison: Comparison) -> Iterator[Problem]:
    """A buffer of the kernel's is new in every pass of the loops around its allocation; its type is the kernel's."""
    allocations: dict[int, kir.BufferAlloc] = {
        op.id: op for op in comparison.operations.values() if isinstance(op, kir.BufferAlloc)
    }
    looped = _in_loops(comparison.program)
    ordered = _in_ordered_loops(comparison.kernel)
    for op in operations(comparison.program):
        if not isinstance(op, BufferAlloc) or op.origin not in allocations:
            continue
        wanted = allocations[op.origin].buffer
        if op.buffer.name != wanted.name:
            continue
        if op.buffer.dtype != wanted.dtype:
            yield Problem(text=f"buffer '{wanted.name}' holds {wanted.dtype} in the kernel", op=op)
        lanes = op.buffer.rank - wanted.rank
        visible = all(e.launch_visible for e in wanted.shape)
        if lanes < 0 or (visible and op.buffer.shape[lanes:] != wanted.shape):
            yield Problem(text=f"buffer '{wanted.name}' has another shape than in the kernel", op=op)
        if op.origin in ordered and op.id not in looped:
            yield Problem(text=f"buffer '{wanted.name}' is new in every pass of a loop, but not here", op=op)


def _in_loops(program: Program) -> frozenset[int]:
    """Ids of the operations that stand in a loop."""
    found: set[int] = set()

    def visit(region: Region, looped: bool) -> None:
        for op in region.ops:
            if looped:
                found.add(op.id)
            for inner in regions_of(op):
                visit(inner, looped or _repeats(op))

    for segment in program.segments:
        visit(segment.body, looped=False)
    return frozenset(found)


def _repeats(op: Op) -> bool:
    return not isinstance(op, If)


def _in_ordered_loops(kernel: kir.Kernel) -> frozenset[int]:
    """Ids of the kernel's operations that stand in a loop whose passes are ordered."""
    found: set[int] = set()

    def visit(region: kir.Region, looped: bool) -> None:
        for op in region.ops:
            if looped:
                found.add(op.id)
            ordered = isinstance(op, kir.While) or (isinstance(op, kir.For) and not op.parallel)
            for inner in regions_in(op):
                visit(inner, looped or ordered)

    visit(kernel.body, looped=False)
    return frozenset(found)


RULES: Final = (
    Rule(name="buffer-scope", sentence=BUFFER, compare=buffer_scope),
    Rule(name="buffer-initial", sentence=FIRST_WRITE, trial="a buffer does not begin with its initial value"),
)
