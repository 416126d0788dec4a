"""What the regions of a segment contain: who reads a value, which fragments there are, how wide they get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import prod

from intent.physical import Atomic, Dim, Fragment, Region, Segment, Store
from intent.physical.walk import operands_of, regions_of

LANES_A_THREAD = 256
"""Most lanes of one fragment that a thread is asked to hold while its block can grow."""


def users_of(region: Region) -> dict[int, set[int]]:
    """The operations that read each value; a yield is read by nobody in particular (-1)."""
    found: dict[int, set[int]] = defaultdict(set)
    pending = [region]
    while pending:
        current = pending.pop()
        for fragment in current.yields:
            found[fragment.id].add(-1)
        for op in current.ops:
            for operand in operands_of(op):
                found[operand.id].add(op.id)
            pending.extend(regions_of(op))
    return found


def fragments(region: Region) -> Iterator[Fragment]:
    """Every value of the region and of nested ones, arguments and lanes of effects included."""
    yield from region.args
    for op in region.ops:
        yield from op.results
        if isinstance(op, Store | Atomic):
            yield Fragment(id=-1, dtype=op.target.dtype, dims=op.dims)
        for inner in regions_of(op):
            yield from fragments(inner)


def size_of(dims: Iterable[Dim]) -> int:
    """How many lanes the dims have together."""
    return prod((d.size for d in dims), start=1)


def added_together(op: Atomic) -> bool:
    """Whether one instruction may do an atomic access of neighbouring lanes, if nobody reads their old values."""
    return op.kind == "add" and op.order == "relaxed" and op.target.dtype.name in ("f32", "f16", "bf16")


def threads_for(segments: Iterable[Segment], knobs: dict[str, int]) -> int:
    """Threads of a block: what the plan says, but no more than the widest fragment has lanes.

    More than the plan says where a thread would hold more lanes than it has registers: spilled lanes cost more than
    a large block, and a compiler takes minutes over them.
    """
    widest = max((size_of(f.dims) for s in segments for f in fragments(s.body)), default=1)
    if widest == 1:
        return 1
    most = 32 * knobs["num_warps"] if "num_warps" in knobs else max(32, min(256, widest // 4))
    threads = max(32, min(most, widest, 1024))
    while threads < 1024 and widest > LANES_A_THREAD * threads:
        threads *= 2
    return threads
