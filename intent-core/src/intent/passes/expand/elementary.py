"""Elementary functions in terms of exp and sqrt."""

from __future__ import annotations

from math import pi
from typing import Final

from intent.passes.expand.term import Term, horner, where
from intent.types.dtypes import F64, I64

# (asin(x) / x - 1) / z on 0 < z <= 0.25, in z = x**2; a Chebyshev fit computed with 40 digits.
_ASIN: Final = (
    0.02961201126697375, -0.019241671750141246, 0.01955451333866538, 0.0030448799083422975, 0.009319560795084145,
    0.009621842970038947, 0.011566459612129914, 0.0139637800122028, 0.017352816540325545, 0.02237215744350722,
    0.03038194447553234, 0.044642857142551895, 0.07500000000000118, 0.16666666666666666,
)  # fmt: skip
_PI_2_LOW: Final = 6.123233995736766e-17
"""What f64 leaves of pi / 2."""


def sigmoid(x: Term) -> Term:
    """The logistic function: small results keep their precision, and from 40 on it is 1 without overflow.

    An error of e counts twice where the quotient lies in a lower binade: in f32 alone it is off by more than 2 ulp.
    """
    e = x.call("minimum", 40.0).call("exp")
    return e / (1.0 + e)


def rsqrt(x: Term) -> Term:
    """The reciprocal of the square root, in f64."""
    return 1.0 / x.call("sqrt")


def asin(x: Term) -> Term:
    """In f64; beyond 1/2 as pi/2 less twice that of sqrt((1 - |x|) / 2), the root in two parts."""
    size = abs(x)
    z = (1.0 - size) * 0.5
    root = z.call("sqrt")
    rest = root * (z * horner(z, _ASIN))
    high = root.bits(I64).call("and", -(1 << 32)).bits(F64)
    low = (z - high * high) / (root + high)
    far = pi / 4 - (((rest + rest) - (_PI_2_LOW - (low + low))) - (pi / 4 - (high + high)))
    far = where(size.equals(1.0), pi / 2, far)
    square = size * size
    near = size + size * (square * horner(square, _ASIN))
    r = where(size > 0.5, far, near)
    return where(x < 0, -r, where(x.equals(0), x, r))
