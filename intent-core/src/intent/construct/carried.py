"""Values carried by a loop: where they live, and how the body reads them at other coordinates.

A carried tensor exists at its home coordinates only. The home begins as the coordinates at which the result is
wanted. If the body reads the carry elsewhere along an axis, that axis becomes whole (resident lanes) and the
loop is built again; abandoned attempts leave only unused pure operations, which cleanup removes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from intent import kir
from intent import physical as ph
from intent.construct.alive import kept
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.frame import Binding, Frame, Looped
from intent.construct.point import Point, members_of
from intent.construct.relocate import NotAtHome, relocate
from intent.construct.traversal import carry
from intent.diagnostics import PlanError
from intent.types.extent import const

At = tuple[Point, ...]


class NeedsDims(Exception):
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


def full_home(c: Context, value: kir.Value, known: Mapping[int, Point], frame: Frame) -> At:
    """Coordinates of ``value``: ``known`` ones by axis, whole resident lanes along the others.

    Raises PlanError where the plan has none.
    """
    points = dict(known)
    for axis, e in enumerate(value.shape):
        if axis in points:
            continue
        if e.const == 1:
            points[axis] = Point(c.emitter.index(0), low=const(0), high=const(0))
            continue
        inner = c.traversal((value.id, axis))
        label = c.analysis.classes.label((value.id, axis))
        if inner.mode != "resident":
            raise PlanError(
                f"a value carried between iterations is read across its axis {label}; that axis must be resident"
            )
        points[axis] = c.resident_point(label, e, inner.size, points.values(), frame)
    return tuple(points[axis] for axis in range(value.rank))


def held_binding(
    c: Context, held: kir.Value, value: ph.Fragment, home: At, full: frozenset[int] | None = None
) -> Binding:
    """``held`` as it exists at ``home``, readable anywhere along its whole axes ``full`` (all of them if None)."""
    every = frozenset(range(len(home))) if full is None else full

    def read(at: At) -> Point:
        try:
            moved = relocate(c, 0, value, home, at, every)
        except NotAtHome as wanted:
            raise NotAtHome(0, wanted.axis, value=held.id) from None
        return Point(moved, members_of(at))

    return read


class Opened(Protocol):
    """A loop under construction."""

    scope: Scope
    args: list[ph.Fragment]

    def close(
        self, c: Context, inits: tuple[ph.Fragment, ...], yields: tuple[ph.Fragment, ...]
    ) -> tuple[ph.Fragment, ...]:
        """End the body and place the loop; the results are the final carries."""
        ...


class Carries:
    """The carries of one loop under construction."""

    def __init__(
        self,
        c: Context,
        values: tuple[kir.Value, ...],
        homes: Homes,
        opened: Opened,
        init: Callable[[int, At], ph.Fragment],
        frame: Frame,
    ) -> None:
        self.c, self.values, self.homes, self.opened, self.init, self.frame = (
            c,
            values,
            homes,
            opened,
            init,
            frame,
        )
        self.inits: dict[int, ph.Fragment] = {}
        self.args: dict[int, ph.Fragment] = {}

    def ensure(self, k: int) -> ph.Fragment:
        """The carried argument of component ``k``."""
        if k not in self.args:
            first = self._first(k)
            self.inits[k] = self.c.emitter.broadcast(first, self.homes.dims.get(k, ()))
            self.args[k] = carry(self.c, self.opened, first.dtype, self.inits[k].dims, self.values[k].name)
        return self.args[k]

    def _first(self, k: int) -> ph.Fragment:
        """The value before the loop, evaluated in front of it."""
        emitter, around = self.c.emitter, self.opened.scope.parent
        assert around is not None, "a loop stands in a scope"
        inside, emitter.current = emitter.current, around
        try:
            return self.init(k, self.homes.at[k])
        finally:
            emitter.current = inside

    def binding(self, k: int) -> Binding:
        """Reads of component ``k`` inside the body."""

        def read(at: At) -> Point:
            if k not in self.homes.at:
                self._settle(k, at)
            held = self.ensure(k)
            try:
                value = relocate(self.c, k, held, self.homes.at[k], at, self.homes.full[k])
            except NotAtHome as wanted:
                raise NotAtHome(k, wanted.axis, owner=self.homes) from None
            return Point(value, members_of(at))

        return read

    def _settle(self, k: int, at: At) -> None:
        """The first read decides the home: there, if those coordinates exist outside of the loop; else whole."""
        homes, depth = self.homes, self.opened.scope.depth
        if all(self.c.emitter.home[f.id].depth < depth for p in at for f in (p.fragment, *p.members)):
            homes.at[k], homes.full[k] = at, frozenset()
        else:
            homes.full[k] = frozenset(range(self.values[k].rank))
            homes.at[k] = full_home(self.c, self.values[k], {}, self.frame)

    def enter(self, region: kir.Region, alive: ph.Fragment | None, *first: Binding) -> Frame:
        """The frame of one pass, ``first`` in front of the carries; lanes that are done have no effects in it."""
        bindings = (*first, *map(self.binding, range(len(self.values))))
        under = frozenset(() if alive is None else (alive,))
        return self.frame.enter(region, self.opened.scope, bindings, under=under)

    def leave(self, region: kir.Region, body: Frame, alive: ph.Fragment | None) -> dict[int, ph.Fragment]:
        """Carry on what a pass yields, where the lane is alive, and close the loop; the final carries."""

        def following(k: int, home: At) -> ph.Fragment:
            made = self.c.evaluate(region.yields[k], home, body).fragment
            return kept(self.c, alive, made, self.ensure(k))

        return self.finish(following)

    def finish(
        self,
        next_value: Callable[[int, At], ph.Fragment],
        closing: Callable[[list[int]], None] = lambda _: None,
    ) -> dict[int, ph.Fragment]:
        """Evaluate the next value of every component that is needed, and close the loop.

        ``closing`` hears before that which components are carried, in order.
        """
        yields: dict[int, ph.Fragment] = {}
        while pending := [k for k in self.homes.at if k not in yields]:
            for k in pending:
                arg = self.ensure(k)
                value = next_value(k, self.homes.at[k])
                if set(value.dims) - set(arg.dims):
                    raise NeedsDims(k, self.c.emitter.order.sort((*arg.dims, *value.dims)))
                yields[k] = self.c.emitter.broadcast(value, arg.dims)
        order = list(self.args)
        closing(order)
        inits, last = tuple(self.inits[k] for k in order), tuple(yields[k] for k in order)
        results = self.opened.close(self.c, inits, last)
        return dict(zip(order, results, strict=True))


def settle(
    c: Context,
    values: tuple[kir.Value, ...],
    homes: Homes,
    frame: Frame,
    build: Callable[[], dict[int, ph.Fragment]],
) -> dict[int, ph.Fragment]:
    """Build until every home and every dim is settled."""
    scope = c.emitter.current
    for _ in range(64):
        try:
            return build()
        except NotAtHome as wanted:
            if wanted.owner is not homes:
                raise
            _abandon(c, scope)
            k = wanted.component
            homes.full[k] |= {wanted.axis}
            own = {axis: point for axis, point in enumerate(homes.at[k]) if axis not in homes.full[k]}
            homes.at[k] = full_home(c, values[k], own, frame)
        except NeedsDims as wanted:
            _abandon(c, scope)
            homes.dims[wanted.component] = wanted.dims
    raise PlanError("a loop's carried values have no settled home")


def _abandon(c: Context, scope: object) -> None:
    while c.emitter.current is not scope:
        c.emitter.close(c.emitter.current)


def looped(
    c: Context,
    op: kir.Op,
    values: tuple[kir.Value, ...],
    wanted: tuple[int, At],
    frame: Frame,
    build: Callable[[Homes], dict[int, ph.Fragment]],
) -> Point:
    """One component of a loop's results; the others come out of the same loop and are remembered."""
    index, at = wanted
    value = _remembered(c, op, index, at, frame)
    if value is None:
        scope = c.emitter.current
        homes = _joint_homes(c, values, index, at, frame)
        try:
            results = settle(c, values, homes, frame, lambda: build(homes))
        except PlanError:
            # A component that nobody asked for does not fit the plan: build the wanted one alone.
            _abandon(c, scope)
            alone = Homes(at={index: at}, full={index: frozenset()})
            homes = alone
            results = settle(c, values, alone, frame, lambda: build(alone))
        frame.loops.setdefault(op.id, []).append(Looped(results, dict(homes.at), dict(homes.full)))
        value = relocate(c, index, results[index], homes.at[index], at, homes.full[index])
    return Point(value, members_of(at))


