"""How many lanes of an operation are active over all programs and passes.

The lanes of an axis are its programs times its passes times its block, of which the mask ``coordinate < bound``
leaves ``bound``. Lanes that another mask turns off, or a branch, are counted as active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from intent.explain.counts import BY_DATA, Count
from intent.explain.quantity import TOGETHER, Environment, value_of
from intent.explain.report import Quantity
from intent.explain.varying import Means, Walk
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
    Reduce,
    Rename,
    Segment,
    SegmentAxis,
    While,
)
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.extent import ceildiv, const, maximum, minimum, scalar

__all__ = ["Activity", "Passes"]


_Factors = dict[tuple[str, object], Extent]
"""By ("axis", label), ("loop", operation id) or ("dim", dim): how often, or how many."""


_Place = tuple[Dim, int | None]
"""A lane dim, in the passes of a loop (operation id) or outside of all loops over it."""


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The loops around an operation."""

    loops: tuple[Loop | While, ...] = ()

    def inside(self, loop: Loop | While) -> Passes:
        """Around what stands in one more loop."""
        return Passes(loops=(*self.loops, loop))


@dataclass(frozen=True, kw_only=True)
class _Masked:
    """Coordinates along a lane dim that exist: ``count`` of those of all passes of its loop, or blocks of ``axis``."""

    count: Extent
    axis: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Bounded:
    """Coordinates below ``bound``, which differs between programs, of those of all passes of ``loop``."""

    bound: Fragment
    loop: Loop | None


