"""Blocks on which a mask holds everywhere are walked without it.

Requires: a verified program. Ensures: the same operations on the same blocks in the same order.

    loop begin=%0 end=%N step=%64 {              ->   %f = ... the first index that a full block does not have
      %3 = pointwise fn=lt operands=(%c, %N)          loop begin=%0 end=%f step=%64 { no mask }
      %4 = load ... valid=%3                          loop begin=%f end=%N step=%64 { as before }

A comparison of the loop's lanes with something that does not move is linear in the index, so the blocks on which
it holds for all lanes are an interval. Before the interval (a window's beginning) and after it (a tail, a diagonal)
the loop stays as it was. What tests whether an access is in bounds stays wherever the coordinate moves. Parts
that write are fenced from each other: they never meet, but that follows from their bounds alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import Copier, guarded
from intent.passes.narrowing import first_at, inside, own_lengths, tests
from intent.passes.permissions import Permissions
from intent.passes.ranges import Range, Ranges
from intent.passes.rewriting import rewrite_loops
from intent.physical.walk import operands_of, walk
from intent.types.extent import Symbol

LARGEST: Final = 100
"""Operations of a body, those of nested loops included, that may be written twice."""
WIDE: Final = 64
"""Lanes of a mask from which on leaving it out is worth a second loop."""


def peeling(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Split loops over blocks into parts with and without masks. Every value stays the same bit for bit."""
    return peeled(program, wide=WIDE) if permissions.peel else program


def peeled(program: ph.Program, *, wide: int) -> ph.Program:
    """Split loops where that takes a mask of at least ``wide`` lanes from a part."""
    reads = Counter(
        op.source.name for s in program.segments for op in walk(s.body) if isinstance(op, ph.Load)
    )
    return rewrite_loops(program, lambda b, loop: not _in_place(loop, reads) and _peel(b, loop, wide))


@dataclass
class _Cut:
    """Where the full blocks begin and end; None is the loop's own bound.

    ``after``: tests that hold from ``low`` on; ``before``: tests that hold up to ``high``.
    """

    low: ph.Fragment | None = None
    high: ph.Fragment | None = None
    after: tuple[ph.Fragment, ...] = ()
    before: tuple[ph.Fragment, ...] = ()


def _peel(b: Builder, loop: ph.Loop, wide: int) -> bool:
    b.span, b.origin = loop.span, loop.origin
    step = b.known.value(loop.step)
    if not isinstance(step, int) or step < 2 or not _may_be_copied(loop):
        return False
    with b.region() as made:
        ranges = Ranges(b, loop, inside(loop))
        found = _found(b, loop, ranges, wide)
        if not found:
            return False
        low, high = None, None
        for held in found.values():
            low = ranges.tighter("maximum", low, held.low)
            high = ranges.tighter("minimum", high, held.high)
        cut = _Cut(
            low=None if low is None else first_at(b, ranges, loop, low),
            high=None if high is None else _beyond(b, ranges, loop, high),
            after=tuple(test for test, held in found.items() if held.low is not None),
            before=tuple(test for test, held in found.items() if held.low is None),
        )
    if cut.high is not None and _nothing(b, loop.begin, cut.high):
        return False
    for op in made:
        b.keep(op)
    _split(b, loop, cut)
    return True


def _nothing(b: Builder, begin: ph.Fragment, end: ph.Fragment) -> bool:
    """Whether constants say that no block is full."""
    match b.known.value(begin), b.known.value(end):
        case int() as first, int() as last:
            return last <= first
    return False


def _found(b: Builder, loop: ph.Loop, ranges: Ranges, wide: int) -> dict[ph.Fragment, Range]:
    """Wide tests that something reads, and where they hold on all lanes: on one side of a bound."""
    found = {}
    for test in tests(loop):
        if (
            prod(d.size for d in test.dims) >= wide
            and _masks(b, loop, test)
            and not own_lengths(b, loop, test)
        ):
            held = ranges.must_hold(test)
            if held != Range():
                found[test] = held
    return found


def _in_place(loop: ph.Loop, reads: Counter[str]) -> bool:
    """Whether the loop reads elements of a view only where it writes the same ones of another.

    Such a program may run with both views on one storage (language decision 7), which is read off one loop.
    """
    ops = list(walk(loop.body))
    written = [op.coordinates for op in ops if isinstance(op, ph.Store) and isinstance(op.target, ph.View)]
    here = [op for op in ops if isinstance(op, ph.Load) and op.coordinates in written]
    own = Counter(op.source.name for op in here)
    return any(count == reads[name] for name, count in own.items())


def _may_be_copied(loop: ph.Loop) -> bool:
    """Whether the body is small and has no effects but stores, which are easy to keep in order."""
    ops = list(walk(loop.body))
    return len(ops) <= LARGEST and not any(
        isinstance(op, ph.Atomic | ph.Fence | ph.BufferAlloc) for op in ops
    )


def _masks(b: Builder, loop: ph.Loop, test: ph.Fragment) -> bool:
    """Whether the body would do without the test: what only decides about accesses that keep it is not worth a loop."""
    reading = {test.id}
    for op in walk(loop.body):
        used = {f.id for f in operands_of(op)} & reading
        if not used:
            continue
        if isinstance(op, ph.Broadcast) or (isinstance(op, ph.Pointwise) and op.fn == "and"):
            reading |= {r.id for r in op.results}
        elif not (isinstance(op, ph.Load | ph.Store) and guarded(b, loop.body.args[0], op)):
            return True
    return False


