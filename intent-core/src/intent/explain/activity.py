"""How many lanes of an operation are active over all programs and passes.

The lanes of an axis are its programs times its passes times its block, of which the mask ``coordinate < bound``
leaves ``bound``. Lanes that another mask turns off, or a branch, are counted as active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from intent.explain.counts import BY_DATA, Count
from intent.explain.quantity import Environment, value_of
from intent.explain.ranges import Interval, Ranges
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
    Op,
    Pointwise,
    Segment,
    SegmentAxis,
)
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.extent import ceildiv, const, maximum, minimum, scalar

__all__ = ["Activity", "Passes"]

_PROGRAMS: Final = 128
"""Programs that are looked at where passes differ between programs; of more, this many evenly spread."""


_Factors = dict[tuple[str, object], Extent]
"""By ("axis", label), ("loop", operation id) or ("dim", dim): how often, or how many."""


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

    def __init__(self, segment: Segment, env: Environment | None) -> None:
        self.defined: dict[int, Op] = {r.id: op for op in walk(segment.body) for r in op.results}
        self._segment = segment
        self._env = env
        self._loops = {op.body.args[0].id: op for op in walk(segment.body) if isinstance(op, Loop)}
        self._masks: dict[Dim, _Masked] = {}
        self._means: dict[tuple[int, ...], float | None] = {}
        for op in walk(segment.body):
            if isinstance(op, Pointwise) and op.fn == "lt":
                self._mask(*op.operands)
        for op in walk(segment.body):
            if isinstance(op, Pointwise) and op.fn == "add":
                self._whole(op)

    def count(self, dims: Iterable[Dim], passes: Passes) -> Count:
        """Active lanes of an operation over ``dims`` in all programs."""
        programs: _Factors = {("axis", axis.label): axis.programs for axis in self._segment.axes}
        return self._product(dims, passes, programs)

    def passes(self, passes: Passes) -> Count:
        """How often one program runs an operation under these loops; the mean where programs differ."""
        return self._product((), passes, {})

    def _product(self, dims: Iterable[Dim], passes: Passes, factors: _Factors) -> Count:
        kinds = {loop.id: self._kind(loop) for loop in passes.loops}
        if not passes.known or "data" in kinds.values():
            return BY_DATA
        varying = tuple(loop for loop in passes.loops if kinds[loop.id] == "varies")
        for loop in passes.loops:
            trips = self._trips(loop)
            if trips is not None:
                factors["loop", loop.id] = trips
        for dim in dims:
            factors["dim", dim] = const(dim.size)
            mask = self._masks.get(dim)
            if mask is None or (mask.loop is not None and kinds.get(mask.loop) != "fixed"):
                continue
            taken = ("loop", mask.loop) if mask.loop is not None else ("axis", mask.axis)
            factors.pop(taken, None)
            factors["dim", dim] = mask.count
        total = const(1)
        for factor in factors.values():
            total = total * factor
        if not varying:
            return Count.of(total, self._env)
        rest, mean = value_of(total, self._env), self._mean(varying)
        return Count(extent=None, value=None if rest is None or mean is None else rest * mean)

    # -- loops -----------------------------------------------------------------------------------------------------

    def _kind(self, loop: Loop) -> Literal["fixed", "varies", "data"]:
        if self._trips(loop) is not None:
            return "fixed"
        return "varies" if all(self._decided(v) for v in (loop.begin, loop.end, loop.step)) else "data"

    def _decided(self, value: Fragment) -> bool:
        """Whether the program's id and the launch decide an index value, no data."""
        op = self.defined.get(value.id)
        match op:
            case None:
                return value.id == self._segment.body.args[0].id or value.id in self._loops
            case Constant() | LaunchValue() | Argument():
                return True
            case Cast(value=inner) | Broadcast(value=inner):
                return self._decided(inner)
            case Pointwise():
                return all(map(self._decided, op.operands))
        return False

    def _trips(self, loop: Loop) -> Extent | None:
        """Passes of a loop, where they are the same in all programs."""
        begin, end, step = (self.symbol(v) for v in (loop.begin, loop.end, loop.step))
        if begin is None or end is None or step is None:
            return None
        count = ceildiv(end - begin, step)
        return count if begin.const == 0 else maximum(0, count)

    def _mean(self, loops: tuple[Loop, ...]) -> float | None:
        """The mean over programs of the product of the loops' passes."""
        key = tuple(loop.id for loop in loops)
        if key not in self._means:
            self._means[key] = self._measured(loops)
        return self._means[key]

    def _measured(self, loops: tuple[Loop, ...]) -> float | None:
        programs = value_of(self._segment.length, self._env)
        if not programs or self._env is None:
            return None
        ranges = Ranges(self._segment, self._env)
        shown = min(programs, _PROGRAMS)
        sum_ = 0.0
        for k in range(shown):
            ranges.enter(round(k * (programs - 1) / max(1, shown - 1)), "all")
            product = 1.0
            for loop in loops:
                bounds = [ranges.of(v) for v in (loop.begin, loop.end, loop.step)]
                trips = _between(*bounds)
                if trips is None:
                    return None
                product *= trips
            sum_ += product
        return sum_ / shown

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

    # -- masks -----------------------------------------------------------------------------------------------------

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


def _between(begin: Interval | None, end: Interval | None, step: Interval | None) -> float | None:
    """Passes of a loop; the mean of both ends where its bounds follow the index of a loop around it."""
    if begin is None or end is None or step is None or step[0] < 1:
        return None
    ends = [max(0, -((b - e) // step[0])) for b, e in ((begin[0], end[0]), (begin[1], end[1]))]
    return sum(ends) / 2


_COMBINE: Final[dict[str, Callable[[Extent, Extent], Extent]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": minimum,
    "maximum": maximum,
}
