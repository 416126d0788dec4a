"""Pure loops and branches as values: evaluated for the components and coordinates that are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.alive import most, only_here
from intent.construct.carried import Carries, Homes, looped
from intent.construct.context import Context, rule
from intent.construct.frame import Frame, constant_binding
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


@dataclass
class OpenFor:
    """An ordered ``for`` under construction: its loop, the author's variable, and which lanes are still in it.

    ``alive`` is None if all are.
    """

    loop: OpenLoop
    counter: Point
    alive: ph.Fragment | None = None


def open_for(c: Context, op: kir.For, frame: Frame) -> OpenFor:
    """The physical loop of an ordered ``for``. Where its bounds differ between lanes, it is as long as the longest."""
    begin, end = c.scalar(op.begin, frame), c.scalar(op.end, frame)
    step, name = c.uniform(op.step, frame).fragment, op.body.args[0].name
    high = None if end.high is None else end.high - 1
    c.facts.dyn[op.body.args[0].id] = (begin.low, high)
    if begin.fragment.uniform and end.fragment.uniform:
        loop = open_loop(c, begin.fragment, end.fragment, step, name)
        return OpenFor(loop, Point(loop.counter, low=begin.low, high=high))
    e, one = c.emitter, c.emitter.index(1)
    members = begin.members | end.members
    count = e.pointwise("sub", end.fragment, begin.fragment)
    if step.id != one.id:
        count = e.pointwise("floordiv", e.pointwise("add", count, e.pointwise("sub", step, one)), step)
    count = only_here(c, Point(count, members), frame)
    loop = open_loop(c, e.index(0), most(c, count), one, "")
    past = loop.counter if step.id == one.id else e.pointwise("mul", loop.counter, step)
    coordinate = e.pointwise("add", begin.fragment, past, name=name)
    alive = e.compare("lt", loop.counter, count)
    return OpenFor(loop, Point(coordinate, members | {alive}, begin.low, high), alive)


@rule(kir.For)
def loop(c: Context, op: kir.For, index: int, at: At, frame: Frame) -> Point:
    """The final value of one carry. Components that the body reads along the way are carried with it."""

    def build(homes: Homes) -> dict[int, ph.Fragment]:
        opened = open_for(c, op, frame)
        carries = Carries(
            c,
            op.results,
            homes,
            opened.loop,
            lambda k, home: c.evaluate(op.inits[k], home, frame).fragment,
            frame,
        )
        body = carries.enter(op.body, opened.alive, constant_binding(opened.counter))
        return carries.leave(op.body, body, opened.alive)

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
