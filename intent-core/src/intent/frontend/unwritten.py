"""Reads of Out views that provably come before every write of what they read (language decision 8).

A view that nothing but read-modify-write touches holds only what the allocation held. Inside a loop, a read comes
first when each step reads elements of its own, writes nothing but these, and only afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent.diagnostics import ReadBeforeWrite
from intent.kir import Atomic, For, Load, Op, Region, ScatterReduce, Store, View
from intent.kir.coordinates import read_back
from intent.kir.walk import regions_of, walk
from intent.types.extent import Dyn

Write = Store | ScatterReduce | Atomic


def refuse_unwritten(body: Region, defs: Mapping[int, Op]) -> None:
    """Check the whole kernel. Raises ReadBeforeWrite at the first such read."""
    stored = {op.target.name for op in walk(body) if isinstance(op, Write) and _replaces(op)}
    for op in walk(body):
        if isinstance(op, Load | ScatterReduce | Atomic) and not _replaces(op):
            resource = op.source if isinstance(op, Load) else op.target
            if _is_out(resource) and resource.name not in stored:
                raise ReadBeforeWrite(resource.name, span=op.span)
    _check(body, set(), defs)


def _is_out(resource: object) -> bool:
    return isinstance(resource, View) and resource.mode == "out" and resource.alias is None


def _replaces(op: Op) -> bool:
    """Whether an operation writes without the old value taking part."""
    return isinstance(op, Store) or (isinstance(op, Atomic) and op.kind == "store")


def _check(body: Region, written: set[str], defs: Mapping[int, Op]) -> None:
    """The loops of a region; ``written`` are the resources that may have been written before."""
    for op in body.ops:
        if isinstance(op, For):
            for load, loops in _loads(op, ()):
                if load.source.name not in written and _first(load, loops, op, defs):
                    raise ReadBeforeWrite(load.source.name, span=load.span)
        inner = [x for region in regions_of(op) for x in walk(region)]
        written |= {x.target.name for x in (op, *inner) if isinstance(x, Write)}


def _loads(loop: For, around: tuple[For, ...]) -> Iterator[tuple[Load, tuple[For, ...]]]:
    """Reads of Out views with the loops around them, reached without a condition."""
    loops = (*around, loop)
    for op in loop.body.ops:
        if isinstance(op, Load) and _is_out(op.source):
            yield op, loops
        elif isinstance(op, For):
            yield from _loads(op, loops)


def _first(load: Load, loops: Sequence[For], outermost: For, defs: Mapping[int, Op]) -> bool:
    """Whether every step reads elements that no earlier one wrote."""
    writes = [
        op for op in walk(outermost.body) if isinstance(op, Write) and op.target.name == load.source.name
    ]
    own = [op for op in loops[-1].body.ops if isinstance(op, Write) and op in writes]
    if len(own) != len(writes) or any(op.relation != load.relation for op in own):
        return False
    order = list(loops[-1].body.ops)
    if any(order.index(op) < order.index(load) for op in own):
        return False
    return all(_pinned(loop, load, defs) for loop in loops)


def _pinned(loop: For, load: Load, defs: Mapping[int, Op]) -> bool:
    """Whether some coordinate is the loop's variable plus what does not change in any loop."""
    variable = Dyn(loop.body.args[0].id)
    for coordinate, axes in zip(load.relation.coordinates, load.relation.axes, strict=True):
        expression = read_back(dict(defs), coordinate, axes)
        if expression is None or axes:
            continue
        varying = [a for a in expression.atoms() if isinstance(a, Dyn)]
        if varying == [variable] and any(m == (variable,) for m, _ in expression.terms):
            return True
    return False
