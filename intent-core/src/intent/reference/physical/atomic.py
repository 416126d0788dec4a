"""Atomics: the lanes of all instances one after another, in program and lane order."""

from __future__ import annotations

import numpy as np

from intent.physical import Atomic
from intent.physical.ops import AtomicKind
from intent.reference.physical.access import locate, note, outside
from intent.reference.physical.batch import Array, Batch
from intent.reference.physical.functions import compute
from intent.reference.physical.memory import OutOfBounds
from intent.types import DType

FUNCTION = {"add": "add", "max": "maximum", "min": "minimum", "and": "and", "or": "or", "xor": "xor"}


def atomic(batch: Batch, op: Atomic) -> None:
    """Every active lane of the execution dims performs the access once."""
    dims = op.dims
    memory, coordinates, active = locate(batch, op.target, op.coordinates, op.valid, dims)
    shape = (batch.count, *(d.size for d in dims))
    try:
        note(batch, "atomic", op.target, memory, coordinates, active, dims)
        offsets, live = memory.offsets(coordinates, active, 1 + len(dims))
    except OutOfBounds as fault:
        outside(fault, f"atomic {op.kind} of", op.target, op)
    chosen = np.ones(shape, np.bool_) if live is None else np.broadcast_to(live, shape)
    places = np.broadcast_to(offsets, shape)
    operands = [np.broadcast_to(batch.get(v, dims), shape)[chosen] for v in op.operands]
    old = np.zeros(shape, op.target.dtype.numpy)
    old[chosen] = _modify(memory.line, places[chosen], op.kind, operands, op.target.dtype)
    if not op.results:
        return
    batch.set(op.results[0], old)
    if op.kind == "compare_exchange":
        success = np.zeros(shape, np.bool_)
        success[chosen] = _equal_bits(old[chosen], operands[0])
        batch.set(op.results[1], success)


def _modify(line: Array, places: Array, kind: AtomicKind, operands: list[Array], dtype: DType) -> Array:
    """Old values. Accesses to one place happen in order; different places are independent and go together."""
    old = np.zeros(places.size, line.dtype)
    waiting = np.arange(places.size)
    while waiting.size:
        # The first waiting access of every place; ``unique`` reports first occurrences.
        _, first = np.unique(places[waiting], return_index=True)
        turn = waiting[first]
        where = places[turn]
        before = line[where]
        old[turn] = before
        if kind != "load":
            line[where] = _after(kind, before, [o[turn] for o in operands], dtype)
        rest = np.ones(waiting.size, np.bool_)
        rest[first] = False
        waiting = waiting[rest]
    return old


def _after(kind: AtomicKind, before: Array, operands: list[Array], dtype: DType) -> Array:
    if kind in ("store", "exchange"):
        return operands[0]
    if kind == "compare_exchange":
        return np.where(_equal_bits(before, operands[0]), operands[1], before)
    return compute(FUNCTION[kind], dtype, [before, operands[0]])


def _equal_bits(a: Array, b: Array) -> Array:
    word = np.dtype(f"u{a.dtype.itemsize}")
    return np.asarray(np.ascontiguousarray(a).view(word) == np.ascontiguousarray(b).view(word))
