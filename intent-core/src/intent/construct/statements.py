"""Effects in program order: stores, parallel points, ordered loops and branches with effects."""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.access import address
from intent.construct.context import Context
from intent.construct.carried import Homes, NeedsDims, held_binding, whole
from intent.construct.control import bind_counter, open_for
from intent.construct.frame import Frame, constant_binding
from intent.construct.groups import Group
from intent.construct.point import Point
from intent.construct.pointwise import affine
from intent.construct.traversal import carry, close_loop, walk_axes
from intent.diagnostics import NotSupportedYet, PlanError

At = tuple[Point, ...]


class Runner:
    """Executes the statements of one group inside one segment."""

    def __init__(self, c: Context, group: Group, instance: dict[str, Point]) -> None:
        self.c = c
        self.group = group
        self.instance = instance

    def run(self, region: kir.Region, frame: Frame) -> None:
        """Every statement of the region that belongs to the group, and the reads that must keep their place."""
        for op in region.ops:
            if op.id in self.group.statements:
                self._statement(op, frame)
            elif isinstance(op, kir.Load) and op.id in self.group.eager:
                self._hold(op, frame)

    def _statement(self, op: kir.Op, frame: Frame) -> None:
        c = self.c
        c.emitter.span, c.emitter.origin = op.span, op.id
        match op:
            case kir.Store():
                self._store(op, frame)
            case kir.For() if op.parallel:
                self._parallel(op, frame)
            case kir.For():
                self._ordered(op, frame)
            case kir.If():
                self._branch(op, frame)
            case kir.AssumeInBounds():
                pass
            case _:
                raise NotSupportedYet(construct=type(op).__name__, span=op.span)

    # -- stores ------------------------------------------------------------------------------------------------

    def _store(self, op: kir.Store, frame: Frame) -> None:
        c = self.c
        points: dict[int, Point] = {}
        inner = []
        for axis, e in enumerate(op.value.shape):
            label = self.group.keys.get(("store", op.id, axis))
            if label is not None and label in self.instance:
                points[axis] = self.instance[label]
            else:
                inner.append((axis, c.analysis.classes.label((op.value.id, axis)), e, c.traversal((op.value.id, axis))))
        walked = walk_axes(c, inner, c.used_dims(points.values(), frame), frame)
        if walked.loops and op.id in self.group.snapshot:
            raise PlanError("a store reads what it overwrites; its axes inside an instance must be resident", span=op.span)
        points |= walked.points
        at = tuple(points[k] for k in range(op.value.rank))
        self._write(op, at, frame)
        for loop in reversed(walked.loops):
            close_loop(c, loop, (), ())

    def _write(self, op: kir.Store, at: At, frame: Frame) -> None:
        c = self.c
        target, key = c.resource(op.target)
        value = c.evaluate(op.value, at, frame)
        where = address(c, op.relation, op.target.shape, op.assumed, at, frame)
        guards = where.members | where.guards | frame.active | frozenset(m for p in at for m in p.members)
        if op.valid is not None:
            valid = c.evaluate(op.valid, at, frame)
            guards |= valid.members | {valid.fragment}
        dims = c.emitter.order.sort(frame.lanes | {d for p in (*at, *where.coordinates) for d in p.fragment.dims})
        if key in c.readers and op.id in self.group.snapshot:
            # Other lanes may still have to read what this store overwrites.
            c.fence(key)
        c.emitter.effect(
            ph.Store,
            target=target,
            coordinates=tuple(p.fragment for p in where.coordinates),
            value=value.fragment,
            valid=c.emitter.conjunction(guards),
            dims=dims,
            proofs=where.proofs,
        )
        c.dirty.add(key)
        c.versions[key] = c.versions.get(key, 0) + 1

    # -- parallel points ----------------------------------------------------------------------------------------

    def _parallel(self, op: kir.For, frame: Frame) -> None:
        c = self.c
        label = self.group.keys.get(("for", op.id, 0))
        loops = []
        if label is not None and label in self.instance:
            ordinal = self.instance[label]
        else:
            axis = (-op.id - 1, 0)
            e = c.analysis.trip_count(op)
            walked = walk_axes(c, [(0, c.analysis.classes.label(axis), e, c.traversal(axis))], c.used_dims((), frame), frame)
            ordinal, loops = walked.points[0], walked.loops
        self._enter_body(op, ordinal, frame)
        for loop in reversed(loops):
            close_loop(c, loop, (), ())

    def _enter_body(self, op: kir.For, ordinal: Point, frame: Frame) -> None:
        c = self.c
        value = op.body.args[0]
        point = affine(c, op.begin, op.step, ordinal, frame, value.name)
        if point.low is not None or point.high is not None:
            c.facts.dyn[value.id] = (point.low, point.high)
        body = Frame(
            op.body.id,
            frame,
            c.emitter.current,
            bindings={value.id: constant_binding(point)},
            active=frame.active | ordinal.members,
            lanes=frame.lanes | frozenset(ordinal.fragment.dims),
            least=frame.least,
        )
        self.run(op.body, body)

    # -- ordered control ----------------------------------------------------------------------------------------

    def _ordered(self, op: kir.For, frame: Frame) -> None:
        """An ordered loop with effects; every carry lives in whole lanes, so any coordinate of it is at hand."""
        c = self.c
        homes = Homes()
        for k, value in enumerate(op.results):
            homes.at[k] = whole(c, value, frame)
            homes.dims[k] = c.emitter.order.sort(frame.lanes | {d for p in homes.at[k] for d in p.fragment.dims})
        inits = [
            c.emitter.broadcast(c.evaluate(v, homes.at[k], frame).fragment, homes.dims[k]) for k, v in enumerate(op.inits)
        ]
        written = {c.resource(r)[1] for r in self.group.written_in(op) if self._known(r)}
        opened = open_for(c, op, frame)
        c.dirty |= written
        body = Frame(op.body.id, frame, opened.scope, active=frame.active, lanes=frame.lanes, least=opened.scope)
        body.bindings[op.body.args[0].id] = bind_counter(c, op, opened, frame)
        for k, arg in enumerate(op.body.args[1:]):
            held = carry(c, opened, inits[k].dtype, inits[k].dims, op.results[k].name)
            body.bindings[arg.id] = held_binding(c, k, held, homes.at[k])
        self.run(op.body, body)
        yields = []
        for k, v in enumerate(op.body.yields):
            value = c.evaluate(v, homes.at[k], body).fragment
            if set(value.dims) - set(inits[k].dims):
                raise NeedsDims(k, value.dims)
            yields.append(c.emitter.broadcast(value, inits[k].dims))
        c.emitter.pin()
        results = close_loop(c, opened, tuple(inits), tuple(yields))
        c.dirty |= written
        for k, (result, made) in enumerate(zip(op.results, results, strict=True)):
            frame.bindings[result.id] = held_binding(c, k, made, homes.at[k])

    def _known(self, resource: kir.Resource) -> bool:
        return isinstance(resource, kir.View) or resource.id in self.c.buffers

    def _branch(self, op: kir.If, frame: Frame) -> None:
        c = self.c
        condition = c.scalar(op.condition, frame)
        if op.results:
            raise NotSupportedYet(construct="a branch with effects that also yields values", span=op.span)
        if condition.fragment.uniform:
            regions, scopes = [], []
            for region in (op.then, op.orelse):
                with c.emitter.nested() as scope:
                    self.run(region, Frame(region.id, frame, c.emitter.current, active=frame.active, lanes=frame.lanes, least=scope))
                scopes.append(scope)
                regions.append(ph.Region(args=(), ops=tuple(scope.ops)))
            c.emitter.place(ph.If, tuple(scopes), (), condition=condition.fragment, then=regions[0], orelse=regions[1])
            return
        for region, test in ((op.then, condition.fragment), (op.orelse, c.emitter.pointwise("not", condition.fragment))):
            inner = Frame(region.id, frame, c.emitter.current, active=frame.active | {test}, lanes=frame.lanes, least=frame.least)
            self.run(region, inner)

    # -- reads that keep their place ----------------------------------------------------------------------------

    def _hold(self, op: kir.Load, frame: Frame) -> None:
        """Evaluate a read of mutable memory here; later uses take the held value."""
        c = self.c
        value = op.result
        c.emitter.span, c.emitter.origin = op.span, op.id
        home = whole(c, value, frame)
        held = c.evaluate(value, home, frame).fragment
        frame.bindings[value.id] = held_binding(c, 0, held, home)
