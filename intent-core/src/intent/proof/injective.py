"""Whether different points reach different elements (spec: logical-program 9, "provably injective destination").

Coordinates are expressions over the positions along some axes. They determine a position by structural rules, by
facts about the extents, and last by the solver:

* an affine coordinate ``k*a + c`` (constant k != 0) determines a;
* ``t`` is determined by ``t // m`` and ``t % m``, so digits ``e//(a*b), e%(a*b)//b, e%b`` determine e;
* ``i*S + j`` determines i and j where S is at least the number of values of j, and so on for more axes;
* a position in one of several windows that do not overlap determines the window.

Positions that are determined help with the rest. What is not shown is searched for a collision, with numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

from intent.proof.claims import AtLeast, Equal, Every, at_least
from intent.proof.collide import Collision, collision
from intent.proof.decide import prove
from intent.proof.digits import quotient, remainder
from intent.proof.facts import Fact, Facts
from intent.proof.memo import Memo
from intent.proof.outcome import Proved, Unknown
from intent.proof.points import Axis, Distinct
from intent.types import Extent
from intent.types.extent import Atom, Call, Var, const

__all__ = ["injective"]

DESTINATIONS: Memo[Proved | Collision | Unknown] = Memo()
"""The latest answers of this process about destinations."""
_MOST = 4
"""Axes of one flattened coordinate whose orders are tried."""


def injective(
    claim: Distinct, facts: Facts | None = None, *, solver: bool = True
) -> Proved | Collision | Unknown:
    """Whether points that differ in one of ``claim.apart`` reach different elements.

    ``Proved`` names the facts; ``Collision`` is two points of a legal launch that reach one element.
    """
    known = Facts() if facts is None else facts
    # Answers hold their facts with the reasons, so the reasons are part of the question.
    reasons = tuple(f.because for f in (*known, *(fact for _, fact in claim.implied)))
    return DESTINATIONS.answer(
        (claim, known.known, reasons, solver), lambda: _decide(claim, known, solver=solver)
    )


def _decide(claim: Distinct, known: Facts, *, solver: bool) -> Proved | Collision | Unknown:
    used = _Rules(claim, known).run()
    if used is not None:
        return Proved(claim=claim, facts=used, method="polynomial")
    if claim.by_data:
        return Unknown(claim=claim, why="data decides where points go")
    found = collision(claim, known)
    if found is not None:
        return found
    return _by_solver(claim, known) if solver else Unknown(claim=claim, why="no rule reaches it")


@dataclass
class _Rules:
    """The structural rules; ``open`` are the axes whose position is not determined yet."""

    claim: Distinct
    facts: Facts

    def __post_init__(self) -> None:
        self.open: dict[Atom, Axis] = {a.atom: a for a in self.claim.axes if (a.high - a.low).const != 0}
        self.used: dict[Fact, None] = {}
        # Two points exist, so no axis is empty.
        for axis in self.open.values():
            self.facts = self.facts.given(at_least(axis.high, axis.low), f"{axis.name} has members")

    def run(self) -> tuple[Fact, ...] | None:
        """The facts used, if every position that matters is determined."""
        wanted = {axis.atom for axis in self.claim.apart}
        progress = True
        while wanted & self.open.keys() and progress:
            progress = self._digits() or self._strides() or self._windows()
        return None if wanted & self.open.keys() else tuple(self.used)

    def _digits(self) -> bool:
        for atom in list(self.open):
            others = self.open.keys() - {atom}
            usable = [e for e in self._usable(atom) if not any(a in others for a in e.atoms())]
            if _fixes(usable, atom):
                del self.open[atom]
                return True
        for expression, fact in self.claim.implied:
            for atom in list(self.open):
                if _fixes([expression], atom) and not any(
                    a in self.open.keys() - {atom} for a in expression.atoms()
                ):
                    del self.open[atom]
                    self.used[fact] = None
                    return True
        return False

    def _usable(self, atom: Atom | None = None) -> list[Extent]:
        """The coordinates that are functions of the positions: the same values wherever the known positions are."""
        known = not any(axis.atom in self.open and axis.atom != atom for axis in self.claim.moving)
        settled = known and atom not in {axis.atom for axis in self.claim.moving}
        return [
            e
            for e in self.claim.coordinates
            if settled or not any(a in self.claim.varying for a in e.atoms())
        ]

    def _strides(self) -> bool:
        for expression in self._usable():
            solved = self._radix(expression)
            if solved is not None:
                for atom in solved:
                    del self.open[atom]
                return True
        return False

    def _windows(self) -> bool:
        """A position inside ``[s*b + c, s*b + c + s)`` determines b: the windows of different b do not overlap."""
        for axis in self.claim.axes:
            strides = _linear(axis.low, self.open.keys()) if axis.atom not in self.open else None
            if not strides or len(strides) != 1 or axis.shown is not None:
                continue
            ((atom, stride),) = strides.items()
            claim = Every((AtLeast(stride, const(1)), AtLeast(axis.low + stride - 1, axis.high)))
            outcome = prove(claim, self.facts, solver=False)
            if isinstance(outcome, Proved):
                self.used.update(dict.fromkeys(outcome.facts))
                del self.open[atom]
                return True
        return False

    def _radix(self, expression: Extent) -> list[Atom] | None:
        """Axes fixed by one linear coordinate each of whose strides exceeds what the smaller ones add up to."""
        strides = _linear(expression, self.open.keys())
        if not strides or len(strides) > _MOST:
            return None
        for order in permutations(strides):
            used = self._increasing(order, strides)
            if used is not None:
                self.used.update(dict.fromkeys(used))
                return list(order)
        return None

    def _increasing(self, order: tuple[Atom, ...], strides: dict[Atom, Extent]) -> tuple[Fact, ...] | None:
        """The facts by which each stride, in this order, exceeds all that the axes before it add up to."""
        reach, used = const(0), tuple[Fact, ...]()
        for atom in order:
            axis = self.open[atom]
            for stride in (strides[atom], -strides[atom]):
                outcome = prove(AtLeast(stride, reach + 1), self.facts, solver=False)
                if isinstance(outcome, Proved):
                    reach += stride * (axis.high - axis.low)
                    used += outcome.facts
                    break
            else:
                return None
        return used


def _fixes(found: Iterable[Extent], unknown: Atom) -> bool:
    """Whether expressions in one unknown determine it."""
    target = Extent((((unknown,), 1),))
    # Known atoms count as constants: an expression determines each of its single terms that holds the unknown.
    known = {_single(e, unknown) for e in found}
    moduli = {
        a.args[1] for e in found for a in e.atoms() if isinstance(a, Call) and a.op in ("floordiv", "mod")
    }
    return _reachable(target, known, moduli, len(known))


def _reachable(term: Extent, known: set[Extent | None], moduli: set[Extent], fuel: int) -> bool:
    """Whether ``term`` follows from known digits; each step down uses at least one of them (``fuel``)."""
    if term in known:
        return True
    return fuel > 1 and any(
        _reachable(remainder(term, m), known, moduli, fuel - 1)
        and _reachable(quotient(term, m), known, moduli, fuel - 1)
        for m in moduli
    )


def _single(expression: Extent, unknown: Atom) -> Extent | None:
    """The only term that holds the unknown, if its coefficient is a constant: ``3*(e//m) + c`` gives ``e//m``."""
    holding = [m for m, _ in expression.terms if any(_holding(a, unknown) for a in m)]
    if len(holding) != 1 or len(holding[0]) != 1:
        return None
    return Extent(((holding[0], 1),))


def _holding(atom: Atom, unknown: Atom) -> bool:
    return atom == unknown or (
        isinstance(atom, Call) and any(a == unknown for e in atom.args for a in e.atoms())
    )


def _linear(expression: Extent, unknowns: Iterable[Atom]) -> dict[Atom, Extent] | None:
    """The stride of each unknown in a sum of products of one unknown and known atoms; None for another form."""
    open_ = set(unknowns)
    strides: dict[Atom, Extent] = {}
    for monomial, k in expression.terms:
        held = [a for a in monomial if a in open_]
        if any(_holding(a, u) for a in monomial if a not in open_ for u in open_) or len(held) > 1:
            return None
        if held:
            rest = list(monomial)
            rest.remove(held[0])
            strides[held[0]] = strides.get(held[0], const(0)) + Extent(((tuple(rest), k),))
    return strides


def _by_solver(claim: Distinct, facts: Facts) -> Proved | Unknown:
    """Two copies of every position, equal coordinates: the positions are equal."""
    names = {axis.atom: Extent((((Var(f"{axis.name}'"),), 1),)) for axis in claim.axes}
    known = facts
    for axis in claim.axes:
        value = Extent((((axis.atom,), 1),))
        known = known.between(value, axis.low, axis.high)
        low, high = axis.low.substitute(names), axis.high.substitute(names)
        known = known.between(names[axis.atom], low, high)
    for coordinate in claim.coordinates:
        known = known.given(Equal(coordinate, coordinate.substitute(names)))
    same = Every(tuple(Equal(Extent((((a.atom,), 1),)), names[a.atom]) for a in claim.apart))
    outcome = prove(same, known)
    if isinstance(outcome, Proved):
        return Proved(claim=claim, facts=tuple(f for f in outcome.facts if f in facts.known), method="z3")
    return Unknown(claim=claim, why="no rule reaches it")
