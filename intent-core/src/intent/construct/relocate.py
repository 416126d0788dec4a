"""Held values at other coordinates: by identity, by renaming a lane, by selecting one lane, or through a buffer.

A held value (a carried tensor, say) exists at its home coordinates only. Where an axis is resident at home, any
other coordinate picks the lane whose number it is: exact for every dtype, since exactly one lane is kept. That compares
every lane with every coordinate, so many lanes are read back from a buffer instead.
"""

from __future__ import annotations

from math import prod
from typing import Final

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.held import Held, hold_in
from intent.construct.point import Point, members_of
from intent.types.extent import const

COMPARED: Final = 4096
"""Up to this many lanes x coordinates are compared; beyond, a value goes through a buffer."""


class NotAtHome(Exception):
    """A held value is wanted at a coordinate that its home does not cover; ``axis`` must become resident.

    ``owner``: the loop under construction whose component it is. ``value``: the id of a value that was already held,
    whose home can only be widened by building the segment again.
    """

    def __init__(self, component: int, axis: int, *, owner: object = None, value: int | None = None) -> None:
        super().__init__(component, axis)
        self.component, self.axis = component, axis
        self.owner, self.value = owner, value


def resident_lane(c: Context, point: Point) -> ph.Dim | None:
    """The dim when the point is a whole lane axis numbered from 0."""
    definition = c.emitter.definition.get(point.fragment.id)
    return definition.dim if isinstance(definition, ph.Lane) else None


def relocate(
    c: Context,
    component: int,
    value: ph.Fragment,
    home: tuple[Point, ...],
    at: tuple[Point, ...],
    full: frozenset[int],
) -> ph.Fragment:
    """``value``, held at ``home``, wanted at ``at``. ``full``: axes whose home is the whole axis in lanes.

    At one coordinate, a home that rests on more predicates than are wanted holds too little.
    """
    moved: list[tuple[ph.Dim, Point]] = []
    wanted = members_of(at)
    for axis, (here, there) in enumerate(zip(home, at, strict=True)):
        if axis not in full and not here.members <= wanted:
            raise NotAtHome(component, axis)
        if here.fragment.id == there.fragment.id:
            continue
        if axis not in full:
            raise NotAtHome(component, axis)
        dim = resident_lane(c, here)
        if dim is None:
            continue  # extent 1: there is only one place
        if dim in value.dims:
            moved.append((dim, there))
    # First free every lane that moves, so that no target can collide with a lane still to be moved.
    pending: list[tuple[ph.Dim, Point]] = []
    for dim, there in moved:
        fresh = c.lane_dim(
            f"{dim.name}_held",
            dim.size,
            frozenset(value.dims) | frozenset(d for _, p in moved for d in p.fragment.dims),
        )
        value = _rename(c, value, dim, fresh)
        pending.append((fresh, there))
    for dim, there in pending:
        lane = resident_lane(c, there)
        if lane is not None and lane.size == dim.size and lane not in value.dims:
            value = _rename(c, value, dim, lane)
        else:
            value = _at(c, value, dim, there)
    return value


def _at(c: Context, value: ph.Fragment, dim: ph.Dim, there: Point) -> ph.Fragment:
    """The lane of ``dim`` at a coordinate, in the cheaper of the two ways."""
    lanes = {*value.dims, *there.fragment.dims}
    if prod(d.size for d in lanes) <= COMPARED:
        return pick(c, value, dim, there.fragment)
    return _through_buffer(c, value, dim, there)


def _through_buffer(c: Context, value: ph.Fragment, dim: ph.Dim, there: Point) -> ph.Fragment:
    """The lane of ``dim`` at a coordinate: all are written where the value is made, and read where they are wanted."""
    e = c.emitter

    def fill() -> tuple[Held, ...]:
        owner = tuple(d for d in value.dims if d != dim)
        held = Held.begin(c, value.dtype, owner, (const(dim.size),), value.name or "moved")
        held.write(c, value, Point(e.lane(dim)))
        held.settle(c)
        return (held,)

    (held,) = hold_in(c, ("moved", value.id, dim), e.home[value.id], fill)
    inside = e.compare("ge", there.fragment, e.index(0))
    inside = e.pointwise("and", inside, e.compare("lt", there.fragment, e.index(dim.size)))
    return held.read(c, Point(there.fragment, frozenset({inside})), proof=ph.GUARD)


def _rename(c: Context, value: ph.Fragment, source: ph.Dim, target: ph.Dim) -> ph.Fragment:
    dims = c.emitter.order.sort(target if d == source else d for d in value.dims)
    definition = c.emitter.definition.get(value.id)
    if isinstance(definition, ph.Rename) and definition.target == source and definition.source == target:
        return definition.value
    return c.emitter.emit(
        ph.Rename, ((value.dtype, dims),), value=value, source=source, target=target, name=value.name
    )[0]


def pick(c: Context, value: ph.Fragment, dim: ph.Dim, coordinate: ph.Fragment) -> ph.Fragment:
    """The lane of ``dim`` whose number is ``coordinate``."""
    here = c.emitter.compare("eq", c.emitter.lane(dim), coordinate)
    if value.dtype.kind == "bool":
        kept = c.emitter.pointwise("and", here, value)
        kind = "any"
    else:
        # x + -0.0 is x for every x, so the other lanes add nothing, not even a sign.
        nothing = c.emitter.constant(-0.0 if value.dtype.is_float else 0, value.dtype)
        kept, kind = c.emitter.pointwise("select", here, value, nothing), "sum"
    dims = tuple(d for d in kept.dims if d != dim)
    return c.emitter.emit(
        ph.Reduce, ((value.dtype, dims),), operands=(kept,), dims=(dim,), kind=kind, name=value.name
    )[0]
