"""Pointwise functions and histograms that a provider lacks, rewritten into arithmetic that every target has.

Requires: a verified program. Ensures: no pointwise function outside ``functions``, no histogram of too many bins;
results within the accuracy of the language (Values and Numbers), wherever the function stands, combine regions too.

    %y f32 = pointwise fn=erf operands=(%x)        ->        about 40 operations

Assumed of every target: arithmetic, comparisons, select, floor, ceil, sqrt, exp, exp2, log, sin, casts and bitcasts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from typing import Final, TypeGuard

from intent import physical as ph
from intent.passes.expand.bessel import i0
from intent.passes.expand.counters import counted
from intent.passes.expand.elementary import asin, rsqrt, sigmoid
from intent.passes.expand.error_function import erf, erfc
from intent.passes.expand.fma import fma
from intent.passes.expand.gamma import lgamma
from intent.passes.expand.histogram import histogram
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


def expand(
    program: ph.Program,
    functions: Collection[str],
    histogram: int = 0,
    atomics: Collection[tuple[str, str]] = (),
    in_planes: int = 0,
) -> ph.Program:
    """The program with every function outside ``functions`` rewritten, where there is a rewrite.

    Histograms of more than ``histogram`` bins are rewritten as well: into sums by atomics, if ``atomics`` has them,
    of at most ``in_planes`` bins in bit planes where loops count them.
    """
    program = counted(program, histogram, atomics, in_planes)
    expansion = _Expansion(program, EXPANSIONS.keys() - frozenset(functions), histogram)
    if not any(expansion.lacks(op) for s in program.segments for op in walk(s.body)):
        return program
    segments = tuple(replace(s, body=expansion.region(s.body)) for s in program.segments)
    return replace(program, segments=segments)


class _Expansion:
    """What is rewritten, and what makes the operations."""

    def __init__(self, program: ph.Program, wanted: Collection[str], bins: int) -> None:
        self.wanted = wanted
        self.bins = bins
        self._program = program

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self._program)

    def lacks(self, op: ph.Op) -> TypeGuard[ph.Pointwise | ph.Histogram]:
        """Whether the target lacks the operation."""
        if isinstance(op, ph.Histogram):
            return op.bins.size > self.bins
        return isinstance(op, ph.Pointwise) and op.fn in self.wanted

    def region(self, region: ph.Region) -> ph.Region:
        """The region with the operations in place of those that the target lacks."""
        made: list[ph.Op] = []
        for op in region.ops:
            if self.lacks(op):
                made += self._expanded(op)
            else:
                made.append(map_regions(op, self.region))
        return replace(region, ops=tuple(made))

    def _expanded(self, op: ph.Pointwise | ph.Histogram) -> list[ph.Op]:
        """The operations that compute the result of ``op`` under the same id."""
        if isinstance(op, ph.Histogram):
            return self._writer.in_place(op, lambda b: histogram(b, op))
        rewrite, through_f64 = EXPANSIONS[op.fn]
        exact = through_f64 and not op.approximate
        wide = F64 if exact or op.result.dtype is F64 else F32
        return self._writer.stand_in(op, rewrite, wide)
