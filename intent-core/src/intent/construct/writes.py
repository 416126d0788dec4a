"""Writes at the coordinates of their execution axes: stores, colliding writes and atomics."""

from __future__ import annotations

from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.access import Address, address
from intent.construct.combining import inline
from intent.construct.context import Context
from intent.construct.exchange import Target, exchange, indivisible
from intent.construct.frame import Frame
from intent.construct.point import Point, members_of
from intent.types import Extent

At = tuple[Point, ...]

_ATOMIC: dict[str, ph.ops.AtomicKind] = {"sum": "add", "max": "max", "min": "min"}
_FUNCTION = {"sum": "add", "max": "maximum", "min": "minimum"}


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
    active = frame.active | members_of(at)
    where: Address = address(c, op.relation, shape, assumed, at, frame, op.valid, active)
    coordinates = tuple(p.fragment for p in (*owner, *where.coordinates))
    proofs = (*(ph.REGION for _ in owner), *where.proofs)
    dims = c.emitter.order.sort(c.used_dims(at, frame))
    return Target(resource, key, coordinates, proofs, dims, c.emitter.conjunction(where.validity))


def write_store(c: Context, op: kir.Store, at: At, frame: Frame, *, snapshot: bool) -> None:
    """A unique write. ``snapshot``: other lanes may still have to read what it overwrites."""
    value = c.evaluate(op.value, at, frame)
    to = target_of(c, op, op.target.shape, at, frame)
    if (snapshot and to.key in c.readers) or c.pending(to.key) or c.overtakes(to.key, to.place, op.id):
        c.fence(to.key)  # an earlier write may be of the same element by another lane
    _store(c, to, value.fragment, c.analysis.unique[op.id])


def store_at(c: Context, op: kir.Store, at: At, value: ph.Fragment, frame: Frame) -> None:
    """A unique write of a value that is at hand; the caller has ordered it after what it may overtake."""
    _store(c, target_of(c, op, op.target.shape, at, frame), value, c.analysis.unique[op.id])


def _store(c: Context, to: Target, value: ph.Fragment, unique: ph.Proof | None = None) -> None:
    payload: dict[str, Any] = {
        "target": to.resource,
        "coordinates": to.coordinates,
        "value": value,
        "valid": to.valid,
    }
    c.emitter.effect(ph.Store, **payload, dims=to.dims, proofs=to.proofs, unique=unique)
    c.wrote(to.key)


def write_scatter(c: Context, op: kir.ScatterReduce, at: At, frame: Frame) -> None:
    """A colliding write in the form of the plan."""
    value = c.evaluate(op.value, at, frame).fragment
    to = target_of(c, op, op.target.shape, at, frame)
    form = c.form(op)
    if form == "ordered":
        _combine_in_order(c, op, to, value, frame)
        return
    c.before_atomic(to.key, op)
    if form == "native":
        assert op.kind is not None
        indivisible(c, to, _ATOMIC[op.kind], (value,), "relaxed")
    else:
        exchange(c, to, lambda old: _combined(c, op, old, value, frame))
    c.wrote_atomically(to.key, op)


def _combined(
    c: Context, op: kir.ScatterReduce, old: ph.Fragment, value: ph.Fragment, frame: Frame
) -> ph.Fragment:
    if op.kind is not None:
        return c.emitter.pointwise(_FUNCTION[op.kind], old, value)
    assert op.combine is not None
    (made,) = inline(c, op.combine, (Point(old), Point(value)), frame)
    return made.fragment


def _combine_in_order(
    c: Context, op: kir.ScatterReduce, to: Target, value: ph.Fragment, frame: Frame
) -> None:
    """Read, combine and write by the only owner of the element."""
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
    _store(c, to, _combined(c, op, old, value, frame))


def write_atomic(c: Context, op: kir.Atomic, at: At, frame: Frame) -> tuple[ph.Fragment, ...]:
    """An indivisible access, once per lane; ordered against plain accesses as its memory order says."""
    values = tuple(c.evaluate(v, at if v.rank else (), frame).fragment for v in op.operands)
    to = target_of(c, op, op.target.shape, at, frame)
    if op.order in ("release", "acq_rel"):
        c.settle_writes()
    c.before_atomic(to.key, op)
    results: tuple[ph.Fragment, ...]
    if c.form(op) == "exchange":
        old = exchange(c, to, lambda seen: _updated(c, op.kind, seen, values), op.order)
        results = (old,) if op.results else ()
    else:
        results = indivisible(c, to, op.kind, values, op.order)
    if op.order in ("acquire", "acq_rel"):
        c.settle_writes()
    c.wrote_atomically(to.key, op)
    return results


def _updated(
    c: Context, kind: ph.ops.AtomicKind, old: ph.Fragment, values: tuple[ph.Fragment, ...]
) -> ph.Fragment:
    """What an atomic leaves in the place of ``old``."""
    if kind == "load":
        return old
    if kind in ("store", "exchange"):
        return values[0]
    return c.emitter.pointwise({"max": "maximum", "min": "minimum"}.get(kind, kind), old, values[0])
