"""What a launch has to move and to compute: bytes per view, floating-point operations by kind."""

from __future__ import annotations

from collections.abc import Iterator

from intent.explain.activity import Activity, Passes
from intent.explain.quantity import Environment, quantity
from intent.explain.report import Moved, Work
from intent.physical import (
    Atomic,
    Contract,
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

__all__ = ["work"]

_FREE = frozenset({"select"})
"""Moves a value, computes none."""


class _Totals:
    """Sums over all segments. What data decides is left out of a sum and named in ``unknown``."""

    def __init__(self) -> None:
        self.elements: dict[tuple[View, str], Extent | None] = {}
        self.pointwise = self.reductions = self.contractions = const(0)
        self.unknown: dict[str, None] = {}

    def add(self, op: Op, activity: Activity, passes: Passes) -> None:
        match op:
            case Load(source=View() as view):
                self._moved(view, "read", activity.count(op.result.dims, passes))
            case Store(target=View() as view):
                self._moved(view, "write", activity.count(op.dims, passes))
            case Atomic(target=View() as view):
                self._moved(view, "atomic", activity.count(op.dims, passes))
            case Pointwise() if op.result.dtype.is_float and op.fn not in _FREE:
                self.pointwise += self._counted(
                    activity.count(op.result.dims, passes), "pointwise operations"
                )
            case Reduce() | Scan():
                dims = {d for v in operands_of(op) for d in v.dims}
                self.reductions += self._counted(activity.count(dims, passes), "reductions")
            case Contract():
                count = activity.count({*op.lhs.dims, *op.rhs.dims}, passes)
                self.contractions += 2 * self._counted(count, "contractions")

    def _moved(self, view: View, verb: str, count: Extent | None) -> None:
        known = self.elements.get((view, verb), const(0))
        self.elements[view, verb] = None if known is None or count is None else known + count
        if count is None:
            self.unknown[f"accesses of '{view.name}'"] = None

    def _counted(self, count: Extent | None, what: str) -> Extent:
        if count is None:
            self.unknown[what] = None
            return const(0)
        return count


def work(program: Program, env: Environment | None) -> Work:
    """Bytes and operations of one launch."""
    totals = _Totals()
    for segment in program.segments:
        activity = Activity(segment)
        for op, passes in _operations(segment.body, Passes()):
            totals.add(op, activity, passes)
    once, requested, moved = const(0), const(0), []
    for (view, verb), count in totals.elements.items():
        whole = const(1)
        for e in view.shape:
            whole = whole * e
        size = view.dtype.bytes
        touched = whole if count is None else _smaller(whole, count)
        once = once + touched * size
        requested = requested + (const(0) if count is None else count * size)
        moved.append(
            Moved(
                view=view.name,
                verb=verb,  # type: ignore[arg-type]
                once=quantity(touched * size, env),
                requested=quantity(None if count is None else count * size, env),
            )
        )
    return Work(
        moved=tuple(moved),
        once=quantity(once, env),
        requested=quantity(requested, env),
        pointwise=quantity(totals.pointwise, env),
        reductions=quantity(totals.reductions, env),
        contractions=quantity(totals.contractions, env),
        unknown=tuple(totals.unknown),
    )


def _smaller(a: Extent, b: Extent) -> Extent:
    """The smaller of two counts; one of them alone where the difference has one sign for all extents."""
    for low, high in ((a, b), (b, a)):
        if all(k > 0 for _, k in (high - low).terms):
            return low
    return minimum(a, b)


def _operations(region: Region, passes: Passes) -> Iterator[tuple[Op, Passes]]:
    """Every operation with the loops around it. The regions of a combine are not walked: its elements are counted."""
    for op in region.ops:
        yield op, passes
        match op:
            case Loop():
                yield from _operations(op.body, Passes(loops=(*passes.loops, op), known=passes.known))
            case While():
                for inner in regions_of(op):
                    yield from _operations(inner, Passes(loops=passes.loops, known=False))
            case If():
                for inner in (op.then, op.orelse):
                    yield from _operations(inner, passes)
