"""What construction knows about integers, and the proofs that rest on it.

A launch condition holds in the whole program. A bound of a run-time value holds where that value does: it takes part
only in claims that mention the value, because a load whose coordinate does not may be placed outside of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from intent import kir
from intent.proof import AtLeast, Claim, Every, Fact, Outcome, Proved, at_least, prove
from intent.proof import Facts as Known
from intent.proof.claims import extents_of
from intent.types import Extent
from intent.types.extent import Atom, Dyn, Scalar, Symbol, dyn

Bounds = tuple[Extent | None, Extent | None]


class Facts:
    """The launch conditions of a kernel, and ``dyn``: inclusive bounds of run-time values by their id."""

    def __init__(self, known: tuple[Fact, ...] = (), names: dict[int, kir.Value] | None = None) -> None:
        self.known = known
        self.dyn: dict[int, Bounds] = {}
        self.noted: set[Fact] = set()
        """The facts that answers of :meth:`nonnegative` rested on since this was cleared."""
        self._names = {} if names is None else names

    def nonnegative(self, e: Extent | None) -> bool:
        """Whether ``e >= 0`` follows, by the fast path."""
        if e is None:
            return False
        if e.const is not None:
            return e.const >= 0
        if _plain(e):
            return True
        outcome = prove(at_least(e, 0), self.about((e,)), solver=False)
        if isinstance(outcome, Proved):
            self.noted.update(outcome.facts)
        return outcome.proved

    def at_most(self, low: Extent | None, high: Extent | None) -> bool:
        """Whether ``low <= high`` follows, by the fast path."""
        return low is not None and high is not None and self.nonnegative(high - low)

    def follows(self, claim: Claim) -> frozenset[Fact] | None:
        """The facts from which the claim follows, by the fast path; None if it does not."""
        outcome = prove(claim, self.about(extents_of(claim)), solver=False)
        return frozenset(outcome.facts) if isinstance(outcome, Proved) else None

    def prove(self, claim: Claim, more: Iterable[Fact] = ()) -> Outcome:
        """What can be said of the claim, by every means, with ``more`` facts that hold where it is asked."""
        return prove(claim, self.about(extents_of(claim), tuple(more)))

    def about(self, extents: Iterable[Extent], more: tuple[Fact, ...] = ()) -> Known:
        """The facts that have to do with the extents, in a fixed order."""
        candidates = (*more, *self.known)
        seen: set[Atom] = set()
        chosen: set[int] = set()
        ranges: list[Fact] = []
        waiting = [a for e in extents for a in e.atoms()]
        while waiting:
            atom = waiting.pop()
            if atom in seen:
                continue
            seen.add(atom)
            found = list(self._bounds(atom)) if isinstance(atom, Dyn) else []
            ranges += found
            for number, fact in enumerate(candidates):
                if number not in chosen and any(atom in e.atoms() for e in extents_of(fact.claim)):
                    chosen.add(number)
                    found.append(fact)
            waiting += [a for fact in found for e in extents_of(fact.claim) for a in e.atoms()]
        ranges.sort(key=str)
        return Known.of((*ranges, *(candidates[k] for k in sorted(chosen))))

    def text(self, claim: Claim, facts: Iterable[Fact], names: Mapping[Atom, str]) -> str:
        """A claim and its reasons for people: ``N - 1 >= i because ...``; ``names`` are of further atoms."""
        parts = [c for c in (claim.of if isinstance(claim, Every) else (claim,)) if not _settled(c)]
        reasons = ", ".join(map(str, facts))
        text = " and ".join(map(str, parts)) + (f" because {reasons}" if reasons else "")
        atoms = {a for e in (*extents_of(claim), *_mentioned(facts)) for a in e.atoms()}
        return self._named(text, atoms, names)

    def shown(self, e: Extent) -> str:
        """An extent for people, with the author's names."""
        return self._named(str(e), set(e.atoms()), {})

    def _named(self, text: str, atoms: set[Atom], names: Mapping[Atom, str]) -> str:
        known = {a: self._name(a) for a in atoms if isinstance(a, Dyn)} | dict(names)
        known |= {a: a.name for a in atoms if isinstance(a, Scalar)}
        for atom in sorted(atoms & known.keys(), key=lambda a: (-len(str(a)), str(a))):
            text = text.replace(str(atom), known[atom])
        return text

    def _bounds(self, atom: Dyn) -> Iterator[Fact]:
        low, high = self.dyn.get(atom.value, (None, None))
        value = dyn(atom.value)
        name = self._name(atom)
        if low is not None:
            yield Fact(claim=at_least(value, low), because=f"where {name} begins")
        if high is not None:
            yield Fact(claim=at_least(high, value), because=f"where {name} ends")

    def _name(self, atom: Dyn) -> str:
        value = self._names.get(atom.value)
        return value.name if value is not None and value.name else str(atom)


def _plain(e: Extent) -> bool:
    """Whether every term is a positive number of symbols: what most extents are."""
    return all(k >= 0 and all(isinstance(a, Symbol) for a in m) for m, k in e.terms)


def _settled(claim: Claim) -> bool:
    """Whether a claim says nothing to a reader: numbers only, or one side twice."""
    return isinstance(claim, AtLeast) and (claim.lhs - claim.rhs).const is not None


def _mentioned(facts: Iterable[Fact]) -> tuple[Extent, ...]:
    return tuple(e for fact in facts for e in extents_of(fact.claim))
