"""A loop that only passes on what the loop before it put into a buffer becomes part of that loop.

Requires: a verified program. Ensures: the same stores of the same values; the buffer is gone where nothing else reads
it.

    loop i { ..; store !p[i + lane], %v; .. }           loop i { ..; store @y[i + lane], f(%v); .. }
    fence !p                                     ->
    loop j { %w = load !p[j + lane];
             store @y[j + lane], f(%w) }

A scan along a row that is walked in blocks, and the outputs of a region scan, come out of construction in the first
form: the statement that stores them has a loop of its own. The buffer costs a write and a read of every element.

Guards: both loops have one range, and every pass of the first writes elements of its own; the second reads them at the
very lanes that wrote them, and otherwise only what neither loop changes; what it writes nothing touches from the
beginning of the first loop to its own; it uses no result of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from intent import physical as ph
from intent.construct.cleanup import remove_unread
from intent.passes.building import Builder
from intent.passes.copying import Copier
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.physical.advance import moves_on
from intent.physical.walk import operands_of, resources_of, walk

_PURE: Final = (
    ph.Constant,
    ph.LaunchValue,
    ph.Argument,
    ph.Lane,
    ph.Pointwise,
    ph.Cast,
    ph.Bitcast,
    ph.Broadcast,
    ph.Rename,
)


def fusion(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Fuse loops that hand elements over through a buffer."""
    del permissions  # it changes no value
    if not program.workspace:
        return program
    writes = [op.target for op in _all(program) if isinstance(op, ph.Store | ph.Atomic)]
    once: set[ph.Resource] = {b for b in program.workspace if sum(w == b for w in writes) == 1}
    fused = rewrite_regions(program, lambda b, region: _fused(b, region, once))
    return fused if fused is program else _without_unread(fused)


def _all(program: ph.Program) -> Iterator[ph.Op]:
    for segment in program.segments:
        yield from walk(segment.body)


# -- the loops -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two loops of a region, and the one store and the loads of the buffer between them."""

    first: ph.Loop
    second: ph.Loop
    between: Sequence[ph.Op]
    store: ph.Store


def _fused(b: Builder, region: ph.Region, once: Collection[ph.Resource]) -> ph.Region | None:
    """The region with one pair of its loops fused, or None if there is none."""
    for n, second in enumerate(region.ops):
        if not isinstance(second, ph.Loop) or second.results:
            continue
        for m in range(n - 1, -1, -1):
            first = region.ops[m]
            if not isinstance(first, ph.Loop):
                if not isinstance(first, (*_PURE, ph.Fence, ph.BufferAlloc)):
                    break
                continue
            between = region.ops[m + 1 : n]
            store = _handed_over(first, second, once, b)
            if store is not None:
                pair = _Pair(first=first, second=second, between=between, store=store)
                body = _body(b, pair) if _independent(pair) else None
                if body is not None:
                    before, after = _split(pair)
                    loop = replace(first, body=body)
                    ops = (*region.ops[:m], *before, loop, *after, *region.ops[n + 1 :])
                    return replace(region, ops=ops)
            break
    return None


def _handed_over(
    first: ph.Loop, second: ph.Loop, once: Collection[ph.Resource], b: Builder
) -> ph.Store | None:
    """The store of the first loop that the second one reads, if every pass writes elements of its own."""
    if (first.begin, first.end, first.step) != (second.begin, second.end, second.step):
        return None
    read = {op.source for op in second.body.ops if isinstance(op, ph.Load)}.intersection(once)
    for op in [op for op in first.body.ops if isinstance(op, ph.Store) and op.target in read]:
        if any(moves_on(c, first, b.known.definition) for c in op.coordinates):
            return op
    return None


def _independent(pair: _Pair) -> bool:
    """Whether the second loop's passes may each run at the end of the first loop's."""
    inside = list(walk(pair.second.body))
    if not all(isinstance(op, (*_PURE, ph.Load, ph.Store, ph.Fence)) for op in inside):
        return False
    before = [*walk(pair.first.body), *pair.between]
    if any(isinstance(op, ph.Atomic) for op in before):
        return False
    touched = {
        r.memory for op in before for r in resources_of(op) if not isinstance(op, ph.Fence | ph.BufferAlloc)
    }
    changed = {op.target.memory for op in before if isinstance(op, ph.Store)} - {pair.store.target.memory}
    reads = {op.source.memory for op in inside if isinstance(op, ph.Load)}
    writes = {op.target.memory for op in inside if isinstance(op, ph.Store)}
    if writes & touched or reads & changed or writes & reads:
        return False
    late = {f.id for op in _split(pair)[1] for f in op.results} | {f.id for f in pair.first.results}
    return not any(f.id in late for op in inside for f in operands_of(op))


def _split(pair: _Pair) -> tuple[list[ph.Op], list[ph.Op]]:
    """What stands between the loops, in two parts: what the first loop does not concern, and the rest.

    A fence of memory that the first loop does not touch holds as well in front of it, and what the second one does
    there comes after it still.
    """
    late = {f.id for f in pair.first.results}
    touched = {r.memory for op in walk(pair.first.body) for r in resources_of(op)}
    before: list[ph.Op] = []
    after: list[ph.Op] = []
    for op in pair.between:
        early = isinstance(op, (*_PURE, ph.BufferAlloc)) or (
            isinstance(op, ph.Fence) and op.target.memory not in touched
        )
        if early and not any(f.id in late for f in operands_of(op)):
            before.append(op)
        else:
            after.append(op)
            late |= {f.id for f in op.results}
    return before, after


def _body(b: Builder, pair: _Pair) -> ph.Region | None:
    """The first loop's body with the second one's behind it, or None where a read meets other lanes."""
    first, second, store = pair.first, pair.second, pair.store
    copier = Copier(b, {second.body.args[0].id: first.body.args[0]})
    with b.region() as ops:
        for op in first.body.ops:
            b.keep(op)
        for op in second.body.ops:
            if not isinstance(op, ph.Load) or op.source != store.target:
                copier.op(op)
                continue
            coordinates = tuple(copier.get(c) for c in op.coordinates)
            valid = None if op.valid is None else copier.get(op.valid)
            if coordinates != store.coordinates or store.valid not in (None, valid):
                return None
            value = b.broadcast(store.value, op.result.dims)
            if op.valid is not None and not _silent(b, second, op.valid):
                fill = copier.get(op.fill) if op.fill is not None else b.constant(0, value.dtype)
                value = b.pointwise("select", copier.get(op.valid), value, fill)
            copier.names[op.result.id] = value
    return replace(first.body, ops=tuple(ops))


def _silent(b: Builder, loop: ph.Loop, test: ph.Fragment) -> bool:
    """Whether nothing comes of lanes where the test fails: no store takes place there, nor another read."""
    accesses = [op for op in loop.body.ops if isinstance(op, ph.Load | ph.Store)]
    return all(op.valid is not None and test in b.conjuncts(op.valid) for op in accesses)


# -- what is left of buffers -----------------------------------------------------------------------------------------


def _without_unread(program: ph.Program) -> ph.Program:
    """The program without workspace buffers that nothing reads."""
    segments = tuple(replace(s, body=remove_unread(s.body)) for s in program.segments)
    made = replace(program, segments=segments)
    left = {op.buffer for op in _all(made) if isinstance(op, ph.BufferAlloc)}
    return replace(made, workspace=tuple(b for b in program.workspace if b in left))
