"""Accesses of the logical side: gathers, reads and writes, collisions, atomics and allocations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from intent import kir
from intent.physical.verify.trial.logical import NOTHING, Logical, Unclean, handles, place
from intent.physical.verify.trial.ring import Array, Ring, fingerprint, storage
from intent.types import DType

__all__ = ["apply_atomic"]


@handles(kir.Gather)
def _gather(m: Logical, op: kir.Gather) -> None:
    source = m[op.source]
    m[op.result] = _selected(m, op, source.ravel(), source.shape, ())


def _selected(
    m: Logical, op: kir.Gather | kir.Load, flat: Array, extents: tuple[int, ...], assumed: Sequence[bool]
) -> Array:
    """Elements of ``flat`` through the relation of ``op``; the fill where nothing is read."""
    shape = m.size(op.result.shape)
    if op.valid is None:
        number, inside = m.elements(op.relation, extents, shape, assumed)
    else:
        number, inside = m.elements(op.relation, extents, shape)
        valid = np.broadcast_to(m[op.valid], shape)
        if any(assumed) and bool(np.any(valid & ~inside)):
            raise Unclean("a coordinate that is promised to be inside is not")
        inside = inside & valid
    if isinstance(op, kir.Load):
        m.events.reads[op.id].append(number[inside])
        if op.source.mutable:
            m.touch(op.source, "read", number[inside])
    fill = m.ring.constant(0, op.result.dtype) if op.fill is None else m[op.fill]
    if flat.size == 0:
        return np.broadcast_to(fill, shape)
    return np.where(inside, flat[np.where(inside, number, 0)], fill)


def storage_of(m: Logical, resource: kir.Resource) -> Array:
    """The flat elements of a view or buffer."""
    return m.memory[place(resource)] if isinstance(resource, kir.View) else m.buffers[resource.id]


@handles(kir.Load)
def _load(m: Logical, op: kir.Load) -> None:
    m[op.result] = _selected(m, op, storage_of(m, op.source), m.size(op.source.shape), op.assumed)


@handles(kir.AssumeInBounds)
def _assume(m: Logical, op: kir.AssumeInBounds) -> None:
    at, (extent,) = m[op.index], m.size((op.target.shape[op.axis],))
    if not np.all((at >= 0) & (at < extent)):
        raise Unclean("an index that is promised to be inside is not")


@handles(kir.BufferAlloc)
def _allocate(m: Logical, op: kir.BufferAlloc) -> None:
    m.allocations += 1
    m.lives[op.buffer.id] = m.allocations
    shape = m.size(op.buffer.shape)
    count = int(np.prod(shape, dtype=np.int64))
    contents = np.full(count, NOTHING).astype(storage(op.buffer.dtype))
    if op.init is not None:
        contents = np.array(np.broadcast_to(m[op.init], shape), storage(op.buffer.dtype)).ravel()
        m.events.writes[op.id].add(np.arange(count, dtype=np.int64), (contents,))
    m.buffers[op.buffer.id] = contents


def _where(
    m: Logical,
    op: kir.Store | kir.ScatterReduce | kir.Atomic,
    shape: tuple[int, ...],
    assumed: Sequence[bool] = (),
) -> tuple[Array, Array]:
    """The elements that a write goes to, flat, and the flat points of its shape that take part."""
    number, inside = m.elements(op.relation, m.size(op.target.shape), shape)
    valid = np.ones((), np.bool_) if op.valid is None else m[op.valid]
    if any(assumed) and bool(np.any(valid & ~inside)):
        raise Unclean("a coordinate that is promised to be inside is not")
    taken = np.flatnonzero(np.broadcast_to(inside & valid, shape))
    return number.ravel()[taken], taken


def _flat(array: Array, shape: tuple[int, ...], taken: Array) -> Array:
    return np.broadcast_to(array, shape).ravel()[taken]


@handles(kir.Store)
def _store(m: Logical, op: kir.Store) -> None:
    shape = m.size(op.value.shape)
    elements, taken = _where(m, op, shape, op.assumed)
    if np.unique(elements).size != elements.size:
        raise Unclean("a unique write meets an element twice")
    m.touch(op.target, "write", elements)
    values = _flat(m[op.value], shape, taken)
    storage_of(m, op.target)[elements] = values
    m.events.writes[op.id].add(elements, (values,))


@handles(kir.ScatterReduce)
def _scatter(m: Logical, op: kir.ScatterReduce) -> None:
    shape = m.size(op.value.shape)
    elements, taken = _where(m, op, shape)
    values = _flat(m[op.value], shape, taken)
    flat = storage_of(m, op.target)
    if op.kind is not None:
        combine_at(m.ring, flat, elements, values, op.kind, op.target.dtype)
    else:
        assert op.combine is not None
        pairs = list(zip(elements, values, strict=True))
        for at, value in reversed(pairs) if m.in_order else pairs:
            (flat[at],) = m.region(op.combine, (flat[at], value))
    m.events.writes[op.id].add(elements, ())


def combine_at(ring: Ring, flat: Array, elements: Array, values: Array, kind: str, dtype: DType) -> None:
    """``flat[e] = flat[e] (kind) v`` for every pair, collisions included."""
    if kind in ("sum", "add") and dtype.is_float and ring.infinite:
        for at, value in zip(elements, values, strict=True):
            flat[at] = ring.add(flat[at], value)
        return
    function = {
        "sum": np.add, "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[kind]  # fmt: skip
    function.at(flat, elements, values)


@handles(kir.Atomic)
def _atomic(m: Logical, op: kir.Atomic) -> None:
    operands = tuple(m[v] for v in op.operands)
    shapes = [v.shape for v in (*op.results, *op.operands)]
    shape = m.size(max(shapes, key=len, default=()))
    elements, taken = _where(m, op, shape)
    given = tuple(_flat(v, shape, taken) for v in operands)
    apply_atomic(m.ring, storage_of(m, op.target), op.kind, elements, given, op.target.dtype)
    m.events.writes[op.id].add(elements, given)
    for k, result in enumerate(op.results):
        found = np.zeros(int(np.prod(shape, dtype=np.int64)), storage(result.dtype))
        found[taken] = m.ring.opaque((elements, *given), fingerprint(f"found {op.id} {k}"), result.dtype)
        m[result] = found.reshape(shape)


def apply_atomic(
    ring: Ring, flat: Array, kind: str, elements: Array, operands: tuple[Array, ...], dtype: DType
) -> None:
    """The change of memory; what an atomic finds there is some value that depends on place and operands only."""
    if kind in ("add", "max", "min", "and", "or", "xor"):
        combine_at(ring, flat, elements, operands[0], kind, dtype)
    elif kind in ("store", "exchange", "compare_exchange"):
        flat[elements] = operands[-1]
