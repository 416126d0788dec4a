"""No lane divides by zero.

Requires: a verified program. Ensures: the same values wherever the divisor is not zero; no integer division or
remainder by zero on any lane, whatever masks silence the lane afterwards.

    %q i32 = pointwise fn=floordiv operands=(%a, %b)      ->      %z bool = pointwise fn=eq operands=(%b, 0)
                                                                  %d i32 = pointwise fn=select operands=(%z, 1, %b)
                                                                  %q i32 = pointwise fn=floordiv operands=(%a, %d)

Divisions without an origin in the kernel find a program's blocks from its number; a program that runs has blocks.
Padded lanes and lanes that a condition excludes hold anything, and the masks come later. To a target's compiler a
division by zero is undefined wherever it stands: from ``b // 0`` on masked lanes one concluded that no lane is
masked, and the store after it wrote behind its view.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeGuard

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.permissions import Permissions
from intent.physical.walk import map_regions, walk

_DIVISIONS: Final = frozenset({"floordiv", "mod"})


def divisors(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Divide by one where an integer divisor is zero."""
    del permissions  # it changes no value
    safe = _not_zero(program)
    if not any(_may_trap(op, safe) for s in program.segments for op in walk(s.body)):
        return program
    builder = Builder(program)
    segments = tuple(replace(s, body=_region(s.body, safe, builder)) for s in program.segments)
    return replace(program, segments=segments)


def _may_trap(op: ph.Op, safe: set[int]) -> TypeGuard[ph.Pointwise]:
    if not isinstance(op, ph.Pointwise) or op.fn not in _DIVISIONS or op.origin is None:
        return False
    return op.operands[1].id not in safe


def _not_zero(program: ph.Program) -> set[int]:
    """The fragments that are zero on no lane: extents of what runs at all, literals, and what is made of these."""
    known: set[int] = set()
    for segment in program.segments:
        for op in walk(segment.body):
            if _is_not_zero(op, known):
                known.add(op.results[0].id)
    return known


def _is_not_zero(op: ph.Op, known: set[int]) -> bool:
    match op:
        case ph.Constant():
            return op.value != 0
        case ph.LaunchValue():
            return True
        case ph.Broadcast() | ph.Rename():
            return op.value.id in known
        case ph.Cast():
            return op.value.id in known and op.result.dtype.bits >= op.value.dtype.bits
        case ph.Pointwise(fn="select"):
            return all(f.id in known for f in op.operands[1:])
    return False


def _region(region: ph.Region, safe: set[int], b: Builder) -> ph.Region:
    with b.region(alone=True) as made:
        for op in region.ops:
            b.span, b.origin = op.span, op.origin
            b.keep(_changed(op, safe, b))
    return replace(region, ops=tuple(made))


def _changed(op: ph.Op, safe: set[int], b: Builder) -> ph.Op:
    if _may_trap(op, safe):
        return replace(op, operands=(op.operands[0], _whole(op.operands[1], b)))
    return map_regions(op, lambda inner: _region(inner, safe, b))


def _whole(divisor: ph.Fragment, b: Builder) -> ph.Fragment:
    zero = b.compare("eq", divisor, b.constant(0, divisor.dtype))
    return b.pointwise("select", zero, b.constant(1, divisor.dtype), divisor)
