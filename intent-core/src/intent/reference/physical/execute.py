"""Running a whole program: segments, batches of instances, launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import physical
from intent.physical import Op, Program, Region
from intent.physical.walk import walk
from intent.reference.physical import access, atomic, collective, contract, control, histogram, values
from intent.reference.physical.batch import Batch, Execute, Launch, Watch

Array = NDArray[Any]

BATCH_ELEMENTS = 1 << 18
"""About how many elements the largest fragment of a batch has: few enough to stay in the cache."""
BATCH_INSTANCES = 1 << 16

TABLE: Final[dict[type[Op], Execute]] = {
    physical.Constant: values.constant,
    physical.LaunchValue: values.launch_value,
    physical.Argument: values.argument,
    physical.Lane: values.lane,
    physical.Pointwise: values.pointwise,
    physical.Cast: values.cast,
    physical.Bitcast: values.bitcast,
    physical.Broadcast: values.broadcast,
    physical.Rename: values.rename,
    physical.Load: access.load,
    physical.Store: access.store,
    physical.BufferAlloc: access.buffer_alloc,
    physical.Fence: access.fence,
    physical.Atomic: atomic.atomic,
    physical.Reduce: collective.reduce,
    physical.Scan: collective.scan,
    physical.Contract: contract.contract,
    physical.Histogram: histogram.histogram,
    physical.Loop: control.loop,
    physical.If: control.if_then_else,
    physical.While: control.while_loop,
}


def execute(
    program: Program,
    views: Mapping[str, Array],
    scalars: Mapping[str, Any],
    extents: Mapping[str, int],
    *,
    order: np.random.Generator | None = None,
    find_races: bool = False,
    watch: Watch | None = None,
) -> None:
    """Run every instance of ``program`` once, writing Out and InOut views in place.

    ``views`` maps parameter names to numpy arrays of the declared dtypes (any strides that are multiples of
    the element), ``scalars`` names to Python numbers, ``extents`` symbol names and integer scalars to their
    values. ``order``, if given, shuffles the instances and sizes the batches at random: a program whose
    result depends on that is wrong. ``find_races`` looks for elements that two instances touch without order
    (not in programs that order them by acquire and release). ``watch`` is shown every value that an instance
    computes. Guards and launch conditions are the caller's.

    Raises:
        CompilerFault: An active lane accesses memory out of bounds, instances race, or the program is not
            executable.
    """
    races = find_races and not _synchronises(program)
    launch = Launch(TABLE, views, scalars, extents, find_races=races, watch=watch)
    launch.alone = launch.extent(program.length) == 1
    with np.errstate(all="ignore"):
        for segment in program.segments:
            length, largest = launch.extent(segment.length), _largest(segment.body, launch)
            for ids in _batches(length, largest, order):
                batch = Batch(launch, launch.extent(segment.offset) + ids)
                batch.run(segment.body, [ids])


def _synchronises(program: Program) -> bool:
    return any(
        isinstance(op, physical.Atomic) and op.order != "relaxed"
        for segment in program.segments
        for op in walk(segment.body)
    )


def _batches(length: int, largest: int, order: np.random.Generator | None) -> Iterator[NDArray[np.int64]]:
    """Local ids in groups whose fragments are neither tiny nor huge."""
    count = max(1, min(BATCH_ELEMENTS // largest, BATCH_INSTANCES))
    if order is not None:
        count = int(order.integers(1, count + 1))
        everything = order.permutation(length).astype(np.int64)
    for begin in range(0, length, count):
        end = min(begin + count, length)
        yield np.arange(begin, end, dtype=np.int64) if order is None else everything[begin:end]


def _largest(region: Region, launch: Launch) -> int:
    """Elements per instance of the largest fragment or private buffer."""
    sizes = [1]
    for op in walk(region):
        sizes += [prod(d.size for d in f.dims) for f in op.results]
        if isinstance(op, physical.BufferAlloc) and op.buffer.scope != "invocation":
            sizes.append(prod(launch.shape(op.buffer.shape)))
        if isinstance(op, physical.Store | physical.Atomic):
            sizes.append(prod(d.size for d in op.dims))
    return max(sizes)
