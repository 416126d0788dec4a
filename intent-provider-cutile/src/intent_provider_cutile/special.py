"""Functions of the prelude that cuTile has no operation for: erf, erfc, lgamma and i0, all in f64.

The polynomials are Chebyshev fits, computed with 40 digits, of the function named beside each; their errors are below
half a unit in the last place of f64 relative to the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# erf(x) / x on 0 <= x**2 <= 1, in z = x**2.
_ERF: Final = (
    5.957176147748911e-11, -1.1372848856791674e-09, 1.4659775274047436e-08, -1.6350312701054695e-07,
    1.6461000484121368e-06, -1.4925595266831182e-05, 0.0001205533111164271, -0.000854832698083379,
    0.0052239776248180145, -0.026866170645076792, 0.11283791670954879, -0.3761263890318375, 1.1283791670955126,
)  # fmt: skip
# exp(x**2) * erfc(x) * (x + 1) on 0.5 <= x <= 30, in s = (x - 3.5) / (x + 3.5).
_ERFC: Final = (
    4.650567556062766e-09, 1.6584961860691008e-09, -4.1690424053258164e-08, -1.6986211302048913e-08,
    2.6854429217881824e-07, 7.30562670848854e-08, -1.7214463586310778e-06, 4.0495208786851946e-07,
    1.1315826497233452e-05, -1.4718121722653297e-05, -6.309295732862117e-05, 0.0002281498254205904,
    -6.856345291650572e-06, -0.00197381741175166, 0.007428546169883405, -0.01592328244790748, 0.021273196320565697,
    -0.01033089562551509, -0.031909714805622845, 0.11128744263401649, -0.21463711248519343, 0.6988214502400243,
)  # fmt: skip
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
# i0(x) on 0 <= x <= 8: 1 / (4**k k!**2) for k = 24 ... 0, in x**2.
_I0_NEAR: Final = (
    9.228877211181495e-63, 2.1263333094562166e-59, 4.499321282809354e-56, 8.71068600351891e-53,
    1.5365650110207356e-49, 2.458504017633177e-46, 3.5500798014623073e-43, 4.60090342269515e-40,
    5.318644356635594e-37, 5.4462918211948485e-34, 4.9016626390753635e-31, 3.842903509035085e-28,
    2.5978027721077174e-25, 1.4963343967340453e-22, 7.242258480192779e-20, 2.896903392077112e-17,
    9.385966990329842e-15, 2.4028075495244395e-12, 4.709502797067901e-10, 6.781684027777778e-08,
    6.781684027777777e-06, 0.00043402777777777775, 0.015625, 0.25, 1.0,
)  # fmt: skip
# i0(x) * exp(-x) * sqrt(x) on x >= 8, in s = 16 / x - 1.
_I0_FAR: Final = (
    -2.1026384897988802e-11, 3.908387942826915e-11, 1.588423350992965e-10, -3.1469409440481513e-10,
    -5.517743440732131e-10, 1.1879241078722262e-09, 1.19167453655378e-09, -2.8411410774923857e-09,
    -1.8880957563391057e-09, 4.957147335316315e-09, 2.6547902915057677e-09, -6.9145475501901456e-09,
    -4.184523888729429e-09, 7.910872177098164e-09, 7.83448429524067e-09, -5.569090680737431e-09,
    -1.348907570380097e-08, -6.7100093246245074e-09, 7.569785257070744e-09, 2.1542842690546706e-08,
    3.932406802805976e-08, 8.872268159209354e-08, 2.973599767639828e-07, 1.483847543824492e-06,
    1.1143033787275596e-05, 0.00013621607439232331, 0.0033605519836678952, 0.4021765094450081,
)  # fmt: skip


def _horner(name: str, variable: str, coefficients: Sequence[float]) -> str:
    """Statements that evaluate a polynomial, highest power first."""
    first, second, *rest = coefficients
    lines = [f"{name} = {first!r} * {variable} + {second!r}"]
    lines += [f"{name} = {name} * {variable} + {c!r}" for c in rest]
    return "\n    ".join(lines)


ERF_NEAR: Final = f"""
def _erf_near(x):
    # erf for |x| <= 1.
    z = x * x
    {_horner("p", "z", _ERF)}
    return x * p
