"""What the lanes of a dim have in common: values that neighbours share, conditions that hold for the first ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from intent.physical import Broadcast, Cast, Constant, Dim, Fragment, Lane, Load, Op, Pointwise, View
from intent.physical.walk import operands_of

LEAST = 8
"""Lanes that share an element from which it is worth reading it once."""


def origin(defined: Mapping[int, Op], value: Fragment) -> Op | None:
    """What makes a value, broadcasts apart."""
    op = defined.get(value.id)
    while isinstance(op, Broadcast):
        op = defined.get(op.value.id)
    return op


def constant(defined: Mapping[int, Op], value: Fragment) -> int | None:
    """The number that a scalar is."""
    op = defined.get(value.id)
    return int(op.value) if isinstance(op, Constant) else None


def leaves_zeros(defined: Mapping[int, Op], op: Load) -> bool:
    """Whether lanes without an element are zero."""
    fill = defined.get(op.fill.id) if op.fill is not None else None
    return op.fill is None or (isinstance(fill, Constant) and fill.value == 0)


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """Answers about the values of a program.

    ``defined``: operations by the ids of their results. ``divides``: whether a scalar is a multiple of a number.
    ``ahead``: reads that the compiler may move out of their loops, of which nothing is known here.
    """

    defined: Mapping[int, Op]
    divides: Callable[[int, Fragment], bool]
    ahead: frozenset[int]

    def addends(self, value: Fragment) -> tuple[Dim, list[Fragment]] | None:
        """A value that is the number of a lane plus scalars."""
        op = origin(self.defined, value)
        if isinstance(op, Lane):
            return op.dim, []
        if not isinstance(op, Pointwise) or op.fn != "add":
            return None
        for lanes, scalar in (op.operands, op.operands[::-1]):
            found = self.addends(lanes) if not scalar.dims else None
            if found is not None:
                return found[0], [*found[1], scalar]
        return None

    def aligned(self, value: Fragment, size: int | None) -> int | None:
        """How many of the lanes that a value counts lie within a page of ``size`` at a time.

        That is a power of two, as the page is; pages may be longer than the dim.
        """
        found = self.addends(value)
        if found is None or not size or size & (size - 1):
            return None
        dim, scalars = found
        lanes = min(size, dim.size)
        return lanes if all(self.divides(lanes, f) for f in scalars) else None

    def group(self, value: Fragment, dim: Dim) -> int:
        """Lanes of ``dim``, from each multiple of their number on, that share the value; 1 where nothing is known."""
        if dim not in value.dims:
            return dim.size
        if value.dims != (dim,):
            return 1
        op = origin(self.defined, value)
        if isinstance(op, Cast):
            return self.group(op.value, dim)
        if isinstance(op, Pointwise):
            if op.fn == "floordiv":
                lanes = self.aligned(op.operands[0], constant(self.defined, op.operands[1]))
                if lanes is not None:
                    return lanes
            return min(self.group(f, dim) for f in op.operands)
        if isinstance(op, Load) and self._known(op):
            size = min(self.group(f, dim) for f in op.coordinates)
            tests = self.conjuncts(op.valid) if op.valid is not None else ()
            return size if all(self.group(t, dim) >= size or self.ends(t) for t in tests) else 1
        return 1

    def _known(self, op: Load) -> bool:
        """Whether a read is of a view, stays where it is, and leaves zeros."""
        return isinstance(op.source, View) and op.id not in self.ahead and leaves_zeros(self.defined, op)

    def conjuncts(self, test: Fragment) -> Iterator[Fragment]:
        """The conditions of which all must hold."""
        op = origin(self.defined, test)
        if isinstance(op, Pointwise) and op.fn == "and":
            for operand in op.operands:
                yield from self.conjuncts(operand)
        else:
            yield test

    def ends(self, test: Fragment) -> bool:
        """Whether a condition that is false for a lane is false for all that follow."""
        op = origin(self.defined, test)
        if not isinstance(op, Pointwise) or op.fn not in ("lt", "le", "gt", "ge"):
            return False
        low, high = op.operands if op.fn in ("lt", "le") else op.operands[::-1]
        return not high.dims and self.addends(low) is not None

    def loads(self, value: Fragment) -> Iterator[Load]:
        """The reads of lanes that a value is computed from."""
        op = origin(self.defined, value)
        if isinstance(op, Load):
            yield op
        if isinstance(op, Load | Cast | Pointwise):
            for f in operands_of(op):
                yield from self.loads(f) if f.dims else ()

    def uneven(self, load: Load, dim: Dim, size: int) -> list[Fragment]:
        """Conditions of a read that may hold for the first of ``size`` lanes only."""
        tests = self.conjuncts(load.valid) if load.valid is not None else ()
        return [t for t in tests if self.group(t, dim) < size]

    def scalars(self, value: Fragment, dim: Dim) -> Iterator[Fragment]:
        """What a value is computed from besides lanes of ``dim``."""
        if dim not in value.dims:
            yield value
            return
        op = origin(self.defined, value)
        assert op is not None, "a value that is handed on is not shared"
        for f in operands_of(op):
            yield from self.scalars(f, dim)
