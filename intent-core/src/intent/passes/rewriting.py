"""Rebuilding a program operation by operation, regions included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from intent import physical as ph
from intent.construct.cleanup import remove_dead
from intent.passes.building import Builder


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
    ops = tuple(change(_inside(op, change)) for op in region.ops)
    same = all(new is old for new, old in zip(ops, region.ops, strict=True))
    return region if same else replace(region, ops=ops)


def _inside(op: ph.Op, change: Callable[[ph.Op], ph.Op]) -> ph.Op:
    inner: dict[str, Any] = {
        f.name: new
        for f in fields(op)
        if isinstance(v := getattr(op, f.name), ph.Region) and (new := _region(v, change)) is not v
    }
    return replace(op, **inner) if inner else op


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
            inner: dict[str, Any] = {}
            # Combines are functions of their own and hold no loop that a pass could improve.
            if isinstance(op, ph.Loop | ph.If | ph.While):
                inner = {
                    f.name: new
                    for f in fields(op)
                    if isinstance(v := getattr(op, f.name), ph.Region)
                    and (new := _rebuilt(v, b, change)) is not v
                }
            kept = replace(op, **inner) if inner else op
            same &= not inner
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
    ops = []
    for op in region.ops:
        inner: dict[str, Any] = {}
        if isinstance(op, ph.Loop | ph.If | ph.While):
            inner = {
                f.name: new
                for f in fields(op)
                if isinstance(v := getattr(op, f.name), ph.Region)
                and (new := _settled(v, b, change)) is not v
            }
        ops.append(replace(op, **inner) if inner else op)
    if any(new is not old for new, old in zip(ops, region.ops, strict=True)):
        region = replace(region, ops=tuple(ops))
    while True:
        changed = change(b, region)
        if changed is None:
            return region
        region = changed