def _remembered(c: Context, op: kir.Op, index: int, at: At, frame: Frame) -> ph.Fragment | None:
    for known in frame.loops.get(op.id, []):
        if index not in known.results or not c.emitter.alive(known.results[index]):
            continue
        home = known.at[index]
        if not all(c.emitter.alive(p.fragment) for p in home):
            continue
        try:
            return relocate(c, index, known.results[index], home, at, known.full[index])
        except NotAtHome:
            continue
    return None


def _joint_homes(c: Context, values: tuple[kir.Value, ...], index: int, at: At, frame: Frame) -> Homes:
    """Homes of the components that the wanted coordinates and the resident axes can place."""
    homes = Homes(at={index: at}, full={index: frozenset()})
    label = c.analysis.classes.label
    own = [label((values[index].id, k)) for k in range(len(at))]
    for j, value in enumerate(values):
        if j == index:
            continue
        points: dict[int, Point] = {}
        taken: set[int] = set()
        for axis in range(value.rank):
            match = next(
                (k for k, x in enumerate(own) if x == label((value.id, axis)) and k not in taken), None
            )
            if match is not None:
                taken.add(match)
                points[axis] = at[match]
        try:
            homes.at[j] = full_home(c, value, points, frame)
        except PlanError:
            continue
        homes.full[j] = frozenset(range(value.rank)) - points.keys()
    return homes
