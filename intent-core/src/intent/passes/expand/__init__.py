"""Pointwise functions that a provider lacks, rewritten into arithmetic that every target has.

Requires: a verified program. Ensures: no pointwise function outside ``functions``; results within the accuracy of the
language (Values and Numbers), wherever the function stands, combine regions included.

    %y f32 = pointwise fn=erf operands=(%x)        ->        about 40 operations

Assumed of every target: arithmetic, comparisons, select, floor, ceil, sqrt, exp, exp2, log, sin, casts and bitcasts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final, TypeGuard

from intent import physical as ph
from intent.passes.expand.bessel import i0
from intent.passes.expand.elementary import asin, rsqrt, sigmoid
from intent.passes.expand.error_function import erf, erfc
from intent.passes.expand.fma import fma
from intent.passes.expand.gamma import lgamma
from intent.passes.expand.logarithm import log1p
from intent.passes.expand.rounding import round_to_even, trunc
from intent.passes.expand.term import Term, Writer
from intent.physical.walk import map_regions, walk
from intent.types.dtypes import F32, F64

__all__ = ["EXPANSIONS", "expand"]

Rewrite = Callable[..., Term]

EXPANSIONS: Final[dict[str, tuple[Rewrite, bool]]] = {
    "trunc": (trunc, False),
    "round": (round_to_even, False),
    "sigmoid": (sigmoid, True),
    "rsqrt": (rsqrt, True),
    "fma": (fma, False),
    "log1p": (log1p, True),
    "asin": (asin, True),
    "erf": (erf, False),
    "erfc": (erfc, True),
    "lgamma": (lgamma, True),
    "i0": (i0, True),
}
"""Per function the rewrite, and whether f32 goes through f64 (where an approximation will not do)."""


def expand(program: ph.Program, functions: Collection[str]) -> ph.Program:
    """The program with every function outside ``functions`` rewritten, where there is a rewrite."""
    wanted = EXPANSIONS.keys() - frozenset(functions)
    if not any(_lacks(op, wanted) for s in program.segments for op in walk(s.body)):
        return program
    writer = Writer(program)
    segments = tuple(replace(s, body=_region(s.body, wanted, writer)) for s in program.segments)
    return replace(program, segments=segments)


def _lacks(op: ph.Op, wanted: Collection[str]) -> TypeGuard[ph.Pointwise]:
    return isinstance(op, ph.Pointwise) and op.fn in wanted


def _region(region: ph.Region, wanted: Collection[str], writer: Writer) -> ph.Region:
    made: list[ph.Op] = []
    for op in region.ops:
        if _lacks(op, wanted):
            made += _expanded(op, writer)
        else:
            made.append(map_regions(op, lambda inner: _region(inner, wanted, writer)))
    return replace(region, ops=tuple(made))


def _expanded(op: ph.Pointwise, writer: Writer) -> list[ph.Op]:
    """The operations that compute the result of ``op`` under the same id."""
    rewrite, through_f64 = EXPANSIONS[op.fn]
    exact = through_f64 and not op.approximate
    wide = F64 if exact or op.result.dtype is F64 else F32
    return writer.stand_in(op, rewrite, wide)
