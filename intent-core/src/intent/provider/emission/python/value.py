"""Emitted expressions: text, precedence, and the lane dims that the block of values really has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from intent.physical import Dim
from intent.provider.emission.bounds import INT32_MAX, INT32_MIN
from intent.provider.emission.width import Width
from intent.types import DType
from intent.types.dtypes import INDEX

__all__ = ["Prec", "Value", "expanded", "index_literal", "shape_text", "union_dims"]


class Prec(IntEnum):
    """Binding strength of Python's operators, weakest first."""

    OR_ELSE = 0
    COMPARE = 10
    BITOR = 20
    BITXOR = 30
    BITAND = 40
    SHIFT = 50
    SUM = 60
    PRODUCT = 70
    UNARY = 80
    ATOM = 100


@dataclass(frozen=True, kw_only=True)
class Value:
    """One fragment as Python text.

    ``dims`` are those of the emitted block: a subset of the fragment's dims, because broadcasts stay implicit until
    an operation needs the full shape. ``literal``: a bare Python number, typed by the other operand. ``refs``: names
    of reassigned variables (loop carries) that the text reads. ``width``: integer type of an index-typed value.
    """

    text: str
    prec: Prec
    dtype: DType
    dims: tuple[Dim, ...] = ()
    literal: bool = False
    width: Width = Width.LONG
    refs: frozenset[str] = frozenset()

    def at(self, prec: Prec) -> str:
        """The text, in parentheses where an operator of strength ``prec`` would tear it apart."""
        return self.text if self.prec >= prec else f"({self.text})"

    @property
    def atom(self) -> str:
        return self.at(Prec.ATOM)


def index_literal(number: int) -> Value:
    """A bare integer that stands for an index value."""
    width = Width.SMALL if INT32_MIN <= number <= INT32_MAX else Width.LONG
    prec = Prec.ATOM if number >= 0 else Prec.UNARY
    return Value(text=str(number), prec=prec, dtype=INDEX, literal=True, width=width)


def union_dims(order: Sequence[Dim], values: Iterable[Value]) -> tuple[Dim, ...]:
    """The dims that any value has, in the order of ``order``."""
    present = {d for v in values for d in v.dims}
    return tuple(d for d in order if d in present)


def expanded(value: Value, dims: Sequence[Dim]) -> Value:
    """``value`` with unit axes inserted for the dims it lacks, so that it broadcasts against ``dims``."""
    if not value.dims or value.dims == tuple(dims):
        return value
    axes = ", ".join(":" if d in value.dims else "None" for d in dims)
    return replace(value, text=f"{value.atom}[{axes}]", prec=Prec.ATOM, dims=tuple(dims))


def shape_text(dims: Sequence[Dim]) -> str:
    """The shape of ``dims`` as a tuple's text."""
    return "(" + ", ".join(str(d.size) for d in dims) + ("," if len(dims) == 1 else "") + ")"
