"""Whether a coordinate is inside its axis: proven by bounds, by predicates that are tested anyway, or tested itself.

spec: kir-to-gpu-program 9. A guard is left out only for a proof that names what it rests on.
"""

from __future__ import annotations

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.proof import Claim, Fact, Outcome, Proved, at_least, both, within
from intent.types import Extent
from intent.types.extent import const


def inside(
    c: Context, point: Point, extent: Extent, frame: Frame, tested: frozenset[ph.Fragment]
) -> tuple[ph.Proof, frozenset[ph.Fragment]]:
    """The proof that a coordinate is in ``[0, extent)`` on members, and the tests that it needs.

    ``tested``: the predicates that the access's validity holds anyway.
    """
    if extent in c.slices:
        return ph.REGION, frozenset()  # an axis of a slice is only ever taken whole
    if c.definitions.conditional and extent.const is None:
        # Reads leave a branch that is not taken, and there the bounds of a coordinate may be false.
        return ph.GUARD, _tests(c, point, extent, frame)
    walks = not isinstance(c.emitter.definition.get(point.fragment.id), ph.Cast)
    if walks and point.high is extent - 1 and point.low is const(0):
        return ph.REGION, frozenset()
    low = None if point.low is None else at_least(point.low, 0)
    high = None if point.high is None else at_least(extent - 1, point.high)
    claims: list[Claim] = [claim for claim in (low, high) if claim is not None]
    shown = [_by_bounds(c, claim, point) for claim in claims]
    if len(shown) == 2 and all(isinstance(outcome, Proved) for outcome in shown):
        kind: ph.ProofKind = "static" if point.known is not None else "interval"
        return _proof(c, kind, claims, shown, point), frozenset()
    wanted = within(c.predicates.value(point.fragment), extent)
    if tested:
        by_tests = _by_tests(c, wanted, point, tested)
        if isinstance(by_tests, Proved):
            return _proof(c, "predicate", [wanted], [by_tests], point), frozenset()
    tests: set[ph.Fragment] = set()
    if low is None or not shown[0].proved:
        tests.add(c.emitter.compare("ge", point.fragment, c.emitter.index(0)))
    if high is None or not shown[-1].proved:
        tests.add(c.emitter.compare("lt", point.fragment, c.extent(extent, frame).fragment))
    return ph.GUARD, frozenset(tests)


def in_room(c: Context, point: Point, extent: Extent) -> tuple[ph.Proof, frozenset[ph.Fragment]]:
    """The same for a coordinate that runs over an axis of a buffer, which has room for what bounds the axis.

    Data that breaks the rules of subregions may have more members than that; those beyond have no element.
    """
    room = c.analysis.upper_bound(extent)
    if room is None or c.analysis.bounds.sure(extent):
        return ph.REGION, frozenset()
    return ph.GUARD, frozenset({c.emitter.compare("lt", point.fragment, c.launch_value(room))})


def _tests(c: Context, point: Point, extent: Extent, frame: Frame) -> frozenset[ph.Fragment]:
    """That a coordinate is inside its axis, tested on both sides."""
    return frozenset(
        {
            c.emitter.compare("ge", point.fragment, c.emitter.index(0)),
            c.emitter.compare("lt", point.fragment, c.extent(extent, frame).fragment),
        }
    )


def _by_bounds(c: Context, claim: Claim, point: Point) -> Outcome:
    """A claim about the bounds of a coordinate. Where there is a member, they are in order."""
    return c.facts.prove(claim, _order(point))


def _by_tests(c: Context, claim: Claim, point: Point, tested: frozenset[ph.Fragment]) -> Outcome:
    """The claim about the coordinate itself, on lanes where the tested predicates hold."""
    value = c.predicates.value(point.fragment)
    facts = [*_order(point), *c.predicates.facts(tested)]
    if point.low is not None:
        facts.append(Fact(claim=at_least(value, point.low), because="its bounds"))
    if point.high is not None:
        facts.append(Fact(claim=at_least(point.high, value), because="its bounds"))
    return c.facts.prove(claim, facts)


def _order(point: Point) -> list[Fact]:
    if point.low is None or point.high is None or point.low is point.high:
        return []
    return [Fact(claim=at_least(point.high, point.low), because="there is a member")]


def _proof(
    c: Context, kind: ph.ProofKind, claims: list[Claim], shown: list[Outcome], point: Point
) -> ph.Proof:
    own = [f for outcome in shown if isinstance(outcome, Proved) for f in outcome.facts]
    facts = tuple(dict.fromkeys((*own, *sorted(point.rests, key=str))))
    claim = both(*claims)
    text = c.facts.text(claim, facts, c.predicates.names)
    return ph.Proof(kind=kind, claim=claim, facts=facts, text=text)
