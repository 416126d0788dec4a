"""The logarithm of 1 + x, in f64."""

from __future__ import annotations

from math import inf
from typing import Final

from intent.passes.expand.term import Term, horner, where
from intent.types.dtypes import F64, I64

# (2 atanh(s) / s - 2) / z on 0 < z <= 0.0295, in z = s**2; a Chebyshev fit computed with 40 digits.
_ATANH: Final = (
    0.13089629160675095, 0.13268485680654374, 0.15386250447940192, 0.18181795442371984, 0.2222222239356661,
    0.2857142857079543, 0.4000000000000089, 0.6666666666666666,
)  # fmt: skip
# log(2) in two parts: multiples of the first by an exponent are exact.
_LOG2_HIGH: Final = 0.6931467056274414
_LOG2_LOW: Final = 4.7493250390316726e-07
_SQRT_HALF_BITS: Final = 0x3FE6A09E667F3BCD


def log1p(x: Term) -> Term:
    """``log(1 + x)`` within one unit in the last place.

    1 + x = 2**k * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) = 2 atanh(f / (2 + f)). Near 0,
    f is x itself; elsewhere what rounding 1 + x has lost comes back as a correction.
    """
    u = 1.0 + x
    bits = u.bits(I64)
    k = (bits - _SQRT_HALF_BITS).call("shr", 52)
    near = (x > -0.2928) & (x < 0.4142)
    lost = where(x > 1.0, 1.0 - (u - x), x - (u - 1.0)) / u
    f = where(near, x, (bits - k.call("shl", 52)).bits(F64) - 1.0)
    n = where(near, 0.0, k.cast(F64))
    s = f / (2.0 + f)
    half = f * f * 0.5
    z = s * s
    rest = s * (half + z * horner(z, _ATANH)) + where(near, 0.0, n * _LOG2_LOW + lost)
    r = n * _LOG2_HIGH - ((half - rest) - f)
    r = where(x.equals(0) | x.equals(inf), x, where(x.equals(-1.0), -inf, r))
    return where(x < -1.0, (x - x) / (x - x), where(x.differs(x), x, r))
