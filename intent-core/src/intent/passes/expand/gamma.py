"""The logarithm of the gamma function's size, in f64."""

from __future__ import annotations

from math import inf, pi
from typing import Final

from intent.passes.expand.logarithm import log1p
from intent.passes.expand.term import Term, horner, where

# lgamma(2 + t) / t on -0.5 <= t <= 1.
_LGAMMA: Final = (
    1.6305432352127331e-09, -1.2394516911278076e-08, 4.4561979632842775e-08, -1.0784595012220329e-07,
    2.2102374422908605e-07, -4.5041997201473635e-07, 9.511969731319312e-07, -2.0371195482358996e-06,
    4.375472004777847e-06, -9.440199753274835e-06, 2.050723289467849e-05, -4.4926118904862264e-05,
    9.945749459386184e-05, -0.00022315476914202685, 0.0005096695270786523, -0.0011927539111748094,
    0.0028905103306125996, -0.007385551028687111, 0.020580808427787502, -0.06735230105319796, 0.3224670334241132,
    0.42278433509846713,
)  # fmt: skip
# Stirling's series, in 1 / x**2: B(2k) / (2k (2k - 1)) for k = 8 ... 1.
_STIRLING: Final = (
    -0.029550653594771242, 0.00641025641025641, -0.0019175269175269176, 0.0008417508417508417,
    -0.0005952380952380953, 0.0007936507936507937, -0.002777777777777778, 0.08333333333333333,
)  # fmt: skip


def _positive(x: Term) -> Term:
    # Arguments below 8 are moved to 1.5 ... 2.5, with the factors passed on the way.
    y = x.call("minimum_num", 8.0)
    up = y < 0.5
    low = where(up, y * (y + 1.0), 1.0)
    y = where(up, y + 2.0, y)
    one = y < 1.5
    past = where(one, y - 1.0, 0.0)
    y = where(one, y + 1.0, y)
    factor = y * 0.0 + 1.0
    for _ in range(6):
        down = y > 2.5
        y = where(down, y - 1.0, y)
        factor = where(down, factor * y, factor)
    t = where(one, past, y - 2.0)
    small = t * horner(t, _LGAMMA) + factor.call("log") - log1p(past) - low.call("log")
    big = x.call("maximum_num", 8.0)
    r = 1.0 / big
    large = (big - 0.5) * (big.call("log") - 1.0) + (0.4189385332046727 + horner(r * r, _STIRLING) * r)
    return where(x < 8.0, small, where(x.equals(inf), inf, large))


def lgamma(x: Term) -> Term:
    """Below zero by reflection; zeros of the sine are the poles."""
    size = abs(x)
    away = abs(size - (size + 0.5).call("floor"))
    sine = (pi * away).call("sin")
    upper = _positive(size)
    mirrored = (pi / (size * sine)).call("log") - upper
    pole = size.equals(inf) | ((x <= 0) & away.equals(0))
    below = where(size < 1e-100, -size.call("log"), mirrored)
    r = where(x < 0, below, upper)
    return where(x.differs(x), x, where(pole, inf, r))
