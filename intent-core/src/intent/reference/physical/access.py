"""Loads, stores and storage (spec: kir-to-gpu-program 4.8 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from intent.diagnostics import CompilerFault, FalseBoundsPromise
from intent.physical import Atomic, Buffer, BufferAlloc, Dim, Fence, Fragment, Load, Resource, Store
from intent.reference.physical.batch import STAGE, Array, Batch, garbage
from intent.reference.physical.lanes import over_lanes
from intent.reference.physical.memory import Memory, OutOfBounds
from intent.reference.physical.races import Access


def load(batch: Batch, op: Load) -> None:
    """Elements of active lanes; the fill, or zero, elsewhere."""
    dims = op.result.dims
    memory, coordinates, active = locate(batch, op.source, op.coordinates, op.valid, dims)
    fill = (
        np.zeros((1,) * (1 + len(dims)), op.result.dtype.numpy)
        if op.fill is None
        else batch.get(op.fill, dims)
    )
    try:
        note(batch, "read", op.source, memory, coordinates, active, dims)
        batch.set(op.result, memory.read(coordinates, active, fill))
    except OutOfBounds as fault:
        outside(fault, "load from", op.source, op)


def store(batch: Batch, op: Store) -> None:
    """Values of active lanes into their elements."""
    memory, coordinates, active = locate(batch, op.target, op.coordinates, op.valid, op.dims)
    try:
        note(batch, "write", op.target, memory, coordinates, active, op.dims)
        memory.write(coordinates, batch.get(op.value, op.dims), active)
    except OutOfBounds as fault:
        outside(fault, "store to", op.target, op)


def locate(
    batch: Batch,
    resource: Resource,
    coordinates: Sequence[Fragment],
    valid: Fragment | None,
    dims: Sequence[Dim],
) -> tuple[Memory, list[Array], Array | None]:
    """The memory, the coordinates over ``dims`` (instance first for private buffers), the active lanes."""
    memory, private = batch.memory(resource)
    arrays = [batch.get(c, dims) for c in coordinates]
    if private:
        arrays.insert(0, np.arange(batch.count, dtype=np.int64).reshape(-1, *([1] * len(dims))))
    active = batch.active_lanes(None if valid is None else batch.get(valid, dims), len(dims))
    return memory, arrays, active


def note(
    batch: Batch,
    access: Access,
    resource: Resource,
    memory: Memory,
    coordinates: Sequence[Array],
    active: Array | None,
    dims: Sequence[Dim],
) -> None:
    """Record an access to shared memory when races are looked for."""
    races = batch.launch.races
    if races is None or (isinstance(resource, Buffer) and resource.scope != "invocation"):
        return
    if access == "read" and batch.launch.alone:
        return
    offsets, live = memory.offsets(coordinates, active, 1 + len(dims))
    if (
        access != "read"
    ):  # every lane of the execution dims acts, also where coordinates do not tell them apart
        offsets = np.broadcast_to(offsets, (batch.count, *(d.size for d in dims)))
    races.record(access, resource.name, memory, offsets, live, over_lanes(batch.ids, len(dims)))


def outside(fault: OutOfBounds, what: str, resource: Resource, op: Load | Store | Atomic) -> NoReturn:
    """Report an active lane outside its resource: the fault of the author's promise, or the compiler's.

    Raises:
        FalseBoundsPromise: The author promised that it is inside.
        CompilerFault: Anything else was held to show that.
    """
    proofs = op.proofs
    axis = fault.axis - (len(fault.shape) - len(proofs))
    extent = fault.shape[fault.axis]
    why = str(proofs[axis]) if 0 <= axis < len(proofs) else "none"
    if why == "assumed":
        raise FalseBoundsPromise(
            resource.name, index=str(fault.value), axis=axis, extent=extent, span=op.span
        ) from None
    raise CompilerFault(
        f"{what} '{resource.name}' at coordinate {fault.value} of axis {axis}, whose extent is {extent} "
        f"(held to be in bounds by: {why})",
        stage=STAGE,
    ) from None


def buffer_alloc(batch: Batch, op: BufferAlloc) -> None:
    """Fresh storage for every active instance; invocation storage exists once for all."""
    buffer = op.buffer
    if buffer.scope == "invocation":
        return
    fresh = garbage((batch.count, *batch.launch.shape(buffer.shape)), buffer.dtype.numpy)
    known = batch.buffers.get(buffer.id)
    if known is not None and batch.active is not None:
        fresh = np.where(batch.active.reshape(-1, *([1] * buffer.rank)), fresh, known.array)
    batch.buffers[buffer.id] = Memory(fresh)


def fence(batch: Batch, op: Fence) -> None:
    """Operations run one after another here, so all accesses are ordered already."""
    del batch, op
