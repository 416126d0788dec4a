"""Emitted expressions: text, how tightly it binds, and over which dims it varies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from intent.physical import Dim
from intent.provider.emission import Width
from intent.types import DType


class Prec(IntEnum):
    """Binding strength of C++'s operators, weakest first."""

    TERNARY = 0
    OR_ELSE = 10
    AND_ALSO = 20
    BITOR = 30
    BITXOR = 40
    BITAND = 50
    EQUAL = 60
    COMPARE = 70
    SHIFT = 80
    SUM = 90
    PRODUCT = 100
    UNARY = 110
    ATOM = 120


@dataclass(frozen=True, kw_only=True)
class Value:
    """One fragment as the text of one element.

    The text reads the register counters of ``dims`` (those of its table), and variables by :func:`mention`, whose ids
    are ``refs``. ``literal``: a plain number. ``width``: integer type of an index-typed value.
    """

    text: str
    prec: Prec
    dtype: DType
    dims: tuple[Dim, ...] = ()
    literal: bool = False
    width: Width = Width.LONG
    refs: frozenset[int] = frozenset()

    def at(self, prec: Prec) -> str:
        """The text, in parentheses where an operator of strength ``prec`` would tear it apart."""
        return self.text if self.prec >= prec else f"({self.text})"

    @property
    def atom(self) -> str:
        return self.at(Prec.ATOM)


def mention(variable: int) -> str:
    """What stands in a text for the variable of that id until the loop around the text is known."""
    return f"\x01{variable}\x02"


def union_dims(order: Sequence[Dim], values: Iterable[Value]) -> tuple[Dim, ...]:
    """The dims that any value has, in the order of ``order``."""
    present = {d for v in values for d in v.dims}
    return tuple(d for d in order if d in present)


def union_refs(values: Iterable[Value]) -> frozenset[int]:
    """The variables that any value reads."""
    return frozenset().union(*(v.refs for v in values))
