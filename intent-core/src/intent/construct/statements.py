"""Effects in program order: writes, parallel points, ordered loops and branches with effects, allocations."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.allocation import allocate
from intent.construct.apart import may_store_apart
from intent.construct.carried import Carries, Homes, full_home, held_binding, settle
from intent.construct.context import Context
from intent.construct.control import open_for
from intent.construct.copied import (
    Axes,
    ReadsAhead,
    copied_store,
    keeps_to_itself,
    meets_earlier_passes,
    steers_itself,
)
from intent.construct.emission import Scope
from intent.construct.frame import Frame, constant_binding
from intent.construct.groups import Group
from intent.construct.old_values import OldValues
from intent.construct.plan import Inner
from intent.construct.point import Point
from intent.construct.pointwise import affine
from intent.construct.traversal import OpenLoop, close_loop, walk_axes
from intent.construct.units import carried_axes
from intent.construct.while_loop import close_while, open_while
from intent.construct.writes import write_atomic, write_scatter, write_store
from intent.diagnostics import NotSupportedYet, PlanError
from intent.types import Extent

At = tuple[Point, ...]
Write = kir.Store | kir.ScatterReduce | kir.Atomic


class Runner:
    """Executes the statements of one group inside one segment."""

    def __init__(self, c: Context, group: Group, instance: dict[str, Point]) -> None:
        self.c = c
        self.group = group
        self.instance = instance
        self.ordinals: dict[int, Point] = {}
        """Where each parallel loop that is entered stands."""

    def run(self, region: kir.Region, frame: Frame) -> None:
        """Every statement of the region that belongs to the group, and the reads that must keep their place."""
        for op in region.ops:
            if op.id in self.group.statements:
                self._statement(op, frame)
            elif op.id in self.group.eager:
                assert isinstance(op, kir.Load)
                self._hold(op, frame)

    def _statement(self, op: kir.Op, frame: Frame) -> None:
        c = self.c
        c.emitter.span, c.emitter.origin = op.span, op.id
        match op:
            case kir.Store() | kir.ScatterReduce() | kir.Atomic():
                self._write(op, frame)
            case kir.For() if op.parallel:
                self._parallel(op, frame)
            case kir.For():
                self._ordered(op, frame)
            case kir.While():
                self._while(op, frame)
            case kir.If():
                self._branch(op, frame)
            case kir.BufferAlloc():
                allocate(c, op, self.group, self.instance, self.ordinals, frame)
            case kir.AssumeInBounds():
                pass
            case _:
                raise NotSupportedYet(construct=type(op).__name__, span=op.span)

    # -- writes ----------------------------------------------------------------------------------------------------

    def _write(self, op: Write, frame: Frame) -> None:
        c = self.c
        shape, axes_of = write_shape(op)
        points: dict[int, Point] = {}
        inner = []
        for axis, e in enumerate(shape):
            label = self.group.keys.get(("store", op.id, axis), "")
            if label in self.instance:
                points[axis] = self.instance[label]
                continue
            traversal = (
                Inner(mode="serial") if op.id in self.group.ordered else c.traversal((axes_of.id, axis))
            )
            inner.append((axis, c.analysis.classes.label((axes_of.id, axis)), e, traversal))
        ahead = self._may_read_ahead(op, inner)
        if ahead and op.id in c.copied:
            assert isinstance(op, kir.Store)
            self._share(apart=False)
            copied_store(c, op, points, inner, frame)
            return
        old = self._old_values(op, tuple(axis for axis, *_ in inner))
        # Products have their tiles in the order of the lanes: rows that are dealt out stand before columns.
        later = [p for axis, p in points.items() if c.share is not None and inner and axis > inner[0][0]]
        before = {d for p in later for d in p.fragment.dims}
        walked = walk_axes(c, inner, points.values(), frame, before, parts=may_store_apart(c, op))
        self._share(apart=walked.part)
        key = c.resource(op.target)[1]
        # A collision in order reads what the pass before wrote; a store may read it through its value.
        reread = bool(walked.loops) and (op.id in self.group.ordered or ahead or key in c.readers)
        if reread:
            c.dirty.add(key)
        points |= walked.points
        at = tuple(points[k] for k in range(len(shape)))
        made = self._write_at(op, at, frame)
        if ahead and isinstance(op, kir.Store) and not keeps_to_itself(c, op, walked.loops):
            raise ReadsAhead(op.id)
        if (
            walked.loops
            and not reread
            and isinstance(op, kir.Store)
            and meets_earlier_passes(c, op, walked.loops)
        ):
            c.fence(key)
        if old is not None:
            old.take(made, at, looped=bool(walked.loops))
        for loop in reversed(walked.loops):
            close_loop(c, loop, (), ())
        if old is not None:
            old.publish(frame)

    def _share(self, *, apart: bool) -> None:
        """Keep count of the writes that instances of a team have parts of."""
        share = self.c.share
        if share is not None:
            share.stores += apart
            share.others += not apart

    def _may_read_ahead(self, op: Write, inner: Axes) -> bool:
        """Whether a store that reads what it overwrites does so pass by pass.

        Raises:
            PlanError: Where it goes depends on what it overwrites, so that no pass may come before the others.
        """
        if op.id not in self.group.snapshot or not any(
            i.mode == "serial" and e.const != 1 for *_, e, i in inner
        ):
            return False
        assert isinstance(op, kir.Store), "other writes combine with what they overwrite"
        if steers_itself(op, self.c.definitions):
            raise PlanError(
                "a store goes where what it overwrites says; its axes inside an instance must be resident",
                span=op.span,
            )
        return True

    def _old_values(self, op: Write, walked: tuple[int, ...]) -> OldValues | None:
        """The holder of an atomic's results, if anything uses them."""
        if not any(self.c.effects_use(r) for r in op.results):
            return None
        assert isinstance(op, kir.Atomic), "other writes have no results"
        return OldValues(self.c, op, walked, self.c.emitter.current)

    def _write_at(self, op: Write, at: At, frame: Frame) -> tuple[ph.Fragment, ...]:
        """One access per lane; what an atomic returns."""
        c = self.c
        match op:
            case kir.Store():
                write_store(c, op, at, frame, snapshot=op.id in self.group.snapshot)
            case kir.ScatterReduce():
                write_scatter(c, op, at, frame)
            case kir.Atomic():
                return write_atomic(c, op, at, frame)
        return ()

    # -- parallel points ----------------------------------------------------------------------------------------------

    def _parallel(self, op: kir.For, frame: Frame) -> None:
        c = self.c
        label = self.group.keys.get(("for", op.id, 0), "")
        loops: list[OpenLoop] = []
        if label in self.instance:
            ordinal = self.instance[label]
        else:
            axis = (-op.id - 1, 0)
            e = c.analysis.trip_count(op)
            one_by_one = op.id in self.group.ordered or op.id in self.group.steering
            traversal = Inner(mode="serial") if one_by_one else c.traversal(axis)
            walked = walk_axes(c, [(0, c.analysis.classes.label(axis), e, traversal)], (), frame)
            ordinal, loops = walked.points[0], walked.loops
        if loops:
            c.dirty |= self._written(op)
        self._enter_body(op, ordinal, frame)
        for loop in reversed(loops):
            close_loop(c, loop, (), ())

    def _enter_body(self, op: kir.For, ordinal: Point, frame: Frame) -> None:
        c = self.c
        self.ordinals[op.id] = ordinal
        value = op.body.args[0]
        point = affine(c, op.begin, op.step, ordinal, frame, value.name)
        c.facts.dyn[value.id] = (point.low, point.high)
        body = frame.enter(
            op.body,
            c.emitter.current,
            (constant_binding(point),),
            under=ordinal.members,
            lanes=ordinal.fragment.dims,
        )
        self.run(op.body, body)

    # -- ordered control ----------------------------------------------------------------------------------------------

    def _homes(self, values: tuple[kir.Value, ...], frame: Frame) -> Homes:
        """Every carry of a statement lives in whole lanes, so that any coordinate of it is at hand."""
        c = self.c
        homes = Homes()
        for k, value in enumerate(values):
            homes.at[k], homes.full[k] = self._home(value, frame)
            homes.dims[k] = c.emitter.order.sort(
                frame.lanes | {d for p in homes.at[k] for d in p.fragment.dims}
            )
        return homes

    def _home(self, value: kir.Value, frame: Frame) -> tuple[At, frozenset[int]]:
        """Whole lanes, except along axes that the instances share out: there only the instance's own coordinates.

        Which those are was decided with the unit's other axes, whatever their classes are called.
        """
        c = self.c
        own: dict[int, Point] = {}
        unit = self.group.unit_of(c.analysis.definitions.op[value.id])
        for axis, key in enumerate(carried_axes(value, unit, c.analysis.classes)):
            label = self.group.keys.get(key) if key is not None else None
            if label in self.instance and (value.id, axis) not in c.forced:
                own[axis] = self.instance[label]
        return full_home(c, value, own, frame), frozenset(range(value.rank)) - own.keys()

    def _bind(
        self, values: tuple[kir.Value, ...], made: dict[int, ph.Fragment], homes: Homes, frame: Frame
    ) -> None:
        for k, value in enumerate(values):
            frame.bindings[value.id] = held_binding(self.c, value, made[k], homes.at[k], homes.full[k])

    def _ordered(self, op: kir.For, frame: Frame) -> None:
        c = self.c
        homes = self._homes(op.results, frame)
        written = self._written(op)

        def build() -> dict[int, ph.Fragment]:
            first = {k: c.evaluate(op.inits[k], home, frame).fragment for k, home in homes.at.items()}
            opened = open_for(c, op, frame)
            c.dirty |= written
            carries = Carries(c, op.results, homes, opened.loop, lambda k, _home: first[k], frame)
            body = carries.enter(op.body, opened.alive, constant_binding(opened.counter))
            self.run(op.body, body)
            return carries.leave(op.body, body, opened.alive)

        self._bind(op.results, settle(c, op.results, homes, frame, build), homes, frame)

    def _while(self, op: kir.While, frame: Frame) -> None:
        c = self.c
        homes = self._homes(op.results, frame)
        written = self._written(op)

        def build() -> dict[int, ph.Fragment]:
            first = {k: c.evaluate(op.inits[k], home, frame).fragment for k, home in homes.at.items()}
            opened = open_while(c, op, homes, frame)
            c.dirty |= written
            carries = Carries(c, op.results, homes, opened, lambda k, _home: first[k], frame)
            body = carries.enter(op.body, opened.alive)
            self.run(op.body, body)
            return close_while(c, op, opened, carries, body)

        self._bind(op.results, settle(c, op.results, homes, frame, build), homes, frame)

    def _written(self, op: kir.Op) -> set[str]:
        return self.group.written_in(op, self.c.done_by)

    def _branch(self, op: kir.If, frame: Frame) -> None:
        c = self.c
        condition = c.scalar(op.condition, frame)
        if condition.fragment.uniform:
            self._uniform_branch(op, condition.fragment, frame)
            return
        sides: list[list[ph.Fragment]] = []
        homes = self._homes(op.results, frame)
        for region, test in (
            (op.then, condition.fragment),
            (op.orelse, c.emitter.pointwise("not", condition.fragment)),
        ):
            inner = frame.enter(region, c.emitter.current, under=frozenset({test}))
            self.run(region, inner)
            sides.append([c.evaluate(v, homes.at[k], inner).fragment for k, v in enumerate(region.yields)])
        made = {
            k: c.emitter.pointwise("select", condition.fragment, a, b)
            for k, (a, b) in enumerate(zip(*sides, strict=True))
        }
        self._bind(op.results, made, homes, frame)

    def _uniform_branch(self, op: kir.If, condition: ph.Fragment, frame: Frame) -> None:
        c = self.c
        homes = self._homes(op.results, frame)
        sides = self._sides(op, homes, frame)
        wide = {
            k: c.emitter.union((a, b)) for k, (a, b) in enumerate(zip(*(y for _, y in sides), strict=True))
        }
        if any(set(wide[k]) - set(homes.dims[k]) for k in wide):
            # A side gives more lanes than its home has: both sides again, each with all of them.
            homes.dims = {k: c.emitter.order.sort((*homes.dims[k], *wide[k])) for k in wide}
            sides = self._sides(op, homes, frame)
        types = tuple((v.dtype, homes.dims[k]) for k, v in enumerate(op.results))
        regions = [ph.Region(args=(), ops=tuple(scope.ops), yields=tuple(yields)) for scope, yields in sides]
        payload: dict[str, Any] = {"condition": condition, "then": regions[0], "orelse": regions[1]}
        scopes = tuple(scope for scope, _ in sides)
        results = c.emitter.place(ph.If, scopes, types, tuple(v.name for v in op.results), **payload)
        self._bind(op.results, dict(enumerate(results)), homes, frame)

    def _sides(self, op: kir.If, homes: Homes, frame: Frame) -> list[tuple[Scope, list[ph.Fragment]]]:
        """Both regions of a branch, built in scopes of their own."""
        c = self.c
        dirty: set[str] = set(c.dirty)
        written: set[str] = set()
        found = []
        for region in (op.then, op.orelse):
            c.dirty, written = set(dirty), written | c.dirty  # the sides do not follow each other
            with c.emitter.nested() as scope:
                inner = frame.enter(region, scope)
                self.run(region, inner)
                yields = [c.evaluate(v, homes.at[k], inner).fragment for k, v in enumerate(region.yields)]
                yields = [c.emitter.broadcast(v, homes.dims[k]) for k, v in enumerate(yields)]
            found.append((scope, yields))
        c.dirty |= written
        return found

    # -- allocations and reads that keep their place -------------------------------------------------------------------

    def _hold(self, op: kir.Load, frame: Frame) -> None:
        """Evaluate a read of mutable memory here; later uses take the held value.

        A read of another group's buffer is nothing that this group uses.
        """
        c = self.c
        if not c.has(op.source):
            return
        value = op.result
        c.emitter.span, c.emitter.origin = op.span, op.id
        own = self._followed(op)
        home = full_home(c, value, own, frame)
        held = c.evaluate(value, home, frame).fragment
        whole = frozenset(range(value.rank)) - own.keys()
        frame.bindings[value.id] = held_binding(c, value, held, home, whole)

    def _followed(self, op: kir.Load) -> dict[int, Point]:
        """Axes of a read that every statement of the group takes at its own instance coordinate only."""
        found: dict[int, Point] = {}
        signatures = [r.signature for u in self.group.units for r in u.reads if r.op is op]
        for column, spread in zip(zip(*signatures, strict=True), op.relation.axes, strict=False):
            labels = {None if s is None else self.group.keys.get(s[0]) for s in column}
            if len(labels) != 1 or len(spread) != 1 or (op.result.id, spread[0]) in self.c.forced:
                continue
            label = labels.pop()
            if label in self.instance:
                found[spread[0]] = self.instance[label]
        return found


def write_shape(op: Write) -> tuple[tuple[Extent, ...], kir.Value]:
    """The shape a write runs over and the value whose axes it is."""
    if isinstance(op, kir.Atomic):
        value = op.results[0] if op.results else max(op.operands, key=lambda v: v.rank)
        return value.shape, value
    return op.value.shape, op.value
