"""The fast path: a polynomial is shown non-negative by adding up multiples of facts.

``e >= 0`` follows when ``a*e = sum of b*m*f + rest`` with positive numbers a and b, facts ``f >= 0``, non-negative
monomials m, and a rest whose every term is non-negative. Values are integers, so ``a*e + (a - 1) >= 0`` is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

from intent.proof.claims import AtLeast, Claim, Equal, Every
from intent.types import Extent
from intent.types.extent import Atom, Call, Symbol

Monomial = tuple[int, ...]
Poly = dict[Monomial, int]
Used = frozenset[int]

_DEPTH = 8
_NODES = 300
NONE: Used = frozenset()


class Polynomials:
    """Facts as polynomials over numbered atoms; ``claims[k]`` is fact k, and proofs name facts by number."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._numbers: dict[Atom, int] = {}
        self._atoms: list[Atom] = []
        self._facts: list[tuple[Poly, Used]] = []
        self._natural: dict[int, Used | None] = {}
        self._nodes = 0
        for number, claim in enumerate(claims):
            for difference in _differences(claim):
                self._facts.append((_tightened(self._poly(difference)), frozenset((number,))))

    def nonnegative(self, e: Extent) -> Used | None:
        """The numbers of the facts from which ``e >= 0`` was shown, or None."""
        poly = self._poly(e)
        self._nodes = _NODES
        return self._search(_tightened(poly), 1, _DEPTH, set())

    # -- polynomials

    def _number(self, atom: Atom) -> int:
        number = self._numbers.get(atom)
        if number is None:
            number = self._numbers[atom] = len(self._atoms)
            self._atoms.append(atom)
            if isinstance(atom, Call):
                self._facts += [(_tightened(p), NONE) for p in self._definition(atom, number)]
        return number

    def _poly(self, e: Extent) -> Poly:
        return {tuple(sorted(map(self._number, monomial))): k for monomial, k in e.terms}

    def _definition(self, atom: Call, number: int) -> Iterator[Poly]:
        """What holds of a call by its meaning. A divisor is positive wherever the value is used."""
        args = [self._poly(a) for a in atom.args]
        value: Poly = {(number,): 1}
        if atom.op == "max":
            yield from (_sum(value, a, -1) for a in args)
        elif atom.op == "min":
            yield from (_sum(a, value, -1) for a in args)
        elif atom.op == "mod":
            yield _sum(_sum(args[1], value, -1), {(): 1}, -1)
            quotient = self._number(Call("floordiv", atom.args))
            whole = _sum(_times(args[1], (quotient,)), value, 1)
            yield _sum(whole, args[0], -1)
            yield _sum(args[0], whole, -1)
        elif atom.op in ("floordiv", "ceildiv"):
            dividend, divisor = args
            product = _times(divisor, (number,))
            slack = _sum(divisor, {(): 1}, -1)
            left, right = (dividend, product) if atom.op == "floordiv" else (product, dividend)
            yield _sum(left, right, -1)
            yield _sum(_sum(right, slack, 1), left, -1)
            yield slack

    # -- search

    def _search(
        self, e: Poly, scale: int, depth: int, seen: set[frozenset[tuple[Monomial, int]]]
    ) -> Used | None:
        """Facts that show ``e + scale - 1 >= 0``."""
        self._nodes -= 1
        bad, used = self._first_bad(e, scale)
        if bad is None:
            return used
        key = frozenset(e.items())
        if depth == 0 or self._nodes <= 0 or key in seen:
            return None
        seen.add(key)
        for fact, why, factor, c in self._candidates(bad, e):
            positive = self._natural_monomial(factor)
            if positive is None:
                continue
            grow, take = _multiples(e[bad], c, scale, constant=not bad)
            rest = _sum(_scaled(e, grow), _times(fact, factor), -take)
            found = self._search(rest, scale * grow, depth - 1, seen)
            if found is not None:
                return found | why | positive
        return None

    def _candidates(self, bad: Monomial, e: Poly) -> list[tuple[Poly, Used, Monomial, int]]:
        """Facts that can cancel a term, with what they are multiplied by: the least first, to no higher degree."""
        negative, degree = e[bad] < 0, max(map(len, e))
        found = []
        for fact, why in self._facts:
            most = max(map(len, fact), default=0)
            for part, c in fact.items():
                if (c < 0) == negative and (part == bad or most + len(bad) - len(part) <= degree):
                    factor = _quotient(bad, part)
                    if factor is not None:
                        found.append((fact, why, factor, c))
        found.sort(key=lambda candidate: (len(candidate[2]), len(candidate[0])))
        return found

    def _first_bad(self, e: Poly, scale: int) -> tuple[Monomial | None, Used]:
        """A term that may be negative, of the highest degree; else the facts that say that there is none."""
        used: Used = NONE
        worst: Monomial | None = None
        for monomial, k in e.items():
            if not monomial:
                if k + scale - 1 < 0 and worst is None:
                    worst = monomial
                continue
            why = self._natural_monomial(monomial) if k > 0 else None
            if why is None:
                if worst is None or len(monomial) > len(worst):
                    worst = monomial
            else:
                used |= why
        return worst, used

    def _natural_monomial(self, monomial: Monomial) -> Used | None:
        used: Used = NONE
        for atom in monomial:
            why = self._natural_atom(atom)
            if why is None:
                return None
            used |= why
        return used

    def _natural_atom(self, number: int) -> Used | None:
        """The facts by which an atom is non-negative, or None."""
        if number in self._natural:
            return self._natural[number]
        self._natural[number] = None  # while it is being shown
        atom = self._atoms[number]
        found: Used | None = None
        if isinstance(atom, Symbol) or (isinstance(atom, Call) and atom.op == "mod"):
            found = NONE
        elif isinstance(atom, Call):
            found = self._natural_call(atom)
        if found is None:
            for fact, why in self._facts:
                # atom >= rest, where every term of the rest is non-negative
                if fact.get((number,), 0) > 0 and len(fact) <= 3:
                    rest = {m: -k for m, k in fact.items() if m != (number,)}
                    bad, more = self._first_bad(rest, 1)
                    if bad is None:
                        found = why | more
                        break
        self._natural[number] = found
        return found

    def _natural_call(self, atom: Call) -> Used | None:
        parts: list[Used] = []
        for arg in atom.args:
            bad, used = self._first_bad(self._poly(arg), 1)
            if bad is None:
                parts.append(used)
                if atom.op == "max":
                    return used
        return frozenset().union(*parts) if len(parts) == len(atom.args) else None


