"""Reads that the compiler may move in front of the loop they stand in.

tileiras takes a read whose address does not change from pass to pass out of its loop, also of one that may make no
pass. What makes the address valid may hold inside the loop only: the author's promise, or that there is a pass at all.
Such reads test their bounds themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent.physical import If, Load, Loop, Op, Program, Region, View, While
from intent.physical.walk import operands_of, regions_of


def moved_ahead(program: Program) -> frozenset[int]:
    """The reads of views inside loops, by id, whose coordinates are the same in every pass of the innermost one."""
    return frozenset(op.id for segment in program.segments for op in _moved(segment.body, None))


def _moved(region: Region, varying: set[int] | None) -> Iterator[Load]:
    """``varying``: what changes from pass to pass of the loop around the region, None outside of loops."""
    for op in region.ops:
        for inner in regions_of(op):
            if isinstance(op, Loop | While):
                yield from _moved(inner, {a.id for a in inner.args})
            elif isinstance(op, If):
                yield from _moved(inner, varying)
        if varying is None:
            continue
        if _varies(op, varying):
            varying.update(r.id for r in op.results)
        elif isinstance(op, Load) and isinstance(op.source, View):
            yield op


def _varies(op: Op, varying: set[int]) -> bool:
    return any(True for _ in regions_of(op)) or any(f.id in varying for f in operands_of(op))