class Activity:
    """Counts for the operations of one segment."""

    def __init__(self, segment: Segment, env: Environment | None) -> None:
        self.defined: dict[int, Op] = {r.id: op for op in walk(segment.body) for r in op.results}
        self._segment = segment
        self._env = env
        self._loops = {op.body.args[0].id: op for op in walk(segment.body) if isinstance(op, Loop)}
        self._masks: dict[_Place, _Masked] = {}
        self._bounded: dict[_Place, _Bounded] = {}
        self._means = Means(segment, env)
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

    def passes(self, passes: Passes) -> Quantity:
        """How often one program runs an operation under these loops; the mean where programs differ."""
        count = self._product((), passes, {})
        return TOGETHER if count.by_data and any(map(self._together, passes.loops)) else count.quantity

    def _together(self, loop: Loop | While) -> bool:
        """Whether a loop goes on until the last of several points is done."""
        decides = loop.end if isinstance(loop, Loop) else loop.condition.yields[0]
        return isinstance(self.defined.get(decides.id), Reduce)

    def _product(self, dims: Iterable[Dim], passes: Passes, factors: _Factors) -> Count:
        loops = [loop for loop in passes.loops if isinstance(loop, Loop)]
        if len(loops) < len(passes.loops) or any(map(self._by_data, loops)):
            return BY_DATA
        varying: dict[tuple[str, object], Walk] = {}
        for loop in loops:
            trips = self._trips(loop)
            if trips is None:
                varying["loop", loop.id] = Walk(loop.begin, (loop.end,), loop.step)
            else:
                factors["loop", loop.id] = trips
        for dim in dims:
            factors["dim", dim] = const(dim.size)
            for place in (*((dim, loop.id) for loop in reversed(loops)), (dim, None)):
                if self._cut(place, factors, varying):
                    break
        total = const(1)
        for factor in factors.values():
            total = total * factor
        if not varying:
            return Count.of(total, self._env)
        rest, mean = value_of(total, self._env), self._means.of(varying.values())
        return Count(extent=None, value=None if rest is None or mean is None else rest * mean)

    def _cut(self, place: _Place, factors: _Factors, varying: dict[tuple[str, object], Walk]) -> bool:
        """Put what a mask leaves in the place of all lanes, programs and passes along a dim, if there is a mask."""
        dim, loop = place
        mask, bounded = self._masks.get(place), self._bounded.get(place)
        if mask is not None and (loop is None or ("loop", loop) in factors):
            factors.pop(("loop", loop) if loop is not None else ("axis", mask.axis), None)
            factors["dim", dim] = mask.count
        elif mask is None and bounded is not None:
            del factors["dim", dim]
            factors.pop(("loop", loop), None)
            varying.pop(("loop", loop), None)
            inner = bounded.loop
            begin, ends = (None, ()) if inner is None else (inner.begin, (inner.end,))
            varying["dim", dim] = Walk(begin, (bounded.bound, *ends), None)
        return mask is not None or bounded is not None

    # -- loops -----------------------------------------------------------------------------------------------------

    def _by_data(self, loop: Loop) -> bool:
        bounds = (loop.begin, loop.end, loop.step)
        return self._trips(loop) is None and not all(map(self._decided, bounds))

    def _decided(self, value: Fragment) -> bool:
        """Whether the program's id and the launch decide an index value, no data."""
        op = self.defined.get(value.id)
        match op:
            case None:
                return value.id == self._segment.body.args[0].id or value.id in self._loops
            case Constant() | LaunchValue() | Argument() | Lane():
                return True
            case Cast(value=inner) | Broadcast(value=inner) | Rename(value=inner):
                return self._decided(inner)
            case Reduce(kind="max", operands=(inner,)):
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
            case Pointwise(fn="neg", operands=(a,)):
                inside = self.symbol(a)
                return None if inside is None else -inside
            case Pointwise(fn=fn, operands=(a, b)) if fn in _COMBINE:
                lhs, rhs = self.symbol(a), self.symbol(b)
                return None if lhs is None or rhs is None else _COMBINE[fn](lhs, rhs)
        return None

    # -- masks -----------------------------------------------------------------------------------------------------

    def _mask(self, coordinate: Fragment, bound: Fragment) -> None:
        """``coordinate < bound`` along a dim: of all its lanes, programs and passes, those below the bound exist."""
        if len(coordinate.dims) != 1 or not bound.uniform:
            return
        (dim,) = coordinate.dims
        op, limit = self.defined.get(coordinate.id), self.symbol(bound)
        loop = self._loop_of(op, dim)
        place = dim, None if loop is None else loop.id
        if limit is None:
            if self._decided(bound) and (loop is not None or isinstance(op, Lane)):
                self._bounded.setdefault(place, _Bounded(bound=bound, loop=loop))
        elif isinstance(op, Lane):
            count = minimum(limit, dim.size) if limit.const is not None else limit
            self._masks.setdefault(place, _Masked(count=count))
        elif loop is not None:
            begin, end = self.symbol(loop.begin), self.symbol(loop.end)
            if begin is not None:
                last = limit if end is None else minimum(limit, end)
                self._masks.setdefault(place, _Masked(count=last - begin))
        elif isinstance(op, Pointwise) and op.fn == "add" and place not in self._masks:
            axis = self._block(dim, limit)
            if axis is not None:
                self._masks[place] = _Masked(count=limit, axis=axis.label)

    def _whole(self, op: Pointwise) -> None:
        """A block of a loop or of program space without a mask: its blocks divide what they cover."""
        if len(op.result.dims) != 1:
            return
        (dim,) = op.result.dims
        loop = self._loop_of(op, dim)
        place = dim, None if loop is None else loop.id
        if place in self._masks or place in self._bounded:
            return
        if loop is not None:
            begin, end = self.symbol(loop.begin), self.symbol(loop.end)
            if begin is not None and end is not None:
                self._masks[place] = _Masked(count=end - begin)
            return
        for axis in self._segment.axes:
            if axis.block == dim.size and dim.name == axis.label.replace(".", "_"):
                self._masks[place] = _Masked(count=axis.extent, axis=axis.label)

    def _loop_of(self, op: Op | None, dim: Dim) -> Loop | None:
        """The loop whose index plus the lanes of ``dim`` is ``op``."""
        if isinstance(op, Pointwise) and op.fn == "add":
            for value in op.operands:
                loop = self._loops.get(value.id)
                step = None if loop is None else self.symbol(loop.step)
                if step is not None and step.const == dim.size:
                    return loop
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
