"""How many lanes of an operation are active over all programs and passes, as an expression.

The lanes of an axis are its programs times its passes times its block, of which the mask ``coordinate < bound``
leaves ``bound``. Lanes that another mask turns off, or a branch, are counted as active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from intent.physical import (
    Argument,
    Broadcast,
    Cast,
    Constant,
    Dim,
    Fragment,
    Lane,
    LaunchValue,
    Loop,
    Pointwise,
    Segment,
    SegmentAxis,
)
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.extent import ceildiv, const, maximum, minimum, scalar

__all__ = ["Activity", "Passes"]


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The counted loops around an operation; ``known`` is false inside a ``while``."""

    loops: tuple[Loop, ...] = ()
    known: bool = True


@dataclass(frozen=True, kw_only=True)
class _Masked:
    """Coordinates along a lane dim that exist: ``count`` of those of all passes of ``loop``, or blocks of ``axis``."""

    count: Extent
    loop: int | None = None
    axis: str | None = None


class Activity:
    """Counts for the operations of one segment."""

    def __init__(self, segment: Segment) -> None:
        self.defined = {r.id: op for op in walk(segment.body) for r in op.results}
        self._segment = segment
        self._loops = {op.body.args[0].id: op for op in walk(segment.body) if isinstance(op, Loop)}
        self._masks: dict[Dim, _Masked] = {}
        for op in walk(segment.body):
            if isinstance(op, Pointwise) and op.fn == "lt":
                self._mask(*op.operands)
        for op in walk(segment.body):
            if isinstance(op, Pointwise) and op.fn == "add":
                self._whole(op)

    def count(self, dims: Iterable[Dim], passes: Passes) -> Extent | None:
        """Active lanes of an operation over ``dims`` in all programs; None when data decides."""
        if not passes.known:
            return None
        factors: dict[tuple[str, object], Extent] = {
            ("axis", axis.label): axis.programs for axis in self._segment.axes
        }
        for loop in passes.loops:
            trips = self.trips(loop)
            if trips is None:
                return None
            factors["loop", loop.id] = trips
        inner = {loop.id for loop in passes.loops}
        for dim in dims:
            factors["dim", dim] = const(dim.size)
            mask = self._masks.get(dim)
            if mask is None or (mask.loop is not None and mask.loop not in inner):
                continue
            taken = ("loop", mask.loop) if mask.loop is not None else ("axis", mask.axis)
            factors.pop(taken, None)
            factors["dim", dim] = mask.count
        total = const(1)
        for factor in factors.values():
            total = total * factor
        return total

    def passes(self, passes: Passes) -> Extent | None:
        """How often one program runs an operation under these loops."""
        total: Extent | None = const(1) if passes.known else None
        for loop in passes.loops:
            trips = self.trips(loop)
            total = None if total is None or trips is None else total * trips
        return total

    def trips(self, loop: Loop) -> Extent | None:
        """Passes of a loop, where the launch decides them."""
        begin, end, step = (self.symbol(v) for v in (loop.begin, loop.end, loop.step))
        if begin is None or end is None or step is None:
            return None
        count = ceildiv(end - begin, step)
        return count if begin.const == 0 else maximum(0, count)

    def symbol(self, value: Fragment) -> Extent | None:
        """The launch-visible expression of an index scalar."""
        match self.defined.get(value.id):
            case Constant(value=number):
                return const(int(number)) if not isinstance(number, float) else None
            case LaunchValue(extent=extent):
                return extent if extent.launch_visible else None
            case Argument(parameter=name) if value.dtype.is_integer:
                return scalar(name)
            case Cast(value=inner) | Broadcast(value=inner):
                return self.symbol(inner) if inner.dtype.is_integer else None
            case Pointwise(fn=fn, operands=(a, b)) if fn in _COMBINE:
                lhs, rhs = self.symbol(a), self.symbol(b)
                return None if lhs is None or rhs is None else _COMBINE[fn](lhs, rhs)
        return None

    def _mask(self, coordinate: Fragment, bound: Fragment) -> None:
        """``coordinate < bound`` along a dim: of all its lanes, programs and passes, those below the bound exist."""
        limit = self.symbol(bound)
        if limit is None or len(coordinate.dims) != 1 or coordinate.dims[0] in self._masks:
            return
        (dim,) = coordinate.dims
        op = self.defined.get(coordinate.id)
        if isinstance(op, Lane):
            self._masks[dim] = _Masked(count=minimum(limit, dim.size) if limit.const is not None else limit)
        elif isinstance(op, Pointwise) and op.fn == "add":
            loop = self._walked(op, dim)
            if loop is not None:
                self._masks[dim] = _Masked(count=limit - loop[1], loop=loop[0].id)
                return
            axis = self._block(dim, limit)
            if axis is not None:
                self._masks[dim] = _Masked(count=limit, axis=axis.label)

    def _whole(self, op: Pointwise) -> None:
        """A block of a loop or of program space without a mask: its blocks divide what they cover."""
        if len(op.result.dims) != 1 or op.result.dims[0] in self._masks:
            return
        (dim,) = op.result.dims
        loop = self._walked(op, dim)
        if loop is not None:
            end = self.symbol(loop[0].end)
            if end is not None:
                self._masks[dim] = _Masked(count=end - loop[1], loop=loop[0].id)
            return
        for axis in self._segment.axes:
            if axis.block == dim.size and dim.name == axis.label.replace(".", "_"):
                self._masks[dim] = _Masked(count=axis.extent, axis=axis.label)

    def _walked(self, op: Pointwise, dim: Dim) -> tuple[Loop, Extent] | None:
        """The loop whose index plus the lanes of ``dim`` is ``op``, and where it begins."""
        for value in op.operands:
            loop = self._loops.get(value.id)
            if loop is not None:
                begin, step = self.symbol(loop.begin), self.symbol(loop.step)
                if begin is not None and step is not None and step.const == dim.size:
                    return loop, begin
        return None

    def _block(self, dim: Dim, limit: Extent) -> SegmentAxis | None:
        taken = {m.axis for m in self._masks.values()}
        for axis in self._segment.axes:
            if axis.label not in taken and axis.extent is limit and axis.block == dim.size:
                return axis
        return None


_COMBINE: Final[dict[str, Callable[[Extent, Extent], Extent]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": minimum,
    "maximum": maximum,
}
