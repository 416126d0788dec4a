"""Pure loops and branches as values: evaluated for the components and coordinates that are wanted."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir
from intent import physical as ph
from intent.construct.context import Context, rule
from intent.construct.frame import Binding, Frame, constant_binding
from intent.construct.point import Point
from intent.construct.relocate import NotAtHome, relocate
from intent.construct.traversal import OpenLoop, carry, close_loop, open_loop
from intent.diagnostics import PlanError
from intent.kir.walk import walk
from intent.types.extent import const

At = tuple[Point, ...]

_HEAVY = (kir.For, kir.While, kir.Reduce, kir.Contract, kir.Scan, kir.RegionFold, kir.RegionScan)


class NeedsDims(Exception):  # noqa: N818 - control flow of construction, never shown to an author
    """A carried value turned out to have more lane dims than its first value."""

    def __init__(self, component: int, dims: tuple[ph.Dim, ...]) -> None:
        super().__init__(component, dims)
        self.component, self.dims = component, dims


@dataclass
class Homes:
    """Home coordinates per component, which axes are whole there, and the lane dims a carry must have."""

    at: dict[int, At] = field(default_factory=dict)
    full: dict[int, frozenset[int]] = field(default_factory=dict)
    dims: dict[int, tuple[ph.Dim, ...]] = field(default_factory=dict)


def full_home(c: Context, value: kir.Value, axes: frozenset[int], at: At, used: frozenset[ph.Dim], frame: Frame) -> At:
    """``at`` with the axes ``axes`` replaced by whole resident lanes."""
    points = list(at)
    for axis in sorted(axes):
        e = value.shape[axis]
        if e.const == 1:
            points[axis] = Point(c.emitter.index(0), low=const(0), high=const(0))
            continue
        inner = c.traversal((value.id, axis))
        if inner.mode != "resident":
            label = c.analysis.classes.label((value.id, axis))
            raise PlanError(f"a value carried between iterations is read across its axis {label}; that axis must be resident")
        taken = used | {d for p in points for d in p.fragment.dims}
        label = c.analysis.classes.label((value.id, axis))
        points[axis] = c.resident_point(label, e, inner.size, taken, frame)
    return tuple(points)


@rule(kir.For)
def loop(c: Context, op: kir.For, index: int, at: At, frame: Frame) -> Point:
    """The final value of one carry. Components the body reads along the way are carried with it."""
    homes = Homes(at={index: at}, full={index: frozenset()})
    scope = c.emitter.current
    for _ in range(64):
        try:
            results = _build_loop(c, op, homes, frame)
        except NotAtHome as wanted:
            _abandon(c, scope)
            k = wanted.component
            homes.full[k] |= {wanted.axis}
            homes.at[k] = full_home(c, op.results[k], homes.full[k], homes.at[k], frame.lanes, frame)
        except NeedsDims as wanted:
            _abandon(c, scope)
            homes.dims[wanted.component] = wanted.dims
        else:
            value = relocate(c, index, results[index], homes.at[index], at, homes.full[index])
            return Point(value, frozenset(m for p in at for m in p.members))
    raise PlanError("a loop's carried values have no settled home")


def _abandon(c: Context, scope: object) -> None:
    while c.emitter.current is not scope:
        c.emitter.close(c.emitter.current)


def bind_counter(c: Context, op: kir.For, opened: OpenLoop, frame: Frame) -> Binding:
    """The loop variable, with the bounds of the domain."""
    point = op.body.args[0]
    low, high = c.scalar(op.begin, frame).low, c.scalar(op.end, frame).high
    c.facts.dyn[point.id] = (low, None if high is None else high - 1)
    return constant_binding(Point(opened.counter, low=low, high=None if high is None else high - 1))


def open_for(c: Context, op: kir.For, frame: Frame) -> OpenLoop:
    """The physical loop of an ordered ``for``; its bounds must be uniform."""
    bounds = [c.uniform(v, frame).fragment for v in (op.begin, op.end, op.step)]
    return open_loop(c, bounds[0], bounds[1], bounds[2], op.body.args[0].name)


def _build_loop(c: Context, op: kir.For, homes: Homes, frame: Frame) -> dict[int, ph.Fragment]:
    opened = open_for(c, op, frame)
    body = Frame(op.body.id, frame, active=frame.active, lanes=frame.lanes, least=frame.least)
    body.bindings[op.body.args[0].id] = bind_counter(c, op, opened, frame)
    inits: dict[int, ph.Fragment] = {}
    args: dict[int, ph.Fragment] = {}

    def ensure(k: int) -> ph.Fragment:
        if k not in args:
            init = c.evaluate(op.inits[k], homes.at[k], frame).fragment
            inits[k] = c.emitter.broadcast(init, homes.dims.get(k, ()))
            args[k] = carry(c, opened, init.dtype, inits[k].dims, op.results[k].name)
        return args[k]

    for k, arg in enumerate(op.body.args[1:]):
        body.bindings[arg.id] = _carry_binding(c, op, k, homes, opened, ensure, frame)
    yields: dict[int, ph.Fragment] = {}
    while pending := [k for k in homes.at if k not in yields]:
        for k in pending:
            ensure(k)
            value = c.evaluate(op.body.yields[k], homes.at[k], body).fragment
            extra = set(value.dims) - set(args[k].dims)
            if extra:
                raise NeedsDims(k, c.emitter.order.sort((*args[k].dims, *value.dims)))
            yields[k] = c.emitter.broadcast(value, args[k].dims)
    order = list(args)
    results = close_loop(c, opened, tuple(inits[k] for k in order), tuple(yields[k] for k in order))
    return dict(zip(order, results, strict=True))


def _carry_binding(c: Context, op: kir.For, k: int, homes: Homes, opened: OpenLoop, ensure: object, frame: Frame) -> Binding:
    def read(at: At) -> Point:
        if k not in homes.at:
            outside = all(c.emitter.home[p.fragment.id].depth < opened.scope.depth for p in at)
            if outside:
                homes.at[k], homes.full[k] = at, frozenset()
            else:
                everything = frozenset(range(op.results[k].rank))
                homes.full[k] = everything
                homes.at[k] = full_home(c, op.results[k], everything, at, frame.lanes, frame)
        held = ensure(k)  # type: ignore[operator]
        value = relocate(c, k, held, homes.at[k], at, homes.full[k])
        return Point(value, frozenset(m for p in at for m in p.members))

    return read


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
        inner = Frame(region.id, frame, active=frame.active | {test}, lanes=frame.lanes, least=frame.least)
        sides.append(c.evaluate(region.yields[index], at, inner))
    made = c.emitter.pointwise("select", condition.fragment, sides[0].fragment, sides[1].fragment, name=op.results[index].name)
    members = condition.members | sides[0].members | sides[1].members
    return Point(made, members)


def _branch(c: Context, op: kir.If, index: int, at: At, frame: Frame, condition: Point) -> Point:
    dims: tuple[ph.Dim, ...] = ()
    for _ in range(8):
        regions, found, members = [], [], condition.members
        for region in (op.then, op.orelse):
            with c.emitter.nested() as scope:
                inner = Frame(region.id, frame, active=frame.active, lanes=frame.lanes, least=scope)
                point = c.evaluate(region.yields[index], at, inner)
                value = c.emitter.broadcast(point.fragment, dims)
                found.append(value)
                members |= point.members
            regions.append((scope, ph.Region(args=(), ops=tuple(scope.ops), yields=(value,))))
        wanted = c.emitter.union(found)
        if all(v.dims == wanted for v in found):
            (then_scope, then), (else_scope, orelse) = regions
            (made,) = c.emitter.place(
                ph.If,
                (then_scope, else_scope),
                ((found[0].dtype, wanted),),
                (op.results[index].name,),
                condition=condition.fragment,
                then=then,
                orelse=orelse,
            )
            return Point(made, members)
        dims = wanted
    raise PlanError("the two sides of a branch have no common lanes")
