"""How long a trial would take, from the sizes of what it computes: a trial that is too long is not begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from intent import kir
from intent.kir.walk import operands_of
from intent.kir.walk import regions_of as regions_in
from intent.physical.fragment import Dim, Region
from intent.physical.ops import (
    Atomic,
    Constant,
    Contract,
    Histogram,
    LaunchValue,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Scan,
    Store,
    While,
)
from intent.physical.program import Program
from intent.physical.verify.rule import operations
from intent.physical.verify.trial.lanes import live_lanes
from intent.physical.walk import regions_of
from intent.types import Extent
from intent.types.extent import Atom

__all__ = ["MOST", "SCRAMBLED", "effort"]

MOST: Final = 20_000_000
"""Nanoseconds that a trial may take, by this estimate."""
_STEP: Final = 7_000
_ACCESS: Final = 50_000
_ACCESSES: Final = (kir.Load, kir.Gather, kir.Store, kir.ScatterReduce, kir.Atomic)
_UNKNOWN: Final = 4
_WHILE: Final = 16
_EXPENSIVE: Final = 30
_WRITTEN: Final = 200
_FILLED: Final = 3
SCRAMBLED: Final = frozenset({
    "exp", "exp2", "log", "log2", "log1p", "lgamma", "sin", "asin", "cos", "floor", "ceil", "round", "trunc", "erf",
    "erfc", "i0", "rsqrt", "sqrt", "sigmoid", "tanh", "div", "pow",
})  # fmt: skip
"""Functions of floats that the ring has no arithmetic for."""


def effort(program: Program, kernel: kir.Kernel, extents: Mapping[Atom, int]) -> int:
    """Nanoseconds that executing program and kernel at these extents takes, roughly."""
    storage = [*(view.shape for view in kernel.views), *(buffer.shape for buffer in program.workspace)]
    filled = sum(_FILLED * _count(shape, extents) for shape in storage)
    return filled + _Logical(extents).region(kernel.body, 1) + _physical(program, extents)


def _count(shape: Sequence[Extent], extents: Mapping[Atom, int]) -> int:
    total = 1
    for e in shape:
        total *= max(1, e.evaluate(extents)) if e.launch_visible else _UNKNOWN
    return total


class _Logical:
    """Nanoseconds for the logical side."""

    def __init__(self, extents: Mapping[Atom, int]) -> None:
        self.extents = extents
        self.known: dict[int, int] = {}

    def region(self, region: kir.Region, times: int) -> int:
        total = 0
        for op in region.ops:
            step = _ACCESS if isinstance(op, _ACCESSES) else _STEP
            total += times * (step + self._elements(op))
            if isinstance(op, kir.ExtentValue) and op.extent.launch_visible:
                self.known[op.result.id] = op.extent.evaluate(self.extents)
            elif isinstance(op, kir.Constant) and isinstance(op.value, int):
                self.known[op.result.id] = op.value
            for inner in regions_in(op):
                total += self.region(inner, times * self._passes(op))
        return total

    def _elements(self, op: kir.Op) -> int:
        if isinstance(op, kir.Store | kir.ScatterReduce | kir.Atomic):
            shapes = [v.shape for v in operands_of(op)]
            return _WRITTEN * _count(max(shapes, key=len, default=()), self.extents)
        here = sum(_count(value.shape, self.extents) for value in op.results)
        if isinstance(op, kir.Pointwise) and op.fn in SCRAMBLED:
            return here * _EXPENSIVE
        if isinstance(op, kir.Contract):
            return here + here * _count([op.lhs.shape[k] for k, _ in op.reduce], self.extents)
        return 3 * here

    def _passes(self, op: kir.Op) -> int:
        match op:
            case kir.For():
                begin, end = (self.known.get(v.id, 0) for v in (op.begin, op.end))
                return max(1, end - begin) if op.end.id in self.known else _UNKNOWN
            case kir.While():
                return _WHILE
            case kir.Reduce():
                return _count([op.operands[0].shape[k] for k in op.axes], self.extents).bit_length()
            case kir.Scan():
                return _count([op.operands[0].shape[op.axis]], self.extents).bit_length()
        return 1


def _physical(program: Program, extents: Mapping[Atom, int]) -> int:
    made = {r.id: op for op in operations(program) for r in op.results}

    def passes(op: object) -> int:
        if isinstance(op, Loop):
            end, step = made.get(op.end.id), made.get(op.step.id)
            size = max(1, int(step.value)) if isinstance(step, Constant) else 1
            if isinstance(end, LaunchValue):
                return -(-end.extent.evaluate(extents) // size)
            return -(-int(end.value) // size) if isinstance(end, Constant) else _UNKNOWN
        if isinstance(op, Reduce):
            return len(op.dims) * 8
        if isinstance(op, Scan):
            return op.dim.size.bit_length()
        return _WHILE if isinstance(op, While) else 1

    sizes = live_lanes(program, extents)

    def lanes(dims: Sequence[Dim]) -> int:
        total = 1
        for dim in dims:
            total *= sizes.get(dim, dim.size)
        return total

    def region(body: Region, times: int, instances: int) -> int:
        total = 0
        for op in body.ops:
            total += times * (_STEP + _each(op, lanes) * instances)
            for inner in regions_of(op):
                total += region(inner, times * passes(op), instances)
        return total

    return sum(region(s.body, 1, s.length.evaluate(extents)) for s in program.segments)


def _each(op: Op, lanes: Callable[[Sequence[Dim]], int]) -> int:
    """Nanoseconds for one instance, the step itself left out."""
    match op:
        case Store() | Atomic():
            return _WRITTEN * lanes(op.dims)
        case Contract():
            return lanes(tuple({*op.lhs.dims, *op.rhs.dims}))
        case Histogram():
            return 2 * lanes((*op.values.dims, op.bins))
    made = 2 * sum(lanes(r.dims) for r in op.results)
    return made * _EXPENSIVE if isinstance(op, Pointwise) and op.fn in SCRAMBLED else made
