"""Element formats of microscaled data (spec: logical-program 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from intent import kir


@dataclass(frozen=True)
class Small:
    """An element format: width, significand bits without the leading one, exponent bias, elements in one item."""

    bits: int
    significand: int
    bias: int
    per_item: int
    has_nan: bool


FORMATS: Final = {"e2m1": Small(4, 1, 1, 2, has_nan=False), "e4m3": Small(8, 3, 7, 1, has_nan=True)}


def element_axis(op: kir.ScaledContract) -> tuple[int, int]:
    """The axis that names the elements of a group: that of a side with one element in an item, if there is one."""
    return (op.lhs.id, 2) if FORMATS[op.lhs_format].per_item == 1 else (op.rhs.id, 1)
