"""Writes at the coordinates of their execution axes: stores, colliding writes and atomics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.access import Address, address
from intent.construct.combining import inline
from intent.construct.context import Context, Place
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.types import Extent

At = tuple[Point, ...]

_ATOMIC = {"sum": "add", "max": "max", "min": "min"}


@dataclass(frozen=True)
class Target:
    """Where a write goes: resource, alias class, coordinates, the lanes it runs over and its validity."""

    resource: ph.Resource
    key: str
    coordinates: tuple[ph.Fragment, ...]
    proofs: tuple[ph.Proof, ...]
    dims: tuple[ph.Dim, ...]
    valid: ph.Fragment | None

    @property
    def place(self) -> Place:
        """The lanes and the coordinates."""
        return Place.of(self.dims, self.coordinates)


def target_of(
    c: Context,
    op: kir.Store | kir.ScatterReduce | kir.Atomic,
    shape: tuple[Extent, ...],
    at: At,
    frame: Frame,
) -> Target:
    """Evaluate a write's relation; every active predicate guards it."""
    resource, key, owner = c.resource(op.target)
    assumed = op.assumed if isinstance(op, kir.Store) else ()
    where: Address = address(c, op.relation, shape, assumed, at, frame)
    guards = where.members | where.guards | frame.active | frozenset(m for p in at for m in p.members)
    if op.valid is not None:
        valid = c.evaluate(op.valid, at, frame)
        guards |= valid.members | {valid.fragment}
    coordinates = (*owner, *(p.fragment for p in where.coordinates))
    used = frame.lanes | {d for p in (*at, *where.coordinates) for d in p.fragment.dims}
    mask = c.emitter.conjunction(guards)
    dims = c.emitter.order.sort((*used, *(mask.dims if mask is not None else ())))
    inside: tuple[ph.Proof, ...] = tuple(ph.REGION for _ in owner)
    return Target(resource, key, coordinates, (*inside, *where.proofs), dims, mask)


def write_store(c: Context, op: kir.Store, at: At, frame: Frame, *, snapshot: bool) -> None:
    """A unique write. ``snapshot``: other lanes may still have to read what it overwrites."""
    value = c.evaluate(op.value, at, frame)
    to = target_of(c, op, op.target.shape, at, frame)
    if (snapshot and to.key in c.readers) or c.pending(to.key) or c.overtakes(to.key, to.place):
        c.fence(to.key)  # an earlier write may be of the same element by another lane
    _store(c, to, value.fragment)


def _store(c: Context, to: Target, value: ph.Fragment) -> None:
    payload: dict[str, Any] = {
        "target": to.resource,
        "coordinates": to.coordinates,
        "value": value,
        "valid": to.valid,
    }
    c.emitter.effect(ph.Store, **payload, dims=to.dims, proofs=to.proofs)
    c.wrote(to.key)


def write_scatter(c: Context, op: kir.ScatterReduce, at: At, frame: Frame, *, ordered: bool) -> None:
    """A colliding write: an atomic, or read, combine and write by the only owner when ``ordered``."""
    value = c.evaluate(op.value, at, frame).fragment
    to = target_of(c, op, op.target.shape, at, frame)
    if not ordered and op.kind is not None:
        c.before_atomic(to.key, to.place)
        _atomic(c, to, _ATOMIC[op.kind], (value,), "relaxed", value.dtype)
        c.wrote(to.key, atomic=True)
        return
    version = c.read_version(to.key)
    (old,) = c.emitter.emit(
        ph.Load,
        (
            (
                op.target.dtype,
                c.emitter.union((*to.coordinates, *([to.valid] if to.valid is not None else []))),
            ),
        ),
        source=to.resource,
        coordinates=to.coordinates,
        valid=to.valid,
        proofs=to.proofs,
        least=c.emitter.current,
        version=version,
    )
    c.emitter.pin()
    if op.kind is not None:
        name = {"sum": "add", "max": "maximum", "min": "minimum"}[op.kind]
        new = c.emitter.pointwise(name, old, value)
    else:
        assert op.combine is not None
        (made,) = inline(c, op.combine, (Point(old), Point(value)), frame)
        new = made.fragment
    _store(c, to, new)


def _atomic(
    c: Context, to: Target, kind: str, operands: tuple[ph.Fragment, ...], order: str, dtype: object
) -> tuple[ph.Fragment, ...]:
    types = [] if kind == "store" else [(dtype, to.dims)]
    if kind == "compare_exchange":
        from intent.types.dtypes import BOOL

        types.append((BOOL, to.dims))
    return c.emitter.effect(
        ph.Atomic,
        tuple(types),  # type: ignore[arg-type]
        target=to.resource,
        coordinates=to.coordinates,
        kind=kind,
        operands=operands,
        valid=to.valid,
        order=order,
        sharing="invocation" if isinstance(to.resource, ph.View) else "instance",
        dims=to.dims,
        proofs=to.proofs,
    )


def write_atomic(c: Context, op: kir.Atomic, at: At, frame: Frame) -> tuple[ph.Fragment, ...]:
    """An indivisible access, once per lane; ordered against plain accesses as its memory order says."""
    values = tuple(c.evaluate(v, at if v.rank else (), frame).fragment for v in op.operands)
    to = target_of(c, op, op.target.shape, at, frame)
    if op.order in ("release", "acq_rel"):
        c.settle_writes()
    c.before_atomic(to.key, to.place)
    results = _atomic(c, to, op.kind, values, op.order, op.target.dtype)
    if op.order in ("acquire", "acq_rel"):
        c.settle_writes()
    c.wrote(to.key, atomic=True)
    return results
