"""Counterexamples by trying numbers: cheap, and most false claims fall to small ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent.proof.claims import AtLeast, Claim, Equal, Every, Some, extents_of, holds, negation
from intent.types import Extent
from intent.types.extent import Atom, Call, Symbol, Var

_SMALL = (0, 1, 2, 3, 4, 5, 8)
_LARGE = (5, 8, 3, 2, 1, 0, 4, 16)
_SIGNED = (-1, -2, -5)
_TRIES = 600


def counterexample(claim: Claim, facts: Sequence[Claim], tries: int = _TRIES) -> dict[Atom, int] | None:
    """Values of all atoms for which every fact holds and the claim does not; None when none was met."""
    found = _Search([*facts, negation(claim)], _wanted_small(claim), tries).run()
    if found is None or not all(true(f, found) for f in facts) or true(claim, found):
        return None
    return found


def true(claim: Claim, values: Mapping[Atom, int]) -> bool:
    """The claim's truth; where a divisor is not positive nothing holds."""
    try:
        if any(not _meaningful(e, values) for e in extents_of(claim)):
            return False
        return holds(claim, values)
    except ZeroDivisionError:
        return False


def _meaningful(e: Extent, values: Mapping[Atom, int]) -> bool:
    """Whether every division in the extent has a positive divisor."""
    return all(
        atom.args[1].evaluate(values) > 0
        for atom in e.atoms()
        if isinstance(atom, Call) and atom.op in ("floordiv", "ceildiv", "mod")
    )


def _wanted_small(claim: Claim) -> frozenset[Atom]:
    """The atoms whose growth makes the claim true."""
    if isinstance(claim, Every | Some):
        return frozenset().union(*map(_wanted_small, claim.of))
    terms = (claim.lhs - claim.rhs).terms
    return frozenset(a for monomial, k in terms if k > 0 for a in monomial)


class _Search:
    """Backtracking over atoms; a constraint is tested as soon as its last atom has a value."""

    def __init__(self, constraints: Sequence[Claim], small: frozenset[Atom], tries: int) -> None:
        self.tries = tries
        self.small = small
        self.atoms = _ordered(constraints)
        position = {atom: k for k, atom in enumerate(self.atoms)}
        self.due: list[list[Claim]] = [[] for _ in self.atoms]
        self.always: list[Claim] = []
        for constraint in constraints:
            used = [position[a] for e in extents_of(constraint) for a in e.atoms() if a in position]
            (self.due[max(used)] if used else self.always).append(constraint)
        self.values: dict[Atom, int] = {}

    def run(self) -> dict[Atom, int] | None:
        if not all(true(c, {}) for c in self.always):
            return None
        return dict(self.values) if self._assign(0) else None

    def _assign(self, depth: int) -> bool:
        if depth == len(self.atoms):
            return True
        atom = self.atoms[depth]
        for value in self._candidates(depth, atom):
            self.tries -= 1
            if self.tries < 0:
                return False
            self.values[atom] = value
            if all(true(c, self.values) for c in self.due[depth]) and self._assign(depth + 1):
                return True
        self.values.pop(atom, None)
        return False

    def _candidates(self, depth: int, atom: Atom) -> list[int]:
        """A few fixed numbers and the ends of the atom's bounds, in the order in which they may falsify the claim."""
        edges = [value for constraint in self.due[depth] for value in self._edges(atom, constraint)]
        if atom in self.small:
            found = [*_SMALL, *edges]
        elif isinstance(atom, Var):
            found = [*edges, *_SMALL]
        else:
            found = [*_LARGE, *edges]
        found = [v for v in found if v >= 0] if isinstance(atom, Symbol) else [*found, *_SIGNED]
        return list(dict.fromkeys(found))

    def _edges(self, atom: Atom, constraint: Claim) -> Iterator[int]:
        """The value that just satisfies a constraint in which the atom stands alone, and its neighbours."""
        for part in constraint.of if isinstance(constraint, Some) else (constraint,):
            if not isinstance(part, AtLeast | Equal):
                continue
            difference = part.lhs - part.rhs
            slope = dict(difference.terms).get((atom,), 0)
            if abs(slope) != 1:
                continue
            try:
                rest = (difference - Extent((((atom,), slope),))).evaluate({**self.values, atom: 0})
            except ZeroDivisionError:
                continue
            edge = -slope * rest
            yield from (edge, edge + 1, edge - 1)


def _ordered(constraints: Sequence[Claim]) -> list[Atom]:
    """Every atom once, so that constraints are complete early: always the one that lacks the fewest next."""
    open_ = [
        dict.fromkeys(a for e in extents_of(c) for a in e.atoms() if not isinstance(a, Call))
        for c in constraints
    ]
    order: dict[Atom, None] = {}
    while open_ := [left for atoms in open_ if (left := {a: None for a in atoms if a not in order})]:
        following = min(open_, key=len)
        order.update(dict.fromkeys(sorted(following, key=lambda a: not isinstance(a, Symbol))))
    return list(order)
