"""The parts of a normalisation that several walks make: a maximum, and sums of what its exponentials weigh."""

from __future__ import annotations

import math
from dataclasses import dataclass

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import Copier
from intent.passes.forms import function
from intent.passes.shares import Share, Shares


@dataclass(frozen=True, kw_only=True)
class Peak:
    """A running maximum: its loop, what it is the maximum of, and the value that the others subtract."""

    loop: ph.Loop
    of: ph.Fragment
    dims: tuple[ph.Dim, ...]
    value: ph.Fragment
    closing: ph.Reduce | None


@dataclass(frozen=True, kw_only=True)
class Sum:
    """A loop that adds up shares; ``closing`` joins its lanes behind the loop and ``value`` is the outcome."""

    share: Share
    shares: Shares
    closing: ph.Reduce | None
    value: ph.Fragment


class Joined(Copier):
    """Copies a loop's body into the common one: late factors left out, equal reads and products made once."""

    def __init__(self, b: Builder, names: dict[int, ph.Fragment], taken_out: dict[int, ph.Fragment]) -> None:
        super().__init__(b, names, still=True)
        self._taken_out = taken_out

    def _simplified(self, op: ph.Op) -> ph.Fragment | None:
        kept = self._taken_out.get(op.id)
        return super()._simplified(op) if kept is None else self.get(kept)


def same_under(b: Builder, of: ph.Fragment, x: ph.Fragment, masks: list[ph.Fragment]) -> bool:
    """Whether the maximum is over ``x`` itself, but for lanes that the sum's masks leave out as well."""
    while of != x:
        match b.known.definition.get(of.id):
            case ph.Pointwise(fn="select", operands=(test, kept, _)) if test in masks:
                of = kept
            case _:
                return False
    return True


def consistent(shares: Shares) -> bool:
    """Whether all exponentials of a sum are one function of one multiple of their difference."""
    return len({*zip(map(function, shares.exponentials), shares.scales, strict=True)}) == 1


def guarded(b: Builder, x: ph.Fragment) -> ph.Fragment:
    """A maximum as exponents take it: that of nothing counts as 0."""
    nothing = b.compare("eq", x, b.constant(-math.inf, x.dtype))
    return b.pointwise("select", nothing, b.constant(0.0, x.dtype), x)


def rescaled(b: Builder, s: Sum, x: ph.Fragment, safe: ph.Fragment) -> ph.Fragment:
    """By what a sum over exponentials of differences from ``x`` is multiplied to be one from ``safe``."""
    like, scale = s.shares.exponentials[0], s.shares.scales[0]
    gap = b.pointwise("sub", x, safe)
    gap = gap if scale == 1 else b.pointwise("mul", gap, b.constant(scale, gap.dtype))
    return b.pointwise(like.fn, gap, approximate=like.approximate, flush_to_zero=like.flush_to_zero)
