"""Rounding to integral values."""

from __future__ import annotations

from intent.passes.expand.term import Term, where
from intent.types.dtypes import F64


def trunc(x: Term) -> Term:
    """Toward zero."""
    return where(x < 0, x.call("ceil"), x.call("floor"))


def round_to_even(x: Term) -> Term:
    """To the nearest, ties to even, by the rounding of an addition; the last select keeps the sign of zero."""
    whole = 4503599627370496.0 if x.dtype is F64 else 8388608.0
    size = abs(x)
    r = (size + whole) - whole
    r = where(x < 0, -r, r)
    return where(size < whole, where(r.differs(0), r, x * 0), x)
