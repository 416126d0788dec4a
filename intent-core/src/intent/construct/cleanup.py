"""Removing what nothing uses: pure operations, and carries of loops whose results and body do not need them."""

from __future__ import annotations

from dataclasses import replace

from intent import physical as ph
from intent.physical.walk import map_regions, operands_of, regions_of, walk

EFFECTS = (ph.Store, ph.Fence, ph.Atomic, ph.BufferAlloc)


def remove_dead(region: ph.Region, needed: set[int] | None = None) -> ph.Region:
    """The region without operations whose results are not used and that have no effect."""
    needed = {y.id for y in region.yields} if needed is None else needed
    kept: list[ph.Op] = []
    for op in reversed(region.ops):
        if not _effectful(op) and not any(r.id in needed for r in op.results):
            continue
        live = _inside(op, needed)
        needed |= {f.id for f in operands_of(live)}
        if isinstance(live, ph.Loop):
            needed |= {n.bound.id for n in live.narrowed}
        for inner in regions_of(live):
            needed |= _used(inner)
        kept.append(live)
    return replace(region, ops=tuple(reversed(kept)))


def remove_unread(region: ph.Region) -> ph.Region:
    """The region without buffers that nothing reads, and without what was computed only for them."""
    while True:
        found = list(walk(region))
        read = {op.source for op in found if isinstance(op, ph.Load)}
        read |= {op.target for op in found if isinstance(op, ph.Atomic)}
        unread = {op.buffer for op in found if isinstance(op, ph.BufferAlloc)} - read
        if not unread:
            return region
        region = remove_dead(_without(region, unread))


def _without(region: ph.Region, buffers: set[ph.Buffer]) -> ph.Region:
    kept = []
    for op in region.ops:
        if isinstance(op, ph.BufferAlloc) and op.buffer in buffers:
            continue
        if isinstance(op, ph.Store | ph.Fence) and op.target in buffers:
            continue
        kept.append(map_regions(op, lambda inner: _without(inner, buffers)))
    return replace(region, ops=tuple(kept))


def _effectful(op: ph.Op) -> bool:
    return isinstance(op, EFFECTS) or any(_effectful(o) for r in regions_of(op) for o in r.ops)


def _inside(op: ph.Op, needed: set[int]) -> ph.Op:
    if isinstance(op, ph.Loop):
        return _loop(op, needed)
    if isinstance(op, ph.While):
        return _while(op, needed)
    if isinstance(op, ph.If):
        return _if(op, needed)
    return map_regions(op, remove_dead)


def _loop(op: ph.Loop, needed: set[int]) -> ph.Loop:
    """Drop carries that neither a later use nor a kept carry's computation needs."""
    keep = {k for k, r in enumerate(op.results) if r.id in needed}
    proofs = {t.id for n in op.narrowed for t in n.tests}
    while True:
        yields = tuple(y for k, y in enumerate(op.body.yields) if k in keep)
        region = ph.Region(args=op.body.args, ops=op.body.ops, yields=yields)
        body = remove_dead(region, {y.id for y in yields} | proofs)
        used = _used(body)
        grown = keep | {k for k, a in enumerate(op.body.args[1:]) if a.id in used}
        if grown == keep:
            break
        keep = grown
    order = sorted(keep)
    args = (op.body.args[0], *(op.body.args[1 + k] for k in order))
    return replace(
        op,
        results=tuple(op.results[k] for k in order),
        inits=tuple(op.inits[k] for k in order),
        body=replace(body, args=args),
        summary=_summary(op, body, order),
    )


def _summary(op: ph.Loop, body: ph.Region, order: list[int]) -> tuple[ph.Fragment, ...]:
    """The kept part of a fold's summary; a mark on a value that is gone says nothing any more."""
    kept = tuple(op.summary[k] for k in order) if op.summary else ()
    own = {r.id for o in op.body.ops for r in o.results}
    gone = own - {r.id for o in body.ops for r in o.results}
    return () if any(f.id in gone for f in kept) else kept


def _while(op: ph.While, needed: set[int]) -> ph.While:
    """Drop carries that neither a later use, nor the condition, nor a kept carry's computation needs."""
    condition = remove_dead(op.condition)
    used = _used(condition)
    keep = {k for k, r in enumerate(op.results) if r.id in needed or op.condition.args[k].id in used}
    while True:
        yields = tuple(y for k, y in enumerate(op.body.yields) if k in keep)
        body = remove_dead(ph.Region(args=op.body.args, ops=op.body.ops, yields=yields))
        used = _used(body)
        grown = keep | {k for k, a in enumerate(op.body.args) if a.id in used}
        if grown == keep:
            break
        keep = grown
    order = sorted(keep)
    return replace(
        op,
        results=tuple(op.results[k] for k in order),
        inits=tuple(op.inits[k] for k in order),
        condition=replace(condition, args=tuple(condition.args[k] for k in order)),
        body=replace(body, args=tuple(op.body.args[k] for k in order)),
    )


def _if(op: ph.If, needed: set[int]) -> ph.If:
    """Drop results that nothing uses."""
    order = [k for k, r in enumerate(op.results) if r.id in needed]

    def side(region: ph.Region) -> ph.Region:
        return remove_dead(replace(region, yields=tuple(region.yields[k] for k in order)))

    results = tuple(op.results[k] for k in order)
    return replace(op, results=results, then=side(op.then), orelse=side(op.orelse))


def _used(region: ph.Region) -> set[int]:
    found = {y.id for y in region.yields}
    for op in region.ops:
        found |= {f.id for f in operands_of(op)}
        for inner in regions_of(op):
            found |= _used(inner)
    return found
