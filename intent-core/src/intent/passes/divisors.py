"""No lane divides by zero.

Requires: a verified program. Ensures: the same values wherever the divisor is not zero; no integer division or
remainder by zero on any lane, whatever masks silence the lane afterwards.

    %q i32 = pointwise fn=floordiv operands=(%a, %b)      ->      %z bool = pointwise fn=eq operands=(%b, 0)
                                                                  %d i32 = pointwise fn=select operands=(%z, 1, %b)
                                                                  %q i32 = pointwise fn=floordiv operands=(%a, %d)

Divisions without an origin in the kernel find a program's blocks from its number; a program that runs has blocks.
Extents are no divisors of zero where what they count runs: an axis of the segment's, or the range of a loop around
the division. Elsewhere they may be: all lanes of a row of no elements are padding.
Padded lanes and lanes that a condition excludes hold anything, and the masks come later. To a target's compiler a
division by zero is undefined wherever it stands: from ``b // 0`` on masked lanes one concluded that no lane is
masked, and the store after it wrote behind its view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.permissions import Permissions
from intent.physical.walk import map_regions, walk
from intent.types import Extent
from intent.types.extent import Atom, Call

_DIVISIONS: Final = frozenset({"floordiv", "mod"})


def divisors(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Divide by one where an integer divisor is zero."""
    del permissions  # it changes no value
    builder, known = Builder(program), _known(program)
    segments = tuple(
        replace(s, body=_region(s.body, known, _running(a.extent for a in s.axes), builder))
        for s in program.segments
    )
    if all(new.body is old.body for new, old in zip(segments, program.segments, strict=True)):
        return program
    return replace(program, segments=segments)


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Of fragments by id: those that are zero on no lane, and the extents that others are the value of."""

    whole: frozenset[int]
    extents: dict[int, Extent]
    lower: dict[int, tuple[int, ...]]
    """What a minimum is at most."""
    counted: frozenset[int]
    """Numbers that are not negative."""


def _known(program: ph.Program) -> _Known:
    whole: set[int] = set()
    extents: dict[int, Extent] = {}
    lower: dict[int, tuple[int, ...]] = {}
    counted: set[int] = set()
    for segment in program.segments:
        for op in walk(segment.body):
            if _is_not_zero(op, whole):
                whole.add(op.results[0].id)
            if (extent := _extent(op, extents)) is not None:
                extents[op.results[0].id] = extent
            match op:
                case ph.Constant() if op.value >= 0:
                    counted.add(op.result.id)
                case ph.Pointwise(fn="minimum"):
                    lower[op.result.id] = tuple(f.id for f in op.operands)
                case ph.Pointwise(fn="maximum") if any(f.id in counted for f in op.operands):
                    counted.add(op.result.id)
    return _Known(whole=frozenset(whole), extents=extents, lower=lower, counted=frozenset(counted))


def _is_not_zero(op: ph.Op, whole: set[int]) -> bool:
    match op:
        case ph.Constant():
            return op.value != 0
        case ph.Broadcast() | ph.Rename():
            return op.value.id in whole
        case ph.Cast():
            return op.value.id in whole and op.result.dtype.bits >= op.value.dtype.bits
        case ph.Pointwise(fn="select"):
            return all(f.id in whole for f in op.operands[1:])
    return False


def _extent(op: ph.Op, extents: dict[int, Extent]) -> Extent | None:
    match op:
        case ph.LaunchValue():
            return op.extent
        case ph.Broadcast() | ph.Rename():
            return extents.get(op.value.id)
        case ph.Cast():
            return extents.get(op.value.id) if op.result.dtype.bits >= op.value.dtype.bits else None
    return None


def _running(extents: Iterable[Extent]) -> frozenset[Atom]:
    """What cannot be zero where something runs that these extents count."""
    return frozenset(atom for extent in extents for atom in _needed(extent))


def _needed(extent: Extent) -> Iterator[Atom]:
    """The factors of a product; ``N // 64 * 64`` is zero where N is."""
    if len(extent.terms) != 1:
        return
    for atom in extent.terms[0][0]:
        yield atom
        if isinstance(atom, Call) and atom.op == "floordiv":
            yield from _needed(atom.args[0])


def _of_loop(loop: ph.Loop, known: _Known) -> frozenset[Atom]:
    """What cannot be zero in a pass of a loop that begins at 0 or later: its end lies behind that."""
    if loop.begin.id not in known.counted:
        return frozenset()
    ends = (loop.end.id, *known.lower.get(loop.end.id, ()))
    return _running(known.extents[end] for end in ends if end in known.extents)


def _may_trap(op: ph.Op, known: _Known, running: frozenset[Atom]) -> TypeGuard[ph.Pointwise]:
    if not isinstance(op, ph.Pointwise) or op.fn not in _DIVISIONS or op.origin is None:
        return False
    divisor = op.operands[1].id
    extent = known.extents.get(divisor)
    if extent is None or len(extent.terms) != 1:
        return divisor not in known.whole
    return not running.issuperset(extent.terms[0][0])


def _region(region: ph.Region, known: _Known, running: frozenset[Atom], b: Builder) -> ph.Region:
    with b.region(alone=True) as made:
        for op in region.ops:
            b.span, b.origin = op.span, op.origin
            b.keep(_changed(op, known, running, b))
    same = len(made) == len(region.ops) and all(new is old for new, old in zip(made, region.ops, strict=True))
    return region if same else replace(region, ops=tuple(made))


def _changed(op: ph.Op, known: _Known, running: frozenset[Atom], b: Builder) -> ph.Op:
    if _may_trap(op, known, running):
        return replace(op, operands=(op.operands[0], _whole(op.operands[1], b)))
    inside = running | _of_loop(op, known) if isinstance(op, ph.Loop) else running
    return map_regions(op, lambda inner: _region(inner, known, inside, b))


def _whole(divisor: ph.Fragment, b: Builder) -> ph.Fragment:
    zero = b.compare("eq", divisor, b.constant(0, divisor.dtype))
    return b.pointwise("select", zero, b.constant(1, divisor.dtype), divisor)
