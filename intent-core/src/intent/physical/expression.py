"""Coordinates as expressions: the SSA definition of a value, written the way people write arithmetic.

``%7`` that is ``base * 4 + lane`` over lanes ``rows:4`` reads ``(program // N) * 4 + rows``. Values that
carry data (loads, loops, reductions) are named, not expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.physical.fragment import Fragment, Region
from intent.physical.ops import (
    Argument,
    Atomic,
    Broadcast,
    Cast,
    Constant,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Rename,
    While,
)
from intent.physical.program import Program
from intent.physical.walk import regions_of

__all__ = ["Expressions"]

_INFIX: Final = {
    "add": ("+", 4), "sub": ("-", 4), "mul": ("*", 5), "floordiv": ("//", 5), "mod": ("%", 5),
    "lt": ("<", 3), "le": ("<=", 3), "gt": (">", 3), "ge": (">=", 3), "eq": ("==", 3), "ne": ("!=", 3),
    "and": ("and", 2), "or": ("or", 1),
}  # fmt: skip
_ATOM: Final = 9
_LONGEST: Final = 160


class Expressions:
    """Renders values of one program. Loop variables are called by their names, the local id ``program``."""

    def __init__(self, program: Program) -> None:
        self._defined: dict[int, Op] = {}
        self._named: dict[int, str] = {}
        for segment in program.segments:
            for argument in segment.body.args:
                self._named[argument.id] = "program"
            self._collect(segment.body)

    def _collect(self, region: Region) -> None:
        for op in region.ops:
            self._defined.update((result.id, op) for result in op.results)
            for inner in regions_of(op):
                self._collect(inner)
            for argument in _arguments(op):
                self._named.setdefault(argument.id, argument.name or f"%{argument.id}")

    def text(self, value: Fragment) -> str:
        """The expression of ``value``; a very long one is cut to its name."""
        text = self._render(value)[0]
        return text if len(text) <= _LONGEST else (value.name or f"%{value.id}")

    def _render(self, value: Fragment) -> tuple[str, int]:
        """The text and how tightly its outermost operator binds."""
        if value.id in self._named:
            return self._named[value.id], _ATOM
        op = self._defined.get(value.id)
        match op:
            case Constant():
                return str(op.value), _ATOM
            case LaunchValue():
                text = str(op.extent)
                return text, _ATOM if text.isidentifier() or text.isdigit() else 4
            case Argument():
                return op.parameter, _ATOM
            case Lane():
                return op.dim.name, _ATOM
            case Cast() | Broadcast():
                return self._render(op.value)
            case Rename():
                return f"{self._render(op.value)[0]}[{op.source.name} as {op.target.name}]", _ATOM
            case Pointwise():
                return self._pointwise(op)
            case Load():
                inside = ", ".join(self._render(c)[0] for c in op.coordinates)
                return f"{op.source.name}[{inside}]", _ATOM
        return value.name or f"%{value.id}", _ATOM

    def _pointwise(self, op: Pointwise) -> tuple[str, int]:
        infix = _INFIX.get(op.fn)
        if infix is None or len(op.operands) != 2:
            return f"{op.fn}({', '.join(self._render(v)[0] for v in op.operands)})", _ATOM
        sign, strength = infix
        left, right = (self._render(v) for v in op.operands)
        lhs = left[0] if left[1] >= strength else f"({left[0]})"
        rhs = right[0] if right[1] > strength else f"({right[0]})"
        return f"{lhs} {sign} {rhs}", strength


def _arguments(op: Op) -> Iterator[Fragment]:
    if isinstance(op, (Loop, While)):
        yield from op.body.args
    if isinstance(op, Atomic):
        yield from op.results
