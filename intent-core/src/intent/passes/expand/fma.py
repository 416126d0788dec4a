"""A product and a sum with one rounding."""

from __future__ import annotations

from math import inf

from intent.passes.expand.term import Term, where
from intent.types.dtypes import F32, F64, I64


def fma(a: Term, b: Term, c: Term) -> Term:
    """``a * b + c``, rounded once."""
    return _f64(a, b, c) if a.dtype is F64 else _f32(a, b, c)


def _f32(a: Term, b: Term, c: Term) -> Term:
    """The product is exact in f64; the sum keeps its lost bits in the last place, so that one rounding decides."""
    total, lost = _two_sum(a.cast(F64) * b.cast(F64), c.cast(F64))
    return _odd(total, lost).cast(F32)


def _f64(a: Term, b: Term, c: Term) -> Term:
    """Exact product and exact sums in pairs; the last but one sum is rounded to odd."""
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    high = a * b
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    t, t_low = _two_sum(c, low)
    v, v_low = _two_sum(high, t)
    z, lost = _two_sum(t_low, v_low)
    exact = v + _odd(z, lost)
    # Where the parts overflow or there is nothing to split, the plain sum is the answer.
    return where(abs(exact) < inf, exact, high + c)


def _halves(x: Term) -> tuple[Term, Term]:
    p = x * 134217729.0
    high = p - (p - x)
    return high, x - high


def _two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The rounded sum and what rounding has lost."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _odd(total: Term, lost: Term) -> Term:
    """An inexact sum gets an odd last bit: a second, shorter rounding then decides alone."""
    bits = total.bits(I64)
    fix = lost.differs(0) & (bits & 1).equals(0)
    away = (lost < 0).equals(total > 0)
    return where(fix, where(away, bits - 1, bits + 1), bits).bits(F64)
