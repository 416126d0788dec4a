"""Intervals of coordinates of one program, in numbers: what the picture draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal

from intent.explain.quantity import Environment, value_of
from intent.physical import (
    Argument,
    Broadcast,
    Cast,
    Constant,
    Fragment,
    Lane,
    LaunchValue,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Rename,
    Segment,
)
from intent.physical.walk import walk
from intent.types.extent import scalar

__all__ = ["Interval", "Pass", "Ranges"]

Interval = tuple[int, int]
"""Lowest and highest value, both included."""

Pass = Literal["all", "first", "last"]


class Ranges:
    """Evaluates index values of one program of a segment over intervals; None where data decides."""

    def __init__(self, segment: Segment, env: Environment) -> None:
        self._env = env
        self._local = segment.body.args[0].id
        self._defined: Mapping[int, Op] = {r.id: op for op in walk(segment.body) for r in op.results}
        self._loops = {op.body.args[0].id: op for op in walk(segment.body) if isinstance(op, Loop)}
        self._known: dict[int, Interval | None] = {}
        self._program = 0
        self._passes: Pass = "all"

    def enter(self, program: int, passes: Pass) -> None:
        """Look at one program of the segment, in all, the first or the last pass of every loop."""
        self._program, self._passes = program, passes
        self._known = {}

    def of(self, value: Fragment) -> Interval | None:
        """The values that the fragment takes over its lanes."""
        if value.id not in self._known:
            self._known[value.id] = self._evaluate(value)
        return self._known[value.id]

    def box(self, coordinates: Iterable[Fragment], valid: Fragment | None) -> list[Interval | None]:
        """The values of coordinates where ``valid`` may hold: what it compares is cut to the bound."""
        cut: dict[int, Interval | None] = {}
        for value, bound in self._conjuncts(valid):
            inside, limit = cut.get(value.id, self.of(value)), self.of(bound)
            if inside is not None and limit is not None:
                cut[value.id] = inside[0], min(inside[1], limit[1] - 1)
        if not cut:
            return [self.of(c) for c in coordinates]
        whole, self._known = self._known, cut
        found = [self.of(c) for c in coordinates]
        self._known = whole
        return found

    def _conjuncts(self, valid: Fragment | None) -> Iterator[tuple[Fragment, Fragment]]:
        """Pairs ``value < bound`` that a predicate says."""
        op = None if valid is None else self._defined.get(valid.id)
        match op:
            case Pointwise(fn="and"):
                for operand in op.operands:
                    yield from self._conjuncts(operand)
            case Pointwise(fn="lt", operands=(value, bound)):
                yield value, bound
            case Broadcast(value=inner):
                yield from self._conjuncts(inner)

    def _evaluate(self, value: Fragment) -> Interval | None:
        if value.id == self._local:
            return self._program, self._program
        if value.id in self._loops:
            return self._index(self._loops[value.id])
        match self._defined.get(value.id):
            case Constant(value=number) if not isinstance(number, float):
                return int(number), int(number)
            case LaunchValue(extent=extent):
                return _point(value_of(extent, self._env))
            case Argument(parameter=name) if value.dtype.is_integer:
                return _point(value_of(scalar(name), self._env))
            case Lane(dim=dim):
                return 0, dim.size - 1
            case Cast(value=inner) | Broadcast(value=inner) | Rename(value=inner):
                return self.of(inner) if inner.dtype.is_integer else None
            case Pointwise(fn=fn, operands=(a, b)) if fn in _RULES:
                left, right = self.of(a), self.of(b)
                return None if left is None or right is None else _RULES[fn](left, right)
            case Pointwise(fn="neg", operands=(a,)):
                inside = self.of(a)
                return None if inside is None else (-inside[1], -inside[0])
            case Pointwise(fn="select", operands=(test, a, b)) if value.dtype.is_integer:
                (left,), right = self.box((a,), test), self.of(b)
                if left is None or right is None or left[0] > left[1]:
                    return None if left is None else right
                return min(left[0], right[0]), max(left[1], right[1])
            case Reduce(kind="max", operands=(inner,)) if not value.dims:
                found = self.of(inner)
                return None if found is None else (found[1], found[1])
        return None

    def _index(self, loop: Loop) -> Interval | None:
        begin, end, step = (self.of(v) for v in (loop.begin, loop.end, loop.step))
        if begin is None or end is None or step is None or step[0] != step[1] or step[0] < 1:
            return None
        first = begin[0]
        last = first + max(0, end[1] - 1 - first) // step[0] * step[0]
        return {"all": (first, last), "first": (first, first), "last": (last, last)}[self._passes]


def _point(value: int | None) -> Interval | None:
    return None if value is None else (value, value)


def _mul(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _floordiv(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    corners = [x // y for x in a for y in b]
    return min(corners), max(corners)


def _mod(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    if b[0] == b[1] and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]
    return 0, b[1] - 1


_RULES: Final[dict[str, Callable[[Interval, Interval], Interval | None]]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _mul,
    "floordiv": _floordiv,
    "mod": _mod,
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
