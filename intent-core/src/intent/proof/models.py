"""Counterexamples by trying numbers: cheap, and most false claims fall to small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.proof.claims import AtLeast, Claim, Equal, Some, extents_of, holds, negation
from intent.types import Extent
from intent.types.extent import Atom, Call, Symbol

_SIZES = (3, 1, 2, 0, 5, 8, 4, 6, 7, 16)
_POINTS = (0, 1, 2, 3, 5, -1, 4, 7, -2, -5)
_TRIES = 600


def counterexample(claim: Claim, facts: Sequence[Claim], tries: int = _TRIES) -> dict[Atom, int] | None:
    """Values of all atoms for which every fact holds and the claim does not; None when none was met."""
    found = _Search([*facts, negation(claim)], tries).run()
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


class _Search:
    """Backtracking over atoms; a constraint is tested as soon as its last atom has a value."""

    def __init__(self, constraints: Sequence[Claim], tries: int) -> None:
        self.tries = tries
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
        """Fixed small numbers, then the ends of the atom's bounds and their neighbours."""
        fixed = _SIZES if isinstance(atom, Symbol) else _POINTS
        found = list(fixed)
        single = Extent((((atom,), 1),))
        for constraint in self.due[depth]:
            parts = constraint.of if isinstance(constraint, Some) else (constraint,)
            for part in parts:
                if not isinstance(part, AtLeast | Equal):
                    continue
                difference = part.lhs - part.rhs
                slope = dict(difference.terms).get((atom,), 0)
                if abs(slope) != 1:
                    continue
                try:
                    rest = (difference - single * slope).evaluate({**self.values, atom: 0})
                except ZeroDivisionError:
                    continue
                edge = -slope * rest
                found += [edge, edge + 1, edge - 1]
        if isinstance(atom, Symbol):
            found = [v for v in found if v >= 0]
        return list(dict.fromkeys(found))


def _ordered(constraints: Sequence[Claim]) -> list[Atom]:
    """Symbols first, then what their bounds are made of, each once."""
    seen = dict.fromkeys(
        a for c in constraints for e in extents_of(c) for a in e.atoms() if not isinstance(a, Call)
    )
    return sorted(seen, key=lambda a: not isinstance(a, Symbol))