def _beyond(b: Builder, ranges: Ranges, loop: ph.Loop, high: ph.Fragment) -> ph.Fragment:
    """The first index of a block after ``high``."""
    step = b.known.value(loop.step)
    assert isinstance(step, int)
    gap = _from_begin(b, loop, ranges.shifted(high, step))
    if not _size(b, gap):
        gap = b.pointwise("maximum", gap, b.index(0))
    return _place(b, loop, gap)


def _size(b: Builder, value: ph.Fragment) -> bool:
    """Whether the value is a sum of products of views' extents, which are never negative."""
    op = b.known.definition.get(value.id)
    return isinstance(op, ph.LaunchValue) and all(
        k > 0 and all(isinstance(atom, Symbol) for atom in monomial) for monomial, k in op.extent.terms
    )


def _from_begin(b: Builder, loop: ph.Loop, index: ph.Fragment) -> ph.Fragment:
    return index if b.known.value(loop.begin) == 0 else b.pointwise("sub", index, loop.begin)


def _place(b: Builder, loop: ph.Loop, members: ph.Fragment) -> ph.Fragment:
    """The index after the whole blocks among so many members."""
    index = b.pointwise("mul", b.pointwise("floordiv", members, loop.step), loop.step)
    return index if b.known.value(loop.begin) == 0 else b.pointwise("add", loop.begin, index)


def _split(b: Builder, loop: ph.Loop, cut: _Cut) -> None:
    """The parts in order; the last one defines the loop's results.

    Before ``low`` the tests hold that hold up to ``high``. Where there is no full block, ``high`` comes first.
    """
    at, inits = loop.begin, loop.inits
    if cut.low is not None:
        end = cut.low if cut.high is None else b.pointwise("minimum", cut.low, cut.high)
        inits = _part(b, loop, cut.before, at, b.pointwise("minimum", end, loop.end), inits)
        at = cut.low
        _fence(b, loop)
    if cut.high is None:
        _part(b, loop, cut.after, at, loop.end, inits, last=True)
        _fence_around(b, loop)
        return
    full = (*cut.before, *cut.after)
    inits = _part(b, loop, full, at, _within(b, cut.high, loop), inits)
    _fence(b, loop)
    _part(b, loop, (), cut.high, loop.end, inits, last=True)
    _fence_around(b, loop)


def _within(b: Builder, high: ph.Fragment, loop: ph.Loop) -> ph.Fragment:
    """The lesser of where full blocks end and where the loop does; ``N // 64 * 64`` is within ``N``."""
    known = b.known
    match known.definition.get(high.id):
        case ph.Pointwise(fn="mul", operands=(blocks, _)) if _size(b, loop.end):
            match known.definition.get(blocks.id):
                case ph.Pointwise(operands=operands) if operands == (loop.end, loop.step):
                    return high
    return b.pointwise("minimum", high, loop.end)


def _fence(b: Builder, loop: ph.Loop) -> None:
    """Order the writes of one part before those of the next."""
    written = [op.target for op in walk(loop.body) if isinstance(op, ph.Store)]
    for target in dict.fromkeys(written):
        b.append(ph.Fence(id=b.fresh(), target=target, origin=loop.origin, span=loop.span))


def _fence_around(b: Builder, loop: ph.Loop) -> None:
    """In a loop around, order the writes of the last part before those of the first one in the next pass."""
    if b.nested:
        _fence(b, loop)


def _part(
    b: Builder,
    loop: ph.Loop,
    held: tuple[ph.Fragment, ...],
    begin: ph.Fragment,
    end: ph.Fragment,
    inits: tuple[ph.Fragment, ...],
    *,
    last: bool = False,
) -> tuple[ph.Fragment, ...]:
    """A copy of the loop over a part of its range, on which ``held`` hold; the carries after it."""
    args = tuple(b.renewed(a) for a in loop.body.args)
    names = dict(zip((a.id for a in loop.body.args), args, strict=True))
    with b.region() as ops:
        for test in held:
            names[test.id] = b.constant(True, test.dtype, test.dims)
        copier = Copier(b, names, counter=loop.body.args[0])
        copier.ops(loop.body.ops)
        yields = tuple(
            b.broadcast(copier.get(y), a.dims) for y, a in zip(loop.body.yields, args[1:], strict=True)
        )
    body = ph.Region(args=args, ops=tuple(ops), yields=yields)
    results = loop.results if last else tuple(b.renewed(r) for r in loop.results)
    b.append(
        replace(
            loop,
            id=b.fresh(),
            results=results,
            begin=begin,
            end=end,
            inits=inits,
            body=body,
            summary=tuple(copier.get(f) for f in loop.summary),
            narrowed=_still_narrowed(copier, loop, begin, last=last),
        )
    )
    return results


def _still_narrowed(
    copier: Copier, loop: ph.Loop, begin: ph.Fragment, *, last: bool
) -> tuple[ph.Narrowed, ...]:
    """Where the loop's range was narrowed: its first part begins there, its last part ends there."""
    ends = {"begin": begin == loop.begin, "end": last}
    return tuple(
        replace(n, tests=tuple(copier.get(t) for t in n.tests)) for n in loop.narrowed if ends[n.side]
    )
