"""Pure loops and branches as values: evaluated for the components and coordinates that are wanted."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.carried import Carries, Homes, looped
from intent.construct.context import Context, rule
from intent.construct.frame import Binding, Frame, constant_binding
from intent.construct.point import Point, members_of
from intent.construct.traversal import OpenLoop, open_loop
from intent.diagnostics import PlanError
from intent.kir.walk import walk

At = tuple[Point, ...]

_HEAVY = (
    kir.For,
    kir.While,
    kir.Reduce,
    kir.Contract,
    kir.ScaledContract,
    kir.SparseContract,
    kir.Histogram,
    kir.Scan,
    kir.RegionFold,
    kir.RegionScan,
)


def bind_counter(c: Context, op: kir.For, opened: OpenLoop, frame: Frame) -> Binding:
    """The loop variable, with the bounds of the domain."""
    point = op.body.args[0]
    low, high = c.scalar(op.begin, frame).low, c.scalar(op.end, frame).high
    c.facts.dyn[point.id] = (low, None if high is None else high - 1)
    return constant_binding(Point(opened.counter, low=low, high=None if high is None else high - 1))


def open_for(c: Context, op: kir.For, frame: Frame) -> OpenLoop:
    """The physical loop of an ordered ``for``; its bounds must be uniform."""
    begin, end, step = (c.uniform(v, frame).fragment for v in (op.begin, op.end, op.step))
    return open_loop(c, begin, end, step, op.body.args[0].name)


@rule(kir.For)
def loop(c: Context, op: kir.For, index: int, at: At, frame: Frame) -> Point:
    """The final value of one carry. Components that the body reads along the way are carried with it."""

    def build(homes: Homes) -> dict[int, ph.Fragment]:
        opened = open_for(c, op, frame)
        carries = Carries(
            c, op.results, homes, opened, lambda k, home: c.evaluate(op.inits[k], home, frame).fragment, frame
        )
        carried = map(carries.binding, range(len(op.results)))
        body = frame.enter(op.body, opened.scope, (bind_counter(c, op, opened, frame), *carried))
        return carries.finish(lambda k, home: c.evaluate(op.body.yields[k], home, body).fragment)

    return looped(c, op, op.results, (index, at), frame, build)


@rule(kir.If)
def branch(c: Context, op: kir.If, index: int, at: At, frame: Frame) -> Point:
    """A uniform condition over costly work branches; anything else is a select over both sides."""
    condition = c.scalar(op.condition, frame)
    heavy = any(isinstance(o, _HEAVY) for r in (op.then, op.orelse) for o in walk(r))
    if condition.fragment.uniform and heavy:
        return _branch(c, op, index, at, frame, condition)
    negated = c.emitter.pointwise("not", condition.fragment)
    sides = []
    for region, test in ((op.then, condition.fragment), (op.orelse, negated)):
        inner = frame.enter(region, c.emitter.current, under=frozenset({test}))
        sides.append(c.evaluate(region.yields[index], at, inner))
    name = op.results[index].name
    made = c.emitter.pointwise("select", condition.fragment, sides[0].fragment, sides[1].fragment, name=name)
    return Point(made, members_of((condition, *sides)))


def _branch(c: Context, op: kir.If, index: int, at: At, frame: Frame, condition: Point) -> Point:
    dims: tuple[ph.Dim, ...] = ()
    for _ in range(8):
        scopes, regions, found, members = [], [], [], condition.members
        for region in (op.then, op.orelse):
            with c.emitter.nested() as scope:
                point = c.evaluate(region.yields[index], at, frame.enter(region, scope))
                value = c.emitter.broadcast(point.fragment, dims)
            found.append(value)
            members |= point.members
            scopes.append(scope)
            regions.append(ph.Region(args=(), ops=tuple(scope.ops), yields=(value,)))
        wanted = c.emitter.union(found)
        if all(v.dims == wanted for v in found):
            types = ((found[0].dtype, wanted),)
            names = (op.results[index].name,)
            payload: dict[str, Any] = {
                "condition": condition.fragment,
                "then": regions[0],
                "orelse": regions[1],
            }
            (made,) = c.emitter.place(ph.If, tuple(scopes), types, names, **payload)
            return Point(made, members)
        dims = wanted
    raise PlanError("the two sides of a branch have no common lanes")
