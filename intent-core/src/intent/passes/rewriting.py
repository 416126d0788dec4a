"""Rebuilding a program operation by operation, regions included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from intent import physical as ph
from intent.construct.cleanup import remove_dead
from intent.passes.building import Builder
from intent.physical.walk import map_regions


def map_operations(program: ph.Program, change: Callable[[ph.Op], ph.Op]) -> ph.Program:
    """The program with every operation replaced by ``change(op)``, inner ones first; results must stay the same.

    It is the same object where nothing changes.
    """
    bodies = [_region(s.body, change) for s in program.segments]
    if all(new is s.body for new, s in zip(bodies, program.segments, strict=True)):
        return program
    segments = tuple(replace(s, body=body) for s, body in zip(program.segments, bodies, strict=True))
    return replace(program, segments=segments)


def _region(region: ph.Region, change: Callable[[ph.Op], ph.Op]) -> ph.Region:
    ops = tuple(change(map_regions(op, lambda inner: _region(inner, change))) for op in region.ops)
    same = all(new is old for new, old in zip(ops, region.ops, strict=True))
    return region if same else replace(region, ops=ops)


def map_control(op: ph.Op, change: Callable[[ph.Region], ph.Region]) -> ph.Op:
    """Changed regions of control; combines are functions of their own and hold nothing that a pass could improve."""
    return map_regions(op, change) if isinstance(op, ph.Loop | ph.If | ph.While) else op


def rewrite_loops(program: ph.Program, change: Callable[[Builder, ph.Loop], bool]) -> ph.Program:
    """The program with its loops rewritten, inner ones first, and without what nothing uses afterwards.

    ``change(builder, loop)`` either appends to the builder's current region what takes the loop's place, with
    the loop's results defined under their own ids, and gives True; or it gives False and the loop stays.
    """
    builder = Builder(program)
    changed = [_rebuilt(segment.body, builder, change) for segment in program.segments]
    if all(new is segment.body for new, segment in zip(changed, program.segments, strict=True)):
        return program
    segments = tuple(
        replace(s, body=remove_dead(body)) for s, body in zip(program.segments, changed, strict=True)
    )
    return replace(program, segments=segments)


def _rebuilt(region: ph.Region, b: Builder, change: Callable[[Builder, ph.Loop], bool]) -> ph.Region:
    """The region with rewritten loops; the same object where there were none."""
    same = True
    with b.region() as ops:
        for op in region.ops:
            kept = map_control(op, lambda inner: _rebuilt(inner, b, change))
            same &= kept is op
            if isinstance(kept, ph.Loop) and change(b, kept):
                same = False
            else:
                b.keep(kept)
    return region if same else replace(region, ops=tuple(ops))


def rewrite_regions(
    program: ph.Program, change: Callable[[Builder, ph.Region], ph.Region | None]
) -> ph.Program:
    """The program with its regions rewritten until nothing changes, inner ones first; without what is unused then.

    ``change(builder, region)`` gives a region with the same arguments and yields, or None. Combines stay.
    """
    builder = Builder(program)
    changed = [_settled(segment.body, builder, change) for segment in program.segments]
    if all(new is segment.body for new, segment in zip(changed, program.segments, strict=True)):
        return program
    segments = tuple(
        replace(s, body=remove_dead(body)) for s, body in zip(program.segments, changed, strict=True)
    )
    return replace(program, segments=segments, dims=builder.dims)


def _settled(
    region: ph.Region, b: Builder, change: Callable[[Builder, ph.Region], ph.Region | None]
) -> ph.Region:
    ops = [map_control(op, lambda inner: _settled(inner, b, change)) for op in region.ops]
    if any(new is not old for new, old in zip(ops, region.ops, strict=True)):
        region = replace(region, ops=tuple(ops))
    while True:
        changed = change(b, region)
        if changed is None:
            return region
        region = changed
