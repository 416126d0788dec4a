"""Data as people write it: by the author's names, and what has no name in place where it is used once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from intent.physical import (
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    Fragment,
    Histogram,
    Load,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Rename,
    Segment,
    While,
)
from intent.physical.walk import operands_of, regions_of, walk

__all__ = ["Values"]

_INFIX: Final = {
    "or": ("or", 1), "and": ("and", 2), "lt": ("<", 3), "le": ("<=", 3), "gt": (">", 3), "ge": (">=", 3),
    "eq": ("==", 3), "ne": ("!=", 3), "add": ("+", 4), "sub": ("-", 4), "mul": ("*", 5), "div": ("/", 5),
}  # fmt: skip
_SUM: Final = 4
_PRODUCT: Final = 5
_SIGN: Final = 6
_ATOM: Final = 9
_LONGEST: Final = 90

Text = tuple[str, int]
"""A text and how tightly its outermost operator binds."""


def carried(loop: Loop | While) -> tuple[Fragment, ...]:
    """The carries inside a loop."""
    return loop.body.args[1:] if isinstance(loop, Loop) else loop.body.args


class Values:
    """Renders values of one segment. ``index`` renders coordinates and what is computed from them alone."""

    def __init__(self, segment: Segment, defined: Mapping[int, Op], index: Callable[[Fragment], str]) -> None:
        self._defined = defined
        self._index = index
        self._uses: Counter[int] = Counter()
        self._count(segment)
        self._carries: dict[int, str] = {}
        self._unnamed = 0
        self._next: set[int] = set()
        for op in walk(segment.body):
            if isinstance(op, (Loop, While)):
                self._name_carries(op)
        self._texts: dict[int, Text] = {}

    def _count(self, segment: Segment) -> None:
        self._uses.update(v.id for v in segment.body.yields)
        for op in walk(segment.body):
            self._uses.update(v.id for v in operands_of(op))
            self._uses.update(v.id for region in regions_of(op) for v in region.yields)

    def _name_carries(self, loop: Loop | While) -> None:
        """Carries, and the results that they become: by the author's names, told apart by number where these repeat."""
        carries = carried(loop)
        names = [value.name for value in carries]
        for k, (value, result) in enumerate(zip(carries, loop.results, strict=True)):
            if value.dtype.name == "index":
                continue  # a coordinate, which the index renderer names
            label = value.name if names.count(value.name) == 1 else f"{value.name}.{k}"
            if not value.name:
                self._unnamed += 1
                label = "carry" if self._unnamed == 1 else f"carry.{self._unnamed}"
            self._carries[value.id] = self._carries[result.id] = label
            after = loop.body.yields[k]
            if after.name == value.name and self._uses[after.id] == 1:
                self._next.add(after.id)

    def text(self, value: Fragment) -> str:
        """A value where it is used."""
        return self._used(value)[0]

    def updates(self, loop: Loop | While) -> Iterator[str]:
        """What every carry is after a pass."""
        for value, after in zip(carried(loop), loop.body.yields, strict=True):
            op = self._defined.get(after.id)
            if after.id in self._next and isinstance(op, Pointwise):
                yield f"{self.text(value)} ← {self._computed(op)[0]}"
            elif after.id != value.id:
                yield f"{self.text(value)} ← {self.text(after)}"

    def line(self, op: Pointwise) -> str | None:
        """``name = text`` for a value that stands on a line of its own, None for one that is shown where it is used."""
        value = op.result
        if value.id in self._next or self._of_coordinates(value) or self._masked(op) is not None:
            return None
        if not value.name and self._uses[value.id] < 2 and len(self._computed(op)[0]) <= _LONGEST:
            return None
        return f"{value.name or self._number(value)} = {self._computed(op)[0]}"

    # -- rendering -------------------------------------------------------------------------------------------------

    def _used(self, value: Fragment) -> Text:
        if value.id in self._carries:
            return self._carries[value.id], _ATOM
        if value.dtype.name == "index" or (value.dtype.name == "bool" and self._of_coordinates(value)):
            text = self._index(value)
            return text, _ATOM if text.isidentifier() or text.isdigit() else 0
        op = self._defined.get(value.id)
        if isinstance(op, Pointwise):
            inner = self._masked(op)
            if inner is not None:
                return self._used(inner)
        if value.name:
            return value.name, _ATOM
        match op:
            case Constant(value=number):
                return f"{number:.6g}" if isinstance(number, float) else str(number), _ATOM
            case Load(source=source):
                return source.name, _ATOM
            case Cast(value=inner) | Bitcast(value=inner) | Broadcast(value=inner) | Rename(value=inner):
                return self._used(inner)
            case Reduce(kind=str(kind), operands=(operand, *_)):
                return f"{kind}({self.text(operand)})", _ATOM
            case Contract(accumulator=before):
                product = self._infix("@", _PRODUCT, op.lhs, op.rhs)
                return product if before is None else (f"{self.text(before)} + {product[0]}", _SUM)
            case Histogram():
                return f"histogram({self.text(op.values)})", _ATOM
            case Pointwise() if self._uses[value.id] < 2:
                computed = self._computed(op)
                if len(computed[0]) <= _LONGEST:
                    return computed
        return self._number(value), _ATOM

    def _computed(self, op: Pointwise) -> Text:
        known = self._texts.get(op.result.id)
        if known is None:
            known = self._texts[op.result.id] = self._function(op)
        return known

    def _function(self, op: Pointwise) -> Text:
        if op.fn in _INFIX and len(op.operands) == 2:
            return self._infix(*_INFIX[op.fn], *op.operands)
        if op.fn == "neg":
            text, strength = self._used(op.operands[0])
            return (f"-{text}" if strength == _ATOM else f"-({text})"), _SIGN
        return f"{op.fn}({', '.join(map(self.text, op.operands))})", _ATOM

    def _infix(self, sign: str, strength: int, a: Fragment, b: Fragment) -> Text:
        left, right = self._used(a), self._used(b)
        lhs = left[0] if left[1] >= strength else f"({left[0]})"
        rhs = right[0] if right[1] > strength else f"({right[0]})"
        return f"{lhs} {sign} {rhs}", strength

    @staticmethod
    def _number(value: Fragment) -> str:
        return f"%{value.id}"

    # -- what is no data -------------------------------------------------------------------------------------------

    def _masked(self, op: Pointwise) -> Fragment | None:
        """The value that a select keeps where coordinates are inside, and replaces by a constant elsewhere."""
        if (
            op.fn != "select"
            or not self._of_coordinates(op.operands[0])
            or not self._constant(op.operands[2])
        ):
            return None
        inner = op.operands[1]
        return inner if op.result.name in ("", inner.name) else None

    def _of_coordinates(self, value: Fragment) -> bool:
        """Whether a value is a coordinate, or a test of coordinates and nothing else."""
        if value.id in self._carries:
            return False
        if value.dtype.name == "index":
            return True
        op = self._defined.get(value.id)
        match op:
            case Pointwise() if value.dtype.name == "bool":
                return all(self._of_coordinates(v) or self._constant(v) for v in op.operands)
            case Broadcast(value=inner) | Rename(value=inner):
                return self._of_coordinates(inner)
        return False

    def _constant(self, value: Fragment) -> bool:
        op = self._defined.get(value.id)
        return self._constant(op.value) if isinstance(op, (Broadcast, Cast)) else isinstance(op, Constant)
