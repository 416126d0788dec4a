"""How many lanes of a dim a trial has to compute: those that are members, and two that are not.

At small extents most lanes of a block are padding. Padding lanes are all alike, so two of them show what any of them
would do wrong, as long as every coordinate along the dim is tested against its extent and the block is the only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intent.physical.fragment import Buffer, Dim, Fragment, Region, View
from intent.physical.ops import Atomic, Constant, Lane, LaunchValue, Load, Loop, Pointwise, Rename, Store
from intent.physical.program import Program
from intent.physical.walk import operands_of, regions_of
from intent.types.dtypes import INDEX
from intent.types.extent import Atom

__all__ = ["live_lanes"]

_PADDING: Final = 2
_ORDER: Final = frozenset({"lt", "le", "gt", "ge"})


class _Uses:
    """What is known of index values, and how the lanes of every dim are used in code that runs."""

    def __init__(self, program: Program, extents: Mapping[Atom, int]) -> None:
        self.extents = extents
        self.known: dict[int, int] = {}
        self.most: dict[int, int] = {}
        self.lanes: dict[int, Dim] = {}
        self.tested: dict[int, int] = {}
        self.reached: dict[int, int] = {}
        """The longest axis that a coordinate indexes: a test against less is the author's, not of its extent."""
        self.used: set[int] = set()
        self.whole: set[Dim] = set()
        self.renamed: list[tuple[Dim, Dim]] = []
        for segment in program.segments:
            self._region(segment.body)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if isinstance(op, Load | Store | Atomic):
                self._access(op)
            match op:
                case Constant() if op.result.dtype is INDEX:
                    self.known[op.result.id] = self.most[op.result.id] = int(op.value)
                case LaunchValue():
                    self.known[op.result.id] = self.most[op.result.id] = op.extent.evaluate(self.extents)
                case Lane():
                    self.lanes[op.result.id] = op.dim
                case Pointwise():
                    self._pointwise(op)
                case Rename():
                    self.renamed.append((op.source, op.target))
                case Loop() if self._never(op):
                    continue
                case Load() | Store() if isinstance(op.source if isinstance(op, Load) else op.target, Buffer):
                    # An owner's lanes in storage of its own are inside whatever they are.
                    kept = set(operands_of(op)) - set(op.coordinates)
                    self.used |= {v.id for v in (*kept, *(c for c in op.coordinates if c.id in self.tested))}
                case _:
                    self.used |= {v.id for v in operands_of(op)}
            for inner in regions_of(op):
                self._region(inner)
                self.used |= {v.id for v in inner.yields}

    def _access(self, op: Load | Store | Atomic) -> None:
        resource = op.source if isinstance(op, Load) else op.target
        for coordinate, extent in zip(op.coordinates, resource.shape, strict=True):
            if isinstance(resource, View):
                axis = extent.evaluate(self.extents)
                self.reached[coordinate.id] = max(axis, self.reached.get(coordinate.id, 0))

    def is_tested(self, value: int) -> bool:
        """Whether the lanes are tested against their extent, as far as accesses tell."""
        return value in self.reached and self.tested.get(value, -1) >= self.reached[value]

    def _never(self, loop: Loop) -> bool:
        begin, end = self.known.get(loop.begin.id), self.most.get(loop.end.id)
        return begin is not None and end is not None and begin >= end

    def _pointwise(self, op: Pointwise) -> None:
        if op.result.dtype is INDEX and len(op.operands) == 2:
            self._bound(op)
        along = [self.lanes[v.id] for v in op.operands if v.id in self.lanes]
        if not along:
            self.used |= {v.id for v in op.operands}
            return
        (coordinate, other) = _sides(op, self.lanes)
        if op.fn == "lt" and other is not None and other.id in self.known and op.operands[0] == coordinate:
            before = self.tested.get(coordinate.id, 0)
            self.tested[coordinate.id] = max(before, self.known[other.id])
        elif op.fn == "add" and other is not None:
            self.lanes[op.result.id] = self.lanes[coordinate.id]
        elif op.fn == "eq" and other is not None and other.id in self.known:
            self.whole.add(self.lanes[coordinate.id])
        else:
            self.used |= {v.id for v in op.operands}

    def _bound(self, op: Pointwise) -> None:
        """The value of an index computation, or the most that it can be."""
        a, b = (self.known.get(v.id) for v in op.operands)
        if a is not None and b is not None and (found := _folded(op.fn, a, b)) is not None:
            self.known[op.result.id] = self.most[op.result.id] = found
            return
        above = [self.most[v.id] for v in op.operands if v.id in self.most]
        if op.fn == "minimum" and above:
            self.most[op.result.id] = min(above)
        elif op.fn in ("add", "maximum") and len(above) == 2:
            self.most[op.result.id] = max(above) if op.fn == "maximum" else sum(above)
        elif op.fn == "sub" and b is not None and op.operands[0].id in self.most:
            self.most[op.result.id] = self.most[op.operands[0].id] - b
        elif op.fn in ("mul", "floordiv") and b is not None and b > 0 and op.operands[0].id in self.most:
            top = self.most[op.operands[0].id]
            self.most[op.result.id] = top * b if op.fn == "mul" else top // b


def _sides(op: Pointwise, lanes: Mapping[int, Dim]) -> tuple[Fragment, Fragment | None]:
    """The operand that runs over a lane, and the other one if there is just one and it does not."""
    inside = [v for v in op.operands if v.id in lanes]
    outside = [v for v in op.operands if v.id not in lanes]
    return inside[0], outside[0] if len(inside) == 1 and len(outside) == 1 else None


def _folded(fn: str, a: int, b: int) -> int | None:
    match fn:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "floordiv" if b:
            return a // b
        case "minimum":
            return min(a, b)
        case "maximum":
            return max(a, b)
    return None


def live_lanes(program: Program, extents: Mapping[Atom, int]) -> dict[Dim, int]:
    """The number of lanes to compute per dim, at most its size."""
    uses = _Uses(program, extents)
    found: dict[Dim, int] = {}
    for value, dim in uses.lanes.items():
        if dim in uses.whole or (value in uses.used | uses.tested.keys() and not uses.is_tested(value)):
            found[dim] = dim.size
        elif value in uses.tested:
            found[dim] = max(found.get(dim, 0), uses.tested[value] + _PADDING)
    sizes = {dim: min(dim.size, found.get(dim, dim.size)) for dim in program.dims}
    changed = True
    while changed:
        changed = False
        for a, b in uses.renamed:
            if sizes[a] != sizes[b]:
                sizes[a] = sizes[b] = max(sizes[a], sizes[b])
                changed = True
    return sizes