def _differences(claim: Claim) -> Iterator[Extent]:
    """What a fact says is non-negative; a choice between claims says nothing here."""
    match claim:
        case AtLeast(lhs, rhs):
            yield lhs - rhs
        case Equal(lhs, rhs):
            yield lhs - rhs
            yield rhs - lhs
        case Every(of):
            for part in of:
                yield from _differences(part)
        case _:
            return


def _sum(a: Poly, b: Poly, k: int) -> Poly:
    """``a + k*b``."""
    total = dict(a)
    for monomial, c in b.items():
        left = total.get(monomial, 0) + k * c
        if left:
            total[monomial] = left
        else:
            total.pop(monomial, None)
    return total


def _scaled(a: Poly, k: int) -> Poly:
    return a if k == 1 else {m: c * k for m, c in a.items()}


def _times(a: Poly, factor: Monomial) -> Poly:
    return a if not factor else {tuple(sorted((*m, *factor))): c for m, c in a.items()}


def _multiples(k: int, c: int, scale: int, *, constant: bool) -> tuple[int, int]:
    """How often ``e`` and a fact are taken so that the fact's ``c`` cancels ``k``; of a constant, what may not stay."""
    if constant:
        return 1, -(-(abs(k) - (scale - 1)) // abs(c))
    common = gcd(k, c)
    return abs(c) // common, abs(k) // common


def _quotient(monomial: Monomial, part: Monomial) -> Monomial | None:
    """``monomial / part`` where the part divides it."""
    left = list(monomial)
    for atom in part:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _tightened(poly: Poly) -> Poly:
    """``2*q - 1 >= 0`` is ``q - 1 >= 0`` for integers."""
    divisor = gcd(*(k for m, k in poly.items() if m), 0)
    if divisor <= 1:
        return poly
    reduced = {m: k // divisor for m, k in poly.items()}  # exact but for the constant, which is rounded down
    return {m: k for m, k in reduced.items() if k}
