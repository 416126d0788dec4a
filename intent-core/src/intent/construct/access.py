"""Every access is born with coordinates, members, proofs and validity (spec: kir-to-gpu-program 4.8)."""

from __future__ import annotations

from dataclasses import dataclass

from intent import kir
from intent import physical as ph
from intent.construct.context import Context, Place, rule
from intent.construct.frame import Frame
from intent.construct.inside import in_room, inside
from intent.construct.point import Point, members_of
from intent.types import DType, Extent
from intent.types.extent import const

At = tuple[Point, ...]


@dataclass(frozen=True)
class Address:
    """Coordinates with the proofs that they are inside and the predicates that must guard them.

    ``tested``: predicates that guard the access anyway; proofs may rest on them.
    """

    coordinates: tuple[Point, ...]
    proofs: tuple[ph.Proof, ...]
    guards: frozenset[ph.Fragment]
    tested: frozenset[ph.Fragment]
    promised: bool

    @property
    def members(self) -> frozenset[ph.Fragment]:
        """Every predicate under which the coordinates are those of logical members."""
        return members_of(self.coordinates)

    @property
    def validity(self) -> frozenset[ph.Fragment]:
        """Every predicate that guards the access."""
        return self.members | self.guards | self.tested


def address(
    c: Context,
    relation: kir.Relation,
    shape: tuple[Extent, ...],
    assumed: tuple[bool, ...],
    at: At,
    frame: Frame,
    valid: kir.Value | None = None,
    active: frozenset[ph.Fragment] = frozenset(),
    *,
    memory: bool = True,
) -> Address:
    """Evaluate a relation at a point of its result axes.

    ``valid`` is the author's predicate and ``active`` what else guards the access: where they say that a coordinate
    is inside, no guard says it again. ``memory``: it is one of something that lies somewhere, not of a value.
    """
    points = [
        c.evaluate(
            coordinate, tuple(_spread(c, at[a], coordinate.shape[j]) for j, a in enumerate(spread)), frame
        )
        for coordinate, spread in zip(relation.coordinates, relation.axes, strict=True)
    ]
    tested = active
    if valid is not None:
        point = c.evaluate(valid, at, frame)
        tested |= {point.fragment}
    members = members_of(points)
    proofs: list[ph.Proof] = []
    guards: set[ph.Fragment] = set()
    promised = False
    for k, point in enumerate(points):
        proof, tests = inside(c, point, shape[k], frame, tested | members)
        if tests and k < len(assumed) and assumed[k]:
            proof, tests, promised = ph.ASSUMED, frozenset(), True
        room, more = in_room(c, point, shape[k]) if memory else (proof, frozenset())
        if more:
            proof, tests = room, tests | more
        proofs.append(proof)
        guards |= tests
    return Address(tuple(points), tuple(proofs), frozenset(guards), tested, promised)


def _spread(c: Context, point: Point, extent: Extent) -> Point:
    """A relation axis that a size-one coordinate tensor does not follow."""
    if extent.const == 1 and not (point.high is not None and point.high.const == 0):
        return Point(c.emitter.index(0), low=const(0), high=const(0))
    return point


@rule(kir.Load)
def load(c: Context, op: kir.Load, index: int, at: At, frame: Frame) -> Point:
    """A read of a view or buffer at the relation's coordinates."""
    source, key, owner = c.resource(op.source)
    where = address(c, op.relation, op.source.shape, op.assumed, at, frame, op.valid)
    guards = where.validity | members_of(owner)
    fill = None if op.fill is None else c.scalar(op.fill, frame).fragment
    if where.promised:
        guards |= frame.active
    mask = c.emitter.conjunction(guards)
    coordinates = tuple(p.fragment for p in (*owner, *where.coordinates))
    dims = c.emitter.union(
        (*coordinates, *([mask] if mask is not None else []), *([fill] if fill is not None else []))
    )
    least = frame.scope if where.promised else None
    version: object = None
    if op.source.mutable:
        least, version = c.emitter.current, c.read_version(key)
    (made,) = c.emitter.emit(
        ph.Load,
        ((op.result.dtype, dims),),
        source=source,
        coordinates=coordinates,
        valid=mask,
        fill=None if mask is None else fill,
        proofs=(*(ph.REGION for _ in owner), *where.proofs),
        name=op.result.name,
        least=least,
        version=version,
    )
    if op.source.mutable or where.promised:
        c.emitter.pin()
    if op.source.mutable:
        c.read_by(key, op, Place.of(dims, coordinates))
    if fill is None:
        c.load_masks[made.id] = guards
    return Point(made, members_of((*at, *where.coordinates)))


@rule(kir.Gather)
def gather(c: Context, op: kir.Gather, index: int, at: At, frame: Frame) -> Point:
    """Selection from a value: the source evaluated at the relation's coordinates."""
    where = address(c, op.relation, op.source.shape, (), at, frame, op.valid, memory=False)
    tests = where.guards
    fill: ph.Fragment | None = None
    if op.valid is not None:
        tests |= {c.evaluate(op.valid, at, frame).fragment}
        if op.fill is not None:
            fill = c.scalar(op.fill, frame).fragment
    points = tuple(p.under(tests) if tests else p for p in where.coordinates)
    source = c.evaluate(op.source, points, frame)
    members = source.members - tests
    mask = c.emitter.conjunction(tests)
    if mask is None:
        return Point(source.fragment, members, source.low, source.high, source.rests)
    if fill is None:
        fill = zero(c, op.result.dtype)
    made = c.emitter.pointwise("select", mask, source.fragment, fill, name=op.result.name)
    return Point(made, members)


def zero(c: Context, dtype: DType) -> ph.Fragment:
    """The zero of a dtype."""
    if dtype.is_float:
        return c.emitter.constant(0.0, dtype)
    return c.emitter.constant(0 if dtype.is_integer else False, dtype)
