"""Passes over the blocks of a loop that can change nothing are not made.

Requires: a verified program. Ensures: the same results; of a fold by the author's ``combine(x, identity) == x``.

    loop begin=%0 end=%N step=%64 {                       %7 = pointwise fn=add operands=(%first_row, %128)
      %3 = pointwise fn=le operands=(%column, %row)  ->   %8 = pointwise fn=minimum operands=(%N, %7)
      %4 = pointwise fn=select operands=(%3, %l, %-inf)   loop begin=%0 end=%8 step=%64 {
      ...                                                   ...

A predicate over the loop's lanes is taken for false. If then every carry comes out as it went in, or the slice's
summary is the fold's identity, and nothing is written, then the blocks where the predicate is false on every
lane do nothing, and the loop's bounds are tightened to the others. Nothing here knows what a causal mask is.

``0 * x`` is 0 only for a finite ``x``. A block of weights that are all zero therefore counts as nothing if the
other operand is zero there too (its reads are masked by the same predicate), or with ``relaxed_normalization``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.constants import same
from intent.passes.copying import Copier
from intent.passes.permissions import Permissions
from intent.passes.ranges import Ranges
from intent.passes.rewriting import rewrite_loops
from intent.physical.walk import walk


def narrowing(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Tighten the bounds of loops whose other passes change nothing."""
    return rewrite_loops(program, lambda b, loop: _narrow(b, loop, permissions))


def _narrow(b: Builder, loop: ph.Loop, permissions: Permissions) -> bool:
    b.span, b.origin = loop.span, loop.origin
    found = [test for test in tests(loop) if _idle_without(b, loop, test, finite=permissions.relaxed)]
    if not found:
        return False
    ranges = Ranges(b, loop, inside(loop))
    begin, end = loop.begin, loop.end
    why: dict[str, list[ph.Fragment]] = {"begin": [], "end": []}
    for test in found:
        if own_lengths(b, loop, test):
            continue
        wanted = ranges.can_hold(test)
        if wanted.high is not None and (beyond := ranges.shifted(wanted.high, 1)) != loop.end:
            end = b.pointwise("minimum", end, beyond)
            why["end"].append(test)
        if wanted.low is not None and (low := first_at(b, ranges, loop, wanted.low)) != loop.begin:
            begin = low if begin == loop.begin else b.pointwise("maximum", begin, low)
            why["begin"].append(test)
    sides = (
        ph.Narrowed(side="begin", bound=loop.begin, tests=tuple(why["begin"])),
        ph.Narrowed(side="end", bound=loop.end, tests=tuple(why["end"])),
    )
    narrowed = tuple(side for side in sides if side.tests)
    if narrowed:
        b.append(replace(loop, begin=begin, end=end, narrowed=(*loop.narrowed, *narrowed)))
    return bool(narrowed)


def own_lengths(b: Builder, loop: ph.Loop, test: ph.Fragment) -> bool:
    """Whether the test says which lanes still have a member of a loop that ends where the longest of them does."""
    known = b.known
    match known.definition.get(known.plain(test).id), known.definition.get(loop.end.id):
        case ph.Pointwise(fn="lt", operands=(_, bound)), ph.Reduce(kind="max", operands=(longest,)):
            lengths = [known.plain(longest)]
            match known.definition.get(lengths[0].id):
                case ph.Pointwise(fn="select", operands=(_, length, _)):
                    lengths.append(known.plain(length))
            return known.plain(bound) in lengths
    return False


def first_at(b: Builder, ranges: Ranges, loop: ph.Loop, low: ph.Fragment) -> ph.Fragment:
    """The first place of the loop's index that is at or after ``low``: blocks stay where they are.

    That is where the loop begins anyway if its step is not known: nothing would show that it is no earlier.
    """
    step, start = b.known.value(loop.step), b.known.value(loop.begin) == 0
    if not isinstance(step, int):
        return loop.begin
    if step == 1:
        return b.pointwise("maximum", loop.begin, low)
    gap = low if start else b.pointwise("sub", low, loop.begin)
    members = b.pointwise("maximum", ranges.shifted(gap, step - 1), b.index(0))
    index = b.pointwise("mul", b.pointwise("floordiv", members, loop.step), loop.step)
    return index if start else b.pointwise("add", loop.begin, index)


def inside(loop: ph.Loop) -> frozenset[int]:
    """Ids of everything that the loop's body defines."""
    args = {a.id for a in loop.body.args}
    return frozenset(args | {r.id for op in walk(loop.body) for r in op.results})


def tests(loop: ph.Loop) -> Iterator[ph.Fragment]:
    """Comparisons of places, and alternatives."""
    for op in loop.body.ops:
        match op:
            case ph.Pointwise(fn="or"):
                yield op.result
            case ph.Pointwise(fn="lt" | "le" | "gt" | "ge" | "eq", operands=(left, _)):
                if left.dtype.name in ("index", "i64"):
                    yield op.result


def _idle_without(b: Builder, loop: ph.Loop, test: ph.Fragment, *, finite: bool) -> bool:
    """Whether a pass on which ``test`` is false everywhere changes nothing."""
    with b.region():
        never = b.constant(False, test.dtype, test.dims)
        copier = Copier(b, {test.id: never}, finite=finite, sums=running_sums(b, loop))
        copier.ops(loop.body.ops)
        if copier.effects:
            return False
        if all(copier.get(y) == arg for y, arg in zip(loop.body.yields, loop.body.args[1:], strict=True)):
            return True
        return bool(loop.summary) and all(
            same(copier.value(part), b.known.value(init))
            for part, init in zip(loop.summary, loop.inits, strict=True)
        )


def running_sums(b: Builder, loop: ph.Loop) -> frozenset[int]:
    """Carries that begin at +0.0 and are only added to: they are never -0.0."""
    found = set()
    for arg, init, y in zip(loop.body.args[1:], loop.inits, loop.body.yields, strict=True):
        if not same(b.known.value(init), 0.0):
            continue
        match b.known.definition.get(y.id):
            case ph.Pointwise(fn="add", operands=operands) if arg in operands:
                found.add(arg.id)
            case ph.Contract(accumulator=start) if start == arg:
                found.add(arg.id)
    return frozenset(found)
