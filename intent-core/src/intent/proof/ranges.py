"""Half-open ranges of integers, and the claims that narrowing and separating them needs."""

from __future__ import annotations

from dataclasses import dataclass

from intent.proof.claims import AtLeast, Claim, Every, Some
from intent.types import Extent


@dataclass(frozen=True)
class Range:
    """``[begin, end)``; empty where ``end <= begin``."""

    begin: Extent
    end: Extent

    def __str__(self) -> str:
        return f"[{self.begin}, {self.end})"


def subset(inner: Range, outer: Range) -> Claim:
    """Every member of ``inner`` is one of ``outer``."""
    inside = Every((AtLeast(inner.begin, outer.begin), AtLeast(outer.end, inner.end)))
    return Some((inside, AtLeast(inner.begin, inner.end)))


def disjoint(one: Range, other: Range) -> Claim:
    """No member is in both ranges."""
    apart = (AtLeast(other.begin, one.end), AtLeast(one.begin, other.end))
    empty = (AtLeast(one.begin, one.end), AtLeast(other.begin, other.end))
    return Some((*apart, *empty))
