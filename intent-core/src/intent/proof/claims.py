"""Claims about integers: what can be asked of :func:`intent.proof.prove`, and what can be a fact.

A claim is built from extents. Their atoms are symbols (never negative), scalars, run-time values and variables; a
claim holds when it is true for every value of them that the facts allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intent.types import Extent
from intent.types.extent import Atom, as_extent, const


@dataclass(frozen=True)
class AtLeast:
    """``lhs >= rhs``."""

    lhs: Extent
    rhs: Extent

    def __str__(self) -> str:
        return f"{self.lhs} >= {self.rhs}"


@dataclass(frozen=True)
class Equal:
    """``lhs == rhs``."""

    lhs: Extent
    rhs: Extent

    def __str__(self) -> str:
        return f"{self.lhs} == {self.rhs}"


@dataclass(frozen=True)
class Every:
    """Every claim of ``of``; true when there is none."""

    of: tuple[Claim, ...]

    def __str__(self) -> str:
        return " and ".join(_within(c, Every) for c in self.of) or "true"


@dataclass(frozen=True)
class Some:
    """Some claim of ``of``; false when there is none."""

    of: tuple[Claim, ...]

    def __str__(self) -> str:
        return " or ".join(_within(c, Some) for c in self.of) or "false"


Claim = AtLeast | Equal | Every | Some


def _within(claim: Claim, kind: type[Every | Some]) -> str:
    return f"({claim})" if isinstance(claim, Every | Some) and not isinstance(claim, kind) else str(claim)


def at_least(lhs: Extent | int, rhs: Extent | int) -> AtLeast:
    """``lhs >= rhs``."""
    return AtLeast(as_extent(lhs), as_extent(rhs))


def less(lhs: Extent | int, rhs: Extent | int) -> AtLeast:
    """``lhs < rhs``, written ``rhs >= lhs + 1``."""
    return AtLeast(as_extent(rhs), as_extent(lhs) + 1)


def equal(lhs: Extent | int, rhs: Extent | int) -> Equal:
    """``lhs == rhs``."""
    return Equal(as_extent(lhs), as_extent(rhs))


def both(*claims: Claim) -> Claim:
    """Every of the claims."""
    return claims[0] if len(claims) == 1 else Every(claims)


def either(*claims: Claim) -> Claim:
    """One of the claims."""
    return claims[0] if len(claims) == 1 else Some(claims)


def within(value: Extent, extent: Extent | int) -> Claim:
    """``0 <= value < extent``: the value is a coordinate of an axis of that extent."""
    return Every((AtLeast(value, const(0)), less(value, extent)))


def fits(value: Extent, bits: int) -> Claim:
    """``value`` is representable as a signed integer of so many bits."""
    top = 1 << (bits - 1)
    return Every((AtLeast(value, const(-top)), AtLeast(const(top - 1), value)))


def negation(claim: Claim) -> Claim:
    """The claim that is true exactly where ``claim`` is false."""
    match claim:
        case AtLeast(lhs, rhs):
            return AtLeast(rhs, lhs + 1)
        case Equal(lhs, rhs):
            return Some((AtLeast(lhs, rhs + 1), AtLeast(rhs, lhs + 1)))
        case Every(of):
            return Some(tuple(map(negation, of)))
        case Some(of):
            return Every(tuple(map(negation, of)))


def holds(claim: Claim, values: Mapping[Atom, int]) -> bool:
    """The claim's truth for one value of every atom. Raises KeyError for a missing one, ZeroDivisionError."""
    match claim:
        case AtLeast(lhs, rhs):
            return lhs.evaluate(values) >= rhs.evaluate(values)
        case Equal(lhs, rhs):
            return lhs.evaluate(values) == rhs.evaluate(values)
        case Every(of):
            return all(holds(c, values) for c in of)
        case Some(of):
            return any(holds(c, values) for c in of)


def extents_of(claim: Claim) -> tuple[Extent, ...]:
    """Every extent that the claim mentions."""
    if isinstance(claim, AtLeast | Equal):
        return claim.lhs, claim.rhs
    return tuple(e for c in claim.of for e in extents_of(c))


def substituted(claim: Claim, values: Mapping[Atom, Extent]) -> Claim:
    """The claim with atoms replaced."""
    match claim:
        case AtLeast(lhs, rhs):
            return AtLeast(lhs.substitute(values), rhs.substitute(values))
        case Equal(lhs, rhs):
            return Equal(lhs.substitute(values), rhs.substitute(values))
        case Every(of):
            return Every(tuple(substituted(c, values) for c in of))
        case Some(of):
            return Some(tuple(substituted(c, values) for c in of))
