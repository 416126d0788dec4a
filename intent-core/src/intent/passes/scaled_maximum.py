"""The maximum of products with one positive factor is the product of the maximum, bit for bit.

Requires: a verified program. Ensures: the same values; only the sign of a zero may differ where both signs meet, which
the language leaves open (language decision 9).

    %l = mul(%t, %c)                                         %l = mul(%t, %c)
    %m = reduce kind=max operands=(%l)               ->      %n = reduce kind=max operands=(%t)
    %w = exp2(sub(%l, %m))                                   %m = mul(%n, %c)
                                                             %w = exp2(sub(%l, %m))        one FMA a member

For ``0 < c < inf`` rounding ``x * c`` is monotone in ``x``, keeps infinities and NaN, and makes no NaN of its own, so
the largest product is the largest factor's. A mask stands aside: ``select(p, x * c, -inf)`` is
``select(p, x, -inf) * c``. The product of every member then has one use, the difference, and compilers make one
operation of both. The factor has to show as positive and finite (``positive``): a constant, or computed from constants
and extents that the plan fixes, such as ``rsqrt(D) * LOG2E``.

The numbers in which programs are compared with kernels (decision 0010) know no such law, their products wrap: this pass
comes behind that comparison, as functions that are spelled with others do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeGuard

from intent import physical as ph
from intent.construct.cleanup import remove_dead
from intent.passes.building import Builder
from intent.passes.positive import fixed_extents, positive
from intent.passes.rewriting import map_control
from intent.physical.walk import walk
from intent.types.extent import Atom


def scaled_maximum(program: ph.Program) -> ph.Program:
    """Take positive factors out of maxima and minima over lanes."""
    if not any(_extreme(op) for s in program.segments for op in walk(s.body)):
        return program
    builder, fixed = Builder(program), fixed_extents(program)
    bodies = [_region(s.body, builder, fixed) for s in program.segments]
    if all(new is s.body for new, s in zip(bodies, program.segments, strict=True)):
        return program
    segments = tuple(
        replace(s, body=remove_dead(body)) for s, body in zip(program.segments, bodies, strict=True)
    )
    return replace(program, segments=segments)


def _extreme(op: ph.Op) -> TypeGuard[ph.Reduce]:
    return isinstance(op, ph.Reduce) and op.kind in ("max", "min") and op.result.dtype.is_float


def _region(region: ph.Region, b: Builder, fixed: Mapping[Atom, int]) -> ph.Region:
    """The region with factors taken out; the same object where there were none."""
    same = True
    with b.region() as made:
        for op in region.ops:
            b.span, b.origin = op.span, op.origin
            new = _taken_out(op, b, fixed)
            if new is None:
                new = map_control(op, lambda inner: _region(inner, b, fixed))
            same &= new is op
            b.keep(new)
    return region if same else replace(region, ops=tuple(made))


def _taken_out(op: ph.Op, b: Builder, fixed: Mapping[Atom, int]) -> ph.Op | None:
    """The product that defines the operation's result, its other factor made before; None where there is none."""
    if _extreme(op):
        found = _product(op.operands[0], b, fixed)
        if found is None or set(b.known.plain(found[1]).dims) & set(op.dims):
            return None
        rest, factor = found
        best = b.add(ph.Reduce, op.result.dtype, op.result.dims, operands=(rest,), dims=op.dims, kind=op.kind)
        return _mul(op, best, b.known.plain(factor))
    match op:
        case ph.Pointwise(fn="select", operands=(test, kept, other)) if b.known.value(other) in _ENDS:
            found = _product(kept, b, fixed)
            if found is not None:
                return _mul(op, b.pointwise("select", test, found[0], other), found[1])
    return None


_ENDS: Final = (-math.inf, math.inf)
"""What positive factors leave as it is."""


def _mul(op: ph.Op, rest: ph.Fragment, factor: ph.Fragment) -> ph.Op:
    return ph.Pointwise(
        id=op.id, results=op.results, origin=op.origin, span=op.span, fn="mul", operands=(rest, factor)
    )


def _product(
    value: ph.Fragment, b: Builder, fixed: Mapping[Atom, int]
) -> tuple[ph.Fragment, ph.Fragment] | None:
    """What a product multiplies, and the factor of the two that is positive and finite."""
    match b.known.definition.get(value.id):
        case ph.Pointwise(fn="mul", operands=(left, right)):
            for rest, factor in ((left, right), (right, left)):
                if rest.dims == value.dims and positive(b.known, fixed, factor) is not None:
                    return rest, factor
    return None
