"""Pure loops and branches as values: evaluated for the components and coordinates that are wanted."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.carried import Carries, Homes, looped
from intent.construct.context import Context, rule
from intent.construct.frame import Binding, Frame, constant_binding
from intent.construct.point import Point
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
        body = Frame(
            op.body.id, frame, opened.scope, active=frame.active, lanes=frame.lanes, least=frame.least
        )
        body.bindings[op.body.args[0].id] = bind_counter(c, op, opened, frame)
        carries = Carries(
            c, op.results, homes, opened, lambda k, home: c.evaluate(op.inits[k], home, frame).fragment, frame
        )
        for k, arg in enumerate(op.body.args[1:]):
            body.bindings[arg.id] = carries.binding(k)
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
        inner = Frame(
            region.id,
            frame,
            c.emitter.current,
            active=frame.active | {test},
            lanes=frame.lanes,
            least=frame.least,
        )
        sides.append(c.evaluate(region.yields[index], at, inner))
    name = op.results[index].name
    made = c.emitter.pointwise("select", condition.fragment, sides[0].fragment, sides[1].fragment, name=name)
    return Point(made, condition.members | sides[0].members | sides[1].members)


def _branch(c: Context, op: kir.If, index: int, at: At, frame: Frame, condition: Point) -> Point:
    dims: tuple[ph.Dim, ...] = ()
    for _ in range(8):
        scopes, regions, found, members = [], [], [], condition.members
        for region in (op.then, op.orelse):
            with c.emitter.nested() as scope:
                inner = Frame(region.id, frame, scope, active=frame.active, lanes=frame.lanes, least=scope)
                point = c.evaluate(region.yields[index], at, inner)
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