"""

ERFC_FAR: Final = f"""
def _erfc_far(x):
    # erfc for x >= 0.5; exp(-x * x) from an exact square and a small rest.
    x = ct.minimum(x, 30.0, propagate_nan=True)
    s = (x - 3.5) / (x + 3.5)
    {_horner("p", "s", _ERFC)}
    high = ct.bitcast(ct.bitcast(x, ct.int64) >> 27 << 27, ct.float64)
    return ct.exp(-(high * high)) * (ct.exp((high - x) * (high + x)) * (p / (x + 1.0)))
"""

ERF: Final = """
def _erf(x):
    size = ct.abs(x)
    far = 1.0 - _erfc_far(ct.maximum(size, 1.0, propagate_nan=True))
    return ct.where(size < 1.0, _erf_near(x), ct.where(x < 0, -far, far))
"""

ERFC: Final = """
def _erfc(x):
    size = ct.abs(x)
    far = _erfc_far(ct.maximum(size, 0.5, propagate_nan=True))
    return ct.where(size < 0.5, 1.0 - _erf_near(x), ct.where(x < 0, 2.0 - far, far))
"""

LGAMMA: Final = f"""
def _lgamma_positive(x):
    # Arguments below 8 are moved to 1.5 ... 2.5, with the factors passed on the way.
    near = ct.minimum(x, 8.0)
    y = near
    up = y < 0.5
    low = ct.where(up, y * (y + 1.0), 1.0)
    y = ct.where(up, y + 2.0, y)
    one = y < 1.5
    past = ct.where(one, y - 1.0, 0.0)
    y = ct.where(one, y + 1.0, y)
    factor = y * 0.0 + 1.0
    for i in range(6):
        down = y > 2.5
        y = ct.where(down, y - 1.0, y)
        factor = ct.where(down, factor * y, factor)
    t = ct.where(one, past, y - 2.0)
    {_horner("p", "t", _LGAMMA)}
    small = t * p + ct.log(factor) - _log1p(past) - ct.log(low)
    big = ct.maximum(x, 8.0)
    r = 1.0 / big
    z = r * r
    {_horner("q", "z", _STIRLING)}
    large = (big - 0.5) * (ct.log(big) - 1.0) + (0.4189385332046727 + q * r)
    return ct.where(x < 8.0, small, ct.where(x == INF, INF, large))


def _lgamma(x):
    # Below zero by reflection; zeros of the sine are the poles.
    size = ct.abs(x)
    away = ct.abs(size - ct.floor(size + 0.5))
    sine = ct.sin(3.141592653589793 * away)
    mirrored = ct.log(3.141592653589793 / (size * sine)) - _lgamma_positive(size)
    pole = (size == INF) | ((x <= 0) & (away == 0.0))
    tiny = size < 1e-100
    r = ct.where(x < 0, ct.where(tiny, -ct.log(size), mirrored), _lgamma_positive(size))
    return ct.where(x != x, x, ct.where(pole, INF, r))
"""

I0: Final = f"""
def _i0(x):
    size = ct.abs(x)
    near = ct.minimum(size, 8.0)
    z = near * near
    {_horner("p", "z", _I0_NEAR)}
    far = ct.maximum(size, 8.0)
    s = 16.0 / far - 1.0
    {_horner("q", "s", _I0_FAR)}
    # In two halves: the exponential overflows before the function does.
    half = ct.exp(far * 0.5)
    large = half * (q / ct.sqrt(far)) * half
    r = ct.where(size < 8.0, p, ct.where(size == INF, INF, large))
    return ct.where(x != x, x, r)
"""
