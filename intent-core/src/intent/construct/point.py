"""What evaluation yields: a fragment with the members it rests on and its symbolic bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from intent import physical as ph
from intent.types import Extent
from intent.types.extent import Atom, Call, Dyn, Symbol, const


@dataclass(frozen=True)
class Point:
    """``fragment`` evaluated at some coordinates.

    ``members``: the predicates under which the value is that of a logical member (padding lanes fail one).
    ``low``/``high``: inclusive symbolic bounds of an integer value, valid on members; None is unknown.
    """

    fragment: ph.Fragment
    members: frozenset[ph.Fragment] = frozenset()
    low: Extent | None = None
    high: Extent | None = None

    @property
    def key(self) -> tuple[int, frozenset[int]]:
        """Identity for memoisation."""
        return self.fragment.id, frozenset(m.id for m in self.members)

    def under(self, members: frozenset[ph.Fragment]) -> Point:
        """The same value, resting on more predicates."""
        return replace(self, members=self.members | members)


class Facts:
    """Launch-visible extent facts: each listed extent is known to be non-negative."""

    def __init__(self, known: tuple[Extent, ...] = ()) -> None:
        self.known = known
        self.dyn: dict[int, tuple[Extent | None, Extent | None]] = {}

    def nonnegative(self, e: Extent | None) -> bool:
        """Whether ``e >= 0`` follows from symbols being non-negative and the known facts."""
        if e is None:
            return False
        return self._nonnegative(self._resolve(e)) or any(
            self._nonnegative(self._resolve(e - k)) for k in self.known
        )

    def at_most(self, low: Extent | None, high: Extent | None) -> bool:
        """Whether ``low <= high``."""
        return low is not None and high is not None and self.nonnegative(high - low)

    def _resolve(self, e: Extent) -> Extent:
        """Replace run-time values by their bounds in the direction that can only make ``e`` smaller."""
        for _ in range(8):
            changed = False
            for monomial, k in e.terms:
                for atom in monomial:
                    if not (isinstance(atom, Dyn) and atom.value in self.dyn and len(monomial) == 1):
                        continue
                    low, high = self.dyn[atom.value]
                    bound = low if k > 0 else high
                    if bound is not None:
                        e = e.substitute({atom: bound})
                        changed = True
                        break
                if changed:
                    break
            if not changed:
                break
        return e

    def _nonnegative(self, e: Extent) -> bool:
        return all(k >= 0 and all(_natural(a, self) for a in m) for m, k in e.terms)


def _natural(atom: Atom, facts: Facts) -> bool:
    if isinstance(atom, Symbol):
        return True
    if isinstance(atom, Call):
        if atom.op == "max":
            return any(facts.nonnegative(a) for a in atom.args)
        if atom.op == "mod":
            return True
        return all(facts.nonnegative(a) for a in atom.args)
    if isinstance(atom, Dyn):
        return facts.nonnegative(facts.dyn.get(atom.value, (None, None))[0])
    return False


def pointwise_bounds(fn: str, points: tuple[Point, ...], facts: Facts) -> tuple[Extent | None, Extent | None]:
    """Bounds of an integer pointwise result from its operands' bounds."""
    if fn == "select":
        return _hull(points[1], points[2], facts)
    if len(points) != 2:
        return None, None
    a, b = points
    if fn == "add":
        return _plus(a.low, b.low), _plus(a.high, b.high)
    if fn == "sub":
        return _plus(a.low, _neg(b.high)), _plus(a.high, _neg(b.low))
    if fn == "mul":
        return _product(a, b, facts)
    if fn in ("floordiv", "mod"):
        return _division(fn, a, b, facts)
    if fn == "minimum" and a.high is not None and b.high is not None:
        least = a.high if facts.at_most(a.high, b.high) else b.high
        return _smaller(a.low, b.low, facts), least
    if fn == "maximum" and a.low is not None and b.low is not None:
        most = a.low if facts.at_most(b.low, a.low) else b.low
        return most, _larger(a.high, b.high, facts)
    return None, None


def _smaller(a: Extent | None, b: Extent | None, facts: Facts) -> Extent | None:
    """The provably smaller of two bounds."""
    return a if facts.at_most(a, b) else (b if facts.at_most(b, a) else None)


def _larger(a: Extent | None, b: Extent | None, facts: Facts) -> Extent | None:
    """The provably larger of two bounds."""
    return a if facts.at_most(b, a) else (b if facts.at_most(a, b) else None)


def _hull(a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    return _smaller(a.low, b.low, facts), _larger(a.high, b.high, facts)


def _plus(a: Extent | None, b: Extent | None) -> Extent | None:
    return None if a is None or b is None else a + b


def _neg(a: Extent | None) -> Extent | None:
    return None if a is None else -a


def _product(a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    if not (facts.nonnegative(a.low) and facts.nonnegative(b.low)):
        return None, None
    assert a.low is not None
    assert b.low is not None
    high = None if a.high is None or b.high is None else a.high * b.high
    return a.low * b.low, high


def _division(fn: str, a: Point, b: Point, facts: Facts) -> tuple[Extent | None, Extent | None]:
    divisor = b.low if b.low is not None and b.low is b.high else None
    if divisor is None or not facts.nonnegative(divisor):
        return None, None
    if fn == "mod":
        # The remainder of a positive divisor; an active member means that the divisor is at least 1.
        return const(0), divisor - 1
    low = const(0) if facts.nonnegative(a.low) else None
    return low, (None if a.high is None else a.high // divisor)
