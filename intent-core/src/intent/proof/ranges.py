"""Half-open ranges of integers, and the claims that narrowing and separating them needs."""

from __future__ import annotations

from dataclasses import dataclass

from intent.proof.claims import AtLeast, Claim, Every, Some, less
from intent.types import Extent
from intent.types.extent import Var


@dataclass(frozen=True)
class Range:
    """``[begin, end)``; empty where ``end <= begin``."""

    begin: Extent
    end: Extent

    def __str__(self) -> str:
        return f"[{self.begin}, {self.end})"

    def holds(self, value: Extent) -> Claim:
        """``value`` is a member."""
        return Every((AtLeast(value, self.begin), less(value, self.end)))


def subset(inner: Range, outer: Range) -> Claim:
    """Every member of ``inner`` is one of ``outer``."""
    inside = Every((AtLeast(inner.begin, outer.begin), AtLeast(outer.end, inner.end)))
    return Some((inside, AtLeast(inner.begin, inner.end)))


def disjoint(one: Range, other: Range) -> Claim:
    """No member is in both ranges."""
    apart = (AtLeast(other.begin, one.end), AtLeast(one.begin, other.end))
    empty = (AtLeast(one.begin, one.end), AtLeast(other.begin, other.end))
    return Some((*apart, *empty))


def member(name: str, of: Range) -> tuple[Extent, Claim]:
    """A fresh variable and the fact that it is a member of the range."""
    value = Extent((((Var(name),), 1),))
    return value, of.holds(value)
