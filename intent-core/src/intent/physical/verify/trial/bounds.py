"""What is known of index values when the extents are: their value, or the most that they can be."""

from __future__ import annotations

from collections.abc import Mapping

from intent.physical.ops import Constant, LaunchValue, Loop, Op, Pointwise
from intent.types.dtypes import INDEX
from intent.types.extent import Atom

__all__ = ["Bounds"]


class Bounds:
    """Known values and upper bounds, by value id, of the operations seen so far."""

    def __init__(self, extents: Mapping[Atom, int]) -> None:
        self.extents = extents
        self.known: dict[int, int] = {}
        self.most: dict[int, int] = {}

    def never(self, loop: Loop) -> bool:
        """Whether the loop makes no pass."""
        begin, end = self.known.get(loop.begin.id), self.most.get(loop.end.id)
        return begin is not None and end is not None and begin >= end

    def see(self, op: Op) -> None:
        """Take note of an operation."""
        match op:
            case Constant() if op.result.dtype is INDEX:
                self.known[op.result.id] = self.most[op.result.id] = int(op.value)
            case LaunchValue():
                self.known[op.result.id] = self.most[op.result.id] = op.extent.evaluate(self.extents)
            case Pointwise() if op.result.dtype is INDEX and len(op.operands) == 2:
                self._computed(op)

    def _computed(self, op: Pointwise) -> None:
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
