"""Addresses of operands that are read from memory themselves, such as pages of a table.

The threads that copy an operand read what they need of its addresses: neither shared memory nor the table of everything
else is in the way, and a pipeline can read them one pass before the copies that they are for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from intent.physical import (
    Argument,
    Atomic,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Fragment,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Store,
    View,
)
from intent.physical.walk import operands_of
from intent_provider_cupy.emit.hazards import may_meet

PURE = (Constant, LaunchValue, Argument, Lane, Pointwise, Cast, Bitcast, Broadcast)
"""What gives the same wherever and whenever it is computed."""
SLOW = ("floordiv", "mod")
"""Functions of integers that cost as much as all else about an address."""


def where(load: Load) -> list[Fragment]:
    """What says where a load reads, and whether."""
    return [*load.coordinates, *([load.valid] if load.valid is not None else [])]


def behind(values: Iterable[Fragment], inside: Mapping[int, Op], until: Collection[int] = ()) -> list[Op]:
    """The operations that values need, of those ``inside`` a loop, by their results.

    What is behind the operations of ids ``until`` is left out.
    """
    pending = list(values)
    found: dict[int, Op] = {}
    while pending:
        op = inside.get(pending.pop().id)
        if op is not None and op.id not in found:
            found[op.id] = op
            if op.id not in until:
                pending += operands_of(op)
    return list(found.values())


def read(
    operations: Sequence[Op], operands: Collection[int], cheap: Callable[[Fragment], bool]
) -> dict[int, Op]:
    """By its id, each operation between memory and the addresses of operands that one pass of a loop reads.

    ``operations``: all of the segment; ``operands``: the ids of the loads of operands; ``cheap``: whether a value may
    be computed in any table anyway.
    """
    written = [op.target for op in operations if isinstance(op, Store | Atomic)]
    defined = {r.id for op in operations for r in op.results}
    found: dict[int, Op] = {}
    for loop in operations:
        if not isinstance(loop, Loop):
            continue
        inside = {r.id: op for op in loop.body.ops for r in op.results}
        for load in loop.body.ops:
            if not isinstance(load, Load) or load.id not in operands:
                continue
            needed = behind(where(load), inside)
            if not any(isinstance(op, Load) for op in needed):
                continue
            given = [o for op in needed for o in operands_of(op) if o.dims and o.id not in inside]
            if all(o.id in defined for o in given) and all(_repeatable(op, written) for op in needed):
                found.update((op.id, op) for op in needed if not cheap(op.result))
    return found


def _repeatable(op: Op, written: Sequence[object]) -> bool:
    """Whether an operation gives the same again, in any threads and a pass before."""
    if isinstance(op, Load):
        return isinstance(op.source, View) and not any(may_meet(op.source, w) for w in written)  # type: ignore[arg-type]
    return isinstance(op, PURE)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Operations behind the addresses of a pass, by id: ``early`` ones run a pass before, to give ``kept`` results."""

    kept: frozenset[int]
    early: frozenset[int]
    late: frozenset[int]


def parts(loads: Sequence[Load], inside: Mapping[int, Op]) -> Parts:
    """Of all addresses, what is read and what takes long is kept for the copies; nothing, if none is read."""
    values = [f for load in loads for f in where(load)]
    needed = behind(values, inside)
    if not any(isinstance(op, Load) for op in needed):
        return Parts(kept=frozenset(), early=frozenset(), late=frozenset(op.id for op in needed))
    slow = {op.id for op in needed if isinstance(op, Load) or getattr(op, "fn", "") in SLOW}
    late = {op.id: op for op in behind(values, inside, slow)}
    kept = frozenset(late.keys() & slow)
    early = behind([late[i].result for i in kept], inside)
    return Parts(kept=kept, early=frozenset(op.id for op in early), late=frozenset(late.keys() - kept))
