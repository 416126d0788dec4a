"""The slow path: z3, loaded on first use, within fixed limits: answers do not depend on the machine's speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intent.proof.claims import AtLeast, Claim, Equal, Every, Some, negation
from intent.types import Extent
from intent.types.extent import Atom, Call, Symbol

STEPS = 400_000
"""z3's resource limit per claim: the same on every machine."""
MILLISECONDS = 2_000
"""A second limit, for the case that steps are slow."""


class Solver:
    """One claim and its facts in z3."""

    def __init__(self, facts: Sequence[Claim]) -> None:
        import z3

        self.z3 = z3
        self.solver = z3.Solver()
        self.solver.set("rlimit", STEPS)
        self.solver.set("timeout", MILLISECONDS)
        self.atoms: dict[Atom, Any] = {}
        self.trackers: list[Any] = []
        for k, fact in enumerate(facts):
            tracker = z3.Bool(f"fact {k}")
            self.trackers.append(tracker)
            self.solver.assert_and_track(self._claim(fact), tracker)

    def follows(self, claim: Claim) -> frozenset[int] | dict[Atom, int] | None:
        """The numbers of the facts used, or values that refute the claim, or None within the limits."""
        self.solver.add(self._claim(negation(claim)))
        verdict = self.solver.check()
        if verdict == self.z3.unsat:
            core = {str(t) for t in self.solver.unsat_core()}
            return frozenset(k for k, tracker in enumerate(self.trackers) if str(tracker) in core)
        if verdict != self.z3.sat:
            return None
        model = self.solver.model()
        return {
            atom: model.eval(term, model_completion=True).as_long()
            for atom, term in self.atoms.items()
            if not isinstance(atom, Call)
        }

    def _claim(self, claim: Claim) -> Any:
        match claim:
            case AtLeast(lhs, rhs):
                return self._extent(lhs) >= self._extent(rhs)
            case Equal(lhs, rhs):
                return self._extent(lhs) == self._extent(rhs)
            case Every(of):
                return self.z3.And(*map(self._claim, of))
            case Some(of):
                return self.z3.Or(*map(self._claim, of))

    def _extent(self, e: Extent) -> Any:
        total: Any = self.z3.IntVal(0)
        for monomial, k in e.terms:
            product: Any = self.z3.IntVal(k)
            for atom in monomial:
                product = product * self._atom(atom)
            total = total + product
        return total

    def _atom(self, atom: Atom) -> Any:
        term = self.atoms.get(atom)
        if term is None:
            term = self.atoms[atom] = self.z3.Int(f"v{len(self.atoms)}")
            if isinstance(atom, Symbol):
                self.solver.add(term >= 0)
            if isinstance(atom, Call):
                self._define(atom, term)
        return term

    def _define(self, atom: Call, term: Any) -> None:
        a, b = (self._extent(x) for x in atom.args[:2])
        add, either = self.solver.add, self.z3.If
        match atom.op:
            case "max" | "min":
                least = atom.op == "min"
                value = a
                for x in atom.args[1:]:
                    other = self._extent(x)
                    value = either(value <= other if least else value >= other, value, other)
                add(term == value)
            case "broadcast":
                add(term == either(a == 1, b, a))
            case "mod":
                quotient = self.z3.Int(f"v{len(self.atoms)}q")
                add(b >= 1, a == b * quotient + term, term >= 0, term < b)
            case "floordiv":
                add(b >= 1, b * term <= a, a < b * term + b)
            case "ceildiv":
                add(b >= 1, b * term >= a, a > b * term - b)
