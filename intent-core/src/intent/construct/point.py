"""What evaluation yields: a fragment with the members it rests on and its symbolic bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import add, mul

from intent import physical as ph
from intent.construct.facts import Facts
from intent.proof import Fact
from intent.types import DType, Extent
from intent.types.extent import const, maximum, minimum


@dataclass(frozen=True)
class Point:
    """``fragment`` evaluated at some coordinates.

    ``members``: the predicates under which the value is that of a logical member (padding lanes fail one).
    ``low``/``high``: inclusive symbolic bounds of an integer value, valid on members; None is unknown. ``rests``: the
    facts by which these are bounds.
    """

    fragment: ph.Fragment
    members: frozenset[ph.Fragment] = frozenset()
    low: Extent | None = None
    high: Extent | None = None
    rests: frozenset[Fact] = frozenset()

    @property
    def known(self) -> Extent | None:
        """What the value is on members, where its bounds say so."""
        return self.low if self.low is self.high else None

    @property
    def key(self) -> tuple[int, frozenset[int]]:
        """Identity for memoisation."""
        return self.fragment.id, frozenset(m.id for m in self.members)

    def under(self, members: frozenset[ph.Fragment]) -> Point:
        """The same value, resting on more predicates."""
        return replace(self, members=self.members | members)


def members_of(points: Iterable[Point]) -> frozenset[ph.Fragment]:
    """The predicates under which all of the points are those of logical members."""
    return frozenset(m for p in points for m in p.members)


def bounded(
    fn: str, fragment: ph.Fragment, members: frozenset[ph.Fragment], points: tuple[Point, ...], facts: Facts
) -> Point:
    """An integer pointwise result with bounds from its operands' bounds; with none where a narrow result may wrap."""
    facts.noted.clear()
    low, high = _exact_bounds(fn, points, facts)
    if (low is None and high is None) or not representable(fragment.dtype, low, high, facts):
        return Point(fragment, members)
    return Point(fragment, members, low, high, frozenset(facts.noted).union(*(p.rests for p in points)))


def representable(dtype: DType, low: Extent | None, high: Extent | None, facts: Facts) -> bool:
    """Whether every value within the bounds is one of the dtype. Signed 64 bits hold every index value."""
    if dtype.bits == 64 and dtype.minimum < 0:
        return True
    return facts.at_most(const(dtype.minimum), low) and facts.at_most(high, const(dtype.maximum))


def _exact_bounds(fn: str, points: tuple[Point, ...], facts: Facts) -> tuple[Extent | None, Extent | None]:
    if fn == "select":
        return _hull(points[1], points[2], facts)
    if fn == "neg":
        return _neg(points[0].high), _neg(points[0].low)
    if len(points) != 2:
        return None, None
    a, b = points
    if fn == "add":
        return _of(add, a.low, b.low), _of(add, a.high, b.high)
    if fn == "sub":
        return _of(add, a.low, _neg(b.high)), _of(add, a.high, _neg(b.low))
    if fn == "mul":
        return _product(a, b, facts)
    if fn in ("floordiv", "mod"):
        return _division(fn, a, b, facts)
    if fn == "and":
        return _bits(a, b, facts)
    if fn == "minimum":
        return _smaller(a.low, b.low, facts), _known(_smaller, a.high, b.high, facts)
    if fn == "maximum":
        return _known(_larger, a.low, b.low, facts), _larger(a.high, b.high, facts)
    return None, None


def _smaller(a: Extent | None, b: Extent | None, facts: Facts) -> Extent | None:
    """The smaller of two bounds, as an extent of its own where neither is provably it."""
    if a is None or b is None:
        return None
    return a if facts.at_most(a, b) else (b if facts.at_most(b, a) else minimum(a, b))


def _larger(a: Extent | None, b: Extent | None, facts: Facts) -> Extent | None:
    """The larger of two bounds, as an extent of its own where neither is provably it."""
    if a is None or b is None:
        return None
    return a if facts.at_most(b, a) else (b if facts.at_most(a, b) else maximum(a, b))


def _known(
    of: Callable[[Extent | None, Extent | None, Facts], Extent | None],
    a: Extent | None,
    b: Extent | None,
    facts: Facts,
) -> Extent | None:
    """``of`` two bounds either of which is a bound of the result."""
    return b if a is None else (a if b is None else of(a, b, facts))


def _hull(a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    return _smaller(a.low, b.low, facts), _larger(a.high, b.high, facts)


def _bits(a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    """``a & b`` has no bit that a non-negative operand has not."""
    tops = [p.high for p in (a, b) if p.high is not None and facts.nonnegative(p.low)]
    return (const(0), tops[0]) if tops else (None, None)


def _of(function: Callable[[Extent, Extent], Extent], a: Extent | None, b: Extent | None) -> Extent | None:
    return None if a is None or b is None else function(a, b)


def _neg(a: Extent | None) -> Extent | None:
    return None if a is None else -a


def _product(a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    if not (facts.nonnegative(a.low) and facts.nonnegative(b.low)):
        return None, None
    assert a.low is not None
    assert b.low is not None
    return a.low * b.low, _of(mul, a.high, b.high)


def _division(fn: str, a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    if not facts.nonnegative(b.known):
        return None, None
    divisor = b.known
    assert divisor is not None
    if fn == "mod":
        # The remainder of a positive divisor; an active member means that the divisor is at least 1.
        return const(0), divisor - 1
    low = const(0) if facts.nonnegative(a.low) else None
    return low, (None if a.high is None else a.high // divisor)
