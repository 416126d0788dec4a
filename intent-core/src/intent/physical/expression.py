"""Coordinates as expressions: the SSA definition of a value, written the way people write arithmetic.

``rows`` that is ``program * 4 + lane`` over lanes ``rows:4`` is defined as ``program * 4 + [0..3]`` and
called ``rows`` afterwards. Values that carry data (loops, reductions) are named, not expanded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from intent.physical.fragment import Fragment, Region
from intent.physical.ops import (
    Argument,
    Broadcast,
    Cast,
    Constant,
    Lane,
    LaunchValue,
    Load,
    Op,
    Pointwise,
    Rename,
)
from intent.physical.program import Program
from intent.physical.walk import regions_of
from intent.types import Extent

__all__ = ["Expressions"]

_INFIX: Final = {
    "add": ("+", 4), "sub": ("-", 4), "mul": ("*", 5), "floordiv": ("//", 5), "mod": ("%", 5),
    "lt": ("<", 3), "le": ("<=", 3), "gt": (">", 3), "ge": (">=", 3), "eq": ("==", 3), "ne": ("!=", 3),
    "and": ("and", 2), "or": ("or", 1),
}  # fmt: skip
_ATOM: Final = 9
_LONGEST: Final = 160


class Expressions:
    """Renders values of one program.

    ``names`` gives values without a name one. A named computation is called by its name; ``definitions`` holds what
    the names used so far stand for, in order of first use. The local id of a segment is called ``program``.
    """

    def __init__(self, program: Program, names: Mapping[int, str] | None = None) -> None:
        self._given = names or {}
        self.definitions: dict[str, str] = {}
        self._defined: dict[int, Op] = {}
        self._named: dict[int, str] = {}
        self._owner: dict[str, int] = {}
        self._inside = False
        for segment in program.segments:
            for argument in segment.body.args:
                self._named[argument.id] = "program"
            self._collect(segment.body)

    def _collect(self, region: Region) -> None:
        for op in region.ops:
            self._defined.update((result.id, op) for result in op.results)
            for inner in regions_of(op):
                self._collect(inner)
                for argument in inner.args:
                    self._named.setdefault(argument.id, self._unique(argument))

    def _unique(self, value: Fragment) -> str:
        """The value's name; a second value of that name carries its number."""
        name = value.name or self._given.get(value.id)
        if not name:
            return f"%{value.id}"
        owner = self._owner.setdefault(name, value.id)
        return name if owner == value.id else f"{name}{value.id}"

    def text(self, value: Fragment) -> str:
        """The expression of ``value``; a very long one is cut to its name."""
        text = self._render(value)[0]
        return text if len(text) <= _LONGEST else self._unique(value)

    def _render(self, value: Fragment) -> tuple[str, int]:
        """The text and how tightly its outermost operator binds."""
        if value.id in self._named:
            return self._named[value.id], _ATOM
        op = self._defined.get(value.id)
        if isinstance(op, Pointwise) and (value.name or value.id in self._given):
            name = self._named[value.id] = self._unique(value)
            outer, self._inside = self._inside, True
            self.definitions[name] = self._pointwise(op)[0]
            self._inside = outer
            return name, _ATOM
        match op:
            case Constant():
                return str(op.value), _ATOM
            case LaunchValue():
                return str(op.extent), _ATOM if _single(op.extent) else _INFIX["add"][1]
            case Argument():
                return op.parameter, _ATOM
            case Lane():
                return self._lane(op), _ATOM
            case Cast() | Broadcast():
                return self._render(op.value)
            case Rename():
                return f"{self._render(op.value)[0]} along {op.target.name}", _INFIX["or"][1]
            case Pointwise():
                return self._pointwise(op)
            case Load():
                inside = ", ".join(self._render(c)[0] for c in op.coordinates)
                return f"{op.source.name}[{inside}]", _ATOM
        return self._unique(value), _ATOM

    def _lane(self, op: Lane) -> str:
        """Inside a definition the range itself, elsewhere the dim's name."""
        lanes = f"[0..{op.dim.size - 1}]"
        if self._inside:
            return lanes
        name = self._unique(replace(op.result, name=op.dim.name))
        self.definitions[name] = lanes
        return name

    def _pointwise(self, op: Pointwise) -> tuple[str, int]:
        infix = _INFIX.get(op.fn)
        if infix is None or len(op.operands) != 2:
            return f"{op.fn}({', '.join(self._render(v)[0] for v in op.operands)})", _ATOM
        sign, strength = infix
        left, right = (self._render(v) for v in op.operands)
        lhs = left[0] if left[1] >= strength else f"({left[0]})"
        rhs = right[0] if right[1] > strength else f"({right[0]})"
        return f"{lhs} {sign} {rhs}", strength


def _single(extent: Extent) -> bool:
    """Whether an extent is one symbol, one number or one call: text that needs no parentheses."""
    if extent.const is not None:
        return True
    return len(extent.terms) == 1 and extent.terms[0][1] == 1 and len(extent.terms[0][0]) == 1
