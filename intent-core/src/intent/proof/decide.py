"""``prove(claim, facts)``: constants and polynomials first, then numbers that refute, then z3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from intent.proof import models
from intent.proof.claims import AtLeast, Claim, Equal, Every, Some, extents_of, negation, substituted
from intent.proof.facts import Fact, Facts
from intent.proof.memo import Memo
from intent.proof.outcome import Method, Outcome, Proved, Refuted, Unknown
from intent.proof.polynomial import NONE, Polynomials, Used
from intent.types import Extent
from intent.types.extent import Atom, Call, const

_SPLITS = 6


@dataclass(frozen=True, kw_only=True)
class Answer:
    """``used``: numbers of the facts of a proof; ``model``: refuting values; neither: ``why`` it is unknown."""

    used: frozenset[int] | None = None
    method: Method = "constants"
    model: tuple[tuple[Atom, int], ...] | None = None
    why: str = ""


CLAIMS: Memo[Answer] = Memo()
"""The latest answers of this process."""


def prove(claim: Claim, facts: Facts | None = None, *, solver: bool = True) -> Outcome:
    """Whether ``claim`` follows from ``facts``, within fixed limits.

    ``Proved`` names the facts it rests on; ``Refuted`` has numbers that satisfy all facts and falsify the claim;
    ``Unknown`` is neither, and what it was asked for stays guarded. With ``solver=False`` z3 is never loaded.
    Answers are kept by content, so asking again is a look-up.
    """
    known = () if facts is None else facts.known
    claims = tuple(f.claim for f in known)
    answer = CLAIMS.answer((claim, claims, solver), lambda: _decide(claim, claims, solver))
    return _outcome(claim, known, answer)


def _outcome(claim: Claim, known: tuple[Fact, ...], answer: Answer) -> Outcome:
    if answer.model is not None:
        return Refuted(claim=claim, model=dict(answer.model))
    if answer.used is None:
        return Unknown(claim=claim, why=answer.why)
    return Proved(claim=claim, facts=tuple(known[k] for k in sorted(answer.used)), method=answer.method)


def _decide(claim: Claim, facts: tuple[Claim, ...], solver: bool) -> Answer:
    polynomials = Polynomials(facts)
    used = _follows(claim, facts, polynomials, _SPLITS)
    if used is not None:
        constant = not used and all(e.const is not None for e in extents_of(claim))
        method: Method = "constants" if constant else "polynomial"
        return Answer(used=used, method=method)
    model = models.counterexample(claim, facts)
    if model is not None:
        return Answer(model=tuple(model.items()))
    return _by_solver(claim, facts) if solver else Answer(why="the fast path does not reach it")


def _by_solver(claim: Claim, facts: tuple[Claim, ...]) -> Answer:
    from intent.proof.solver import Solver

    found = Solver(facts).follows(claim)
    if isinstance(found, frozenset):
        return Answer(used=found, method="z3")
    if found is None:
        return Answer(why="beyond the solver's limits")
    if all(models.true(f, found) for f in facts) and not models.true(claim, found):
        return Answer(model=tuple(found.items()))
    return Answer(why="the solver's numbers do not check")


def _follows(claim: Claim, facts: tuple[Claim, ...], polynomials: Polynomials, splits: int) -> Used | None:
    """The facts that prove the claim, by polynomials and a few case distinctions."""
    match claim:
        case AtLeast(lhs, rhs):
            return _literal(lhs - rhs, facts, polynomials, splits)
        case Equal(lhs, rhs):
            return _each((AtLeast(lhs, rhs), AtLeast(rhs, lhs)), facts, polynomials, splits)
        case Every(of):
            return _each(of, facts, polynomials, splits)
        case Some(of):
            return _some(of, facts, polynomials, splits)


def _each(
    claims: Sequence[Claim], facts: tuple[Claim, ...], polynomials: Polynomials, splits: int
) -> Used | None:
    total = NONE
    for part in claims:
        used = _follows(part, facts, polynomials, splits)
        if used is None:
            return None
        total |= used
    return total


def _some(
    claims: Sequence[Claim], facts: tuple[Claim, ...], polynomials: Polynomials, splits: int
) -> Used | None:
    """One of the claims outright; else the last where all others are false."""
    for part in claims:
        used = _follows(part, facts, polynomials, 0)
        if used is not None:
            return used
    if splits == 0 or len(claims) < 2:
        return None
    *others, last = claims
    count = len(facts)
    more = (*facts, *map(negation, others))
    used = _follows(last, more, Polynomials(more), splits - 1)
    return None if used is None else frozenset(k for k in used if k < count)


def _literal(e: Extent, facts: tuple[Claim, ...], polynomials: Polynomials, splits: int) -> Used | None:
    used = polynomials.nonnegative(e)
    if used is not None or splits == 0:
        return used
    used = polynomials.nonnegative(const(-1))  # facts that contradict each other: the case does not occur
    if used is not None:
        return used
    for atom in islice(_choices(e, facts), 2):
        used = _split(atom, e, facts, splits)
        if used is not None:
            return used
    for number, fact in enumerate(facts):
        if isinstance(fact, Some) and len(fact.of) <= 3:
            return _by_cases(number, fact, e, facts, splits)
    return None


def _by_cases(number: int, fact: Some, e: Extent, facts: tuple[Claim, ...], splits: int) -> Used | None:
    """The claim in each case of a fact that leaves a choice."""
    total = frozenset((number,))
    for case in fact.of:
        narrowed = (*facts[:number], case, *facts[number + 1 :])
        used = _literal(e, narrowed, Polynomials(narrowed), splits - 1)
        if used is None:
            return None
        total |= used
    return total


def _choices(e: Extent, facts: tuple[Claim, ...]) -> Sequence[Call]:
    """Calls whose value is one of their arguments, those of the claim first."""
    everywhere = (*e.atoms(), *(a for f in facts for x in extents_of(f) for a in x.atoms()))
    return list(
        dict.fromkeys(
            a
            for a in everywhere
            if isinstance(a, Call) and a.op in ("max", "min", "broadcast") and len(a.args) == 2
        )
    )


def _split(atom: Call, e: Extent, facts: tuple[Claim, ...], splits: int) -> Used | None:
    """The claim for either value of a maximum, a minimum or a broadcast extent."""
    total = NONE
    for value, case in _values(atom):
        narrowed = (*(substituted(f, {atom: value}) for f in facts), case)
        used = _literal(e.substitute({atom: value}), narrowed, Polynomials(narrowed), splits - 1)
        if used is None:
            return None
        total |= used
    return frozenset(k for k in total if k < len(facts))


def _values(atom: Call) -> Iterator[tuple[Extent, Claim]]:
    """Each value that a choice may have, with what holds then."""
    a, b = atom.args
    match atom.op:
        case "max":
            yield from ((a, AtLeast(a, b)), (b, AtLeast(b, a)))
        case "min":
            yield from ((a, AtLeast(b, a)), (b, AtLeast(a, b)))
        case _:
            one = Equal(a, const(1))
            yield from ((b, one), (a, negation(one)))
