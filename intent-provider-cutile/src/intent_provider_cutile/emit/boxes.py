"""Accesses that are whole tiles of an array: aligned boxes of which every element is in bounds.

``ct.load`` and ``ct.store`` count in tiles; a tile outside the array is undefined behaviour. An access becomes one only
if it has no validity (the program proves every lane in bounds) and each coordinate is ``block * k`` plus the lanes of
a dim of ``k`` elements, or one number; one of them may be the rows of a pass (:mod:`intent_provider_cutile.emit.runs`).
Programs without a matrix product keep to element offsets: rows are faster so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from intent.physical import (
    Constant,
    Contract,
    Dim,
    Fragment,
    Lane,
    Load,
    Loop,
    Op,
    Pointwise,
    Program,
    Store,
    View,
)
from intent.physical.walk import operands_of, walk
from intent_provider_cutile.emit.contract import layout_of
from intent_provider_cutile.emit.lanes import Lanes, constant, origin
from intent_provider_cutile.emit.runs import Run, runs_of
from intent_provider_cutile.emit.stepped import Stepped, stepped_of

_KEEP_MULTIPLES = frozenset({"add", "sub", "neg", "minimum", "maximum"})
"""Functions whose result is a multiple of what divides all operands."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One axis of a box: the lanes of ``dim`` (None: one element) at tile index ``base * times // over + plus``.

    ``run``: they are the rows of a pass, of which the array is a slice.
    """

    dim: Dim | None
    base: Fragment | None = None
    times: int = 1
    over: int = 1
    plus: int = 0
    run: bool = False


@dataclass(frozen=True, kw_only=True)
class Box:
    """An access as one tile of its array."""

    sides: tuple[Side, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis of the array."""
        return tuple(1 if side.dim is None else side.dim.size for side in self.sides)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The lane dims in the order of the array's axes."""
        return tuple(side.dim for side in self.sides if side.dim is not None)


class Boxes:
    """The boxes of a program; with ``wanted`` false there are none.

    ``ahead``: reads that the compiler may move out of their loops.
    """

    def __init__(self, program: Program, ahead: frozenset[int], *, wanted: bool) -> None:
        ops = [op for segment in program.segments for op in walk(segment.body)]
        self.defined = {result.id: op for op in ops for result in op.results}
        self._found: dict[int, Box] = {}
        self._loops = {op.body.args[0].id: op for op in ops if isinstance(op, Loop)}
        products = any(isinstance(op, Contract) and layout_of(op) is not None for op in ops)
        self.runs: dict[int, Run] = {}
        """Runs whose accesses are boxes, by the Python identity of their regions."""
        self.stepped: dict[int, Stepped] = {}
        """Reads of which several lanes share an element."""
        if wanted and products:
            self._make(program, ops, ahead)

    def _make(self, program: Program, ops: Sequence[Op], ahead: frozenset[int]) -> None:
        for run in runs_of(program, self.defined):
            accesses = [
                op for op in walk(run.region) if isinstance(op, Load | Store) and run.axis(op) is not None
            ]
            boxes = [(op, self._box(op, run)) for op in accesses]
            if all(box is not None for _, box in boxes):
                self.runs[id(run.region)] = run
                self._found.update((id(op), box) for op, box in boxes if box is not None)
        self.stepped = stepped_of(program, Lanes(defined=self.defined, divides=self._divides, ahead=ahead))
        found = ((op, self._box(op, None)) for op in ops if id(op) not in self._found)
        self._found.update({id(op): box for op, box in found if box is not None})

    def of(self, op: Op) -> Box | None:
        """The box of an access, or None where it is written by element offsets."""
        return self._found.get(id(op))

    def operands(self, op: Op) -> Iterator[Fragment]:
        """What the text of an operation reads: of a box only the bases, not the coordinates."""
        stepped = self.stepped.get(id(op))
        if stepped is not None:
            # Two uses give what elements are found by a name.
            yield from (*stepped.scalars, *stepped.scalars, *stepped.lanes)
            return
        box = self.of(op)
        if box is None or not isinstance(op, Load | Store):
            yield from operands_of(op)
            return
        yield from (side.base for side in box.sides if side.base is not None)
        if op.valid is not None:
            # The text finds the first and the last row in them: each has a name, for which two uses are enough.
            yield from (op.valid, op.valid)
            yield from (
                c for c, side in zip(op.coordinates, box.sides, strict=True) if side.run for _ in range(2)
            )
        if isinstance(op, Store):
            yield op.value

    def _box(self, op: Op, run: Run | None) -> Box | None:
        if isinstance(op, Load):
            resource = op.source
        elif isinstance(op, Store):
            resource = op.target
        else:
            return None
        if not isinstance(resource, View) or (op.valid is not None and run is None):
            return None
        rows = run.axis(op) if run is not None else None
        sides = [
            Side(dim=run.dim, run=True) if run is not None and k == rows else self._side(c)
            for k, c in enumerate(op.coordinates)
        ]
        found = tuple(side for side in sides if side is not None)
        box = Box(sides=found)
        lanes = op.dims if isinstance(op, Store) else op.result.dims
        whole = len(found) == len(sides) and len(box.dims) >= 2 and len(set(box.dims)) == len(box.dims)
        return box if whole and set(box.dims) == set(lanes) else None

    def _side(self, coordinate: Fragment) -> Side | None:
        if not coordinate.dims:
            return Side(dim=None, base=coordinate)
        op = origin(self.defined, coordinate)
        if isinstance(op, Lane):
            return Side(dim=op.dim)
        if not isinstance(op, Pointwise) or op.fn != "add":
            return None
        for lanes, base in (op.operands, op.operands[::-1]):
            lane = self.defined.get(lanes.id)
            if isinstance(lane, Lane) and not base.dims:
                return self._aligned(base, lane.dim)
        return None

    def _aligned(self, base: Fragment, dim: Dim) -> Side | None:
        """The tile index of a base that is a multiple of the dim's size."""
        op = self.defined.get(base.id)
        if isinstance(op, Constant) and int(op.value) % dim.size == 0:
            return Side(dim=dim, plus=int(op.value) // dim.size)
        if isinstance(op, Pointwise) and op.fn == "mul":
            for block, factor in (op.operands, op.operands[::-1]):
                k = constant(self.defined, factor)
                if k is not None and k % dim.size == 0:
                    return Side(dim=dim, base=block, times=k // dim.size)
        return Side(dim=dim, base=base, over=dim.size) if self._divides(dim.size, base) else None

    def _divides(self, size: int, value: Fragment) -> bool:
        """Whether a scalar is a multiple of ``size``: a product or a loop's index, as it shows in the program."""
        number = constant(self.defined, value)
        if number is not None:
            return number % size == 0
        loop = self._loops.get(value.id)
        if loop is not None:
            return self._divides(size, loop.begin) and self._divides(size, loop.step)
        op = self.defined.get(value.id)
        if not isinstance(op, Pointwise):
            return False
        if op.fn == "mul":
            return any(self._divides(size, operand) for operand in op.operands)
        return op.fn in _KEEP_MULTIPLES and all(self._divides(size, operand) for operand in op.operands)
