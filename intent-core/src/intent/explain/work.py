"""What a launch has to move and to compute: bytes per view, operations by kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from intent.explain.activity import Activity, Passes
from intent.explain.counts import Count, total
from intent.explain.quantity import Environment
from intent.explain.report import Moved, Work
from intent.physical import (
    Atomic,
    Contract,
    Histogram,
    If,
    Load,
    Loop,
    Op,
    Pointwise,
    Program,
    Reduce,
    Region,
    Scan,
    Store,
    View,
    While,
)
from intent.physical.walk import operands_of, regions_of
from intent.types import Extent
from intent.types.extent import const, minimum

__all__ = ["operations", "work"]

_FREE = frozenset({"select"})
"""Moves a value, computes none."""

Verb = Literal["read", "write", "atomic"]


class _Counts:
    """Counts of all segments, by view and by kind of operation."""

    def __init__(self) -> None:
        self.moved: dict[tuple[View, Verb], list[Count]] = {}
        self.pointwise: list[Count] = []
        self.reductions: list[Count] = []
        self.contractions: list[Count] = []

    def add(self, op: Op, activity: Activity, passes: Passes) -> None:
        match op:
            case Load(source=View() as view):
                self.moved.setdefault((view, "read"), []).append(activity.count(op.result.dims, passes))
            case Store(target=View() as view):
                self.moved.setdefault((view, "write"), []).append(activity.count(op.dims, passes))
            case Atomic(target=View() as view):
                self.moved.setdefault((view, "atomic"), []).append(activity.count(op.dims, passes))
            case Pointwise() if op.result.dtype.is_float and op.fn not in _FREE:
                self.pointwise.append(activity.count(op.result.dims, passes))
            case Reduce() | Scan():
                dims = {d for v in operands_of(op) for d in v.dims}
                self.reductions.append(activity.count(dims, passes))
            case Histogram():
                self.reductions.append(activity.count(op.values.dims, passes))
            case Contract():
                lanes = activity.count({*op.lhs.dims, *op.rhs.dims}, passes)
                self.contractions.append(lanes.times(2))

    def unknown(self) -> Iterator[str]:
        """What is left out of the sums because data decides it."""
        for (view, _), counts in self.moved.items():
            if any(c.by_data for c in counts):
                yield f"accesses of '{view.name}'"
        for name in ("pointwise", "reductions", "contractions"):
            if any(c.by_data for c in getattr(self, name)):
                yield f"{name} operations" if name == "pointwise" else name


def work(program: Program, env: Environment | None) -> Work:
    """Bytes and operations of one launch."""
    counts = _Counts()
    for segment in program.segments:
        activity = Activity(segment, env)
        for op, passes in operations(segment.body, Passes()):
            counts.add(op, activity, passes)
    once: list[Count] = []
    requested: list[Count] = []
    moved = []
    for (view, verb), found in counts.moved.items():
        touched = _touched(view, found, env).times(view.dtype.bytes)
        asked = total(found).times(view.dtype.bytes)
        once.append(touched)
        requested.append(asked)
        partly = any(c.by_data for c in found)
        moved.append(
            Moved(
                view=view.name,
                verb=verb,
                once=touched.quantity,
                requested=Count(extent=None, by_data=True).quantity if partly else asked.quantity,
            )
        )
    return Work(
        moved=tuple(moved),
        once=total(once).quantity,
        requested=total(requested).quantity,
        operations=total((*counts.pointwise, *counts.reductions, *counts.contractions)).quantity,
        pointwise=total(counts.pointwise).quantity,
        reductions=total(counts.reductions).quantity,
        contractions=total(counts.contractions).quantity,
        unknown=tuple(dict.fromkeys(counts.unknown())),
    )


def _touched(view: View, found: list[Count], env: Environment | None) -> Count:
    """The view's elements, or as many as are asked for where these are fewer."""
    whole = const(1)
    for e in view.shape:
        whole = whole * e
    asked = total(found)
    if asked.extent is not None and not any(c.by_data for c in found):
        return Count.of(_smaller(whole, asked.extent), env)
    return Count.of(whole, env)


def _smaller(a: Extent, b: Extent) -> Extent:
    """The smaller of two counts; one of them alone where the difference has one sign for all extents."""
    for low, high in ((a, b), (b, a)):
        if all(k > 0 for _, k in (high - low).terms):
            return low
    return minimum(a, b)


def operations(region: Region, passes: Passes) -> Iterator[tuple[Op, Passes]]:
    """Every operation with the loops around it. The regions of a combine are not walked: its elements are counted."""
    for op in region.ops:
        yield op, passes
        match op:
            case Loop():
                yield from operations(op.body, passes.inside(op))
            case While():
                for inner in regions_of(op):
                    yield from operations(inner, passes.inside(op))
            case If():
                for inner in (op.then, op.orelse):
                    yield from operations(inner, passes)
