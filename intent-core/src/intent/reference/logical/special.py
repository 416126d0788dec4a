"""Functions that numpy does not have, in double precision, from Python's mathematics library.

They are evaluated element by element: slow, but independent of every other implementation in this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _elementwise(fn: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        flat = np.fromiter(map(fn, x.reshape(-1).tolist()), np.float64, count=x.size)
        return flat.reshape(x.shape)

    return apply


def _zeta_minus_one(k: int) -> float:
    """``zeta(k) - 1`` by the Euler-Maclaurin formula from n = 200 on."""
    n = 200.0
    tail = [
        n ** (1 - k) / (k - 1),
        n**-k / 2,
        k * n ** (-k - 1) / 12,
        -k * (k + 1) * (k + 2) * n ** (-k - 3) / 720,
    ]
    tail.append(k * (k + 1) * (k + 2) * (k + 3) * (k + 4) * n ** (-k - 5) / 30240)
    return math.fsum([float(m) ** -k for m in range(2, 200)] + tail)


EULER_GAMMA = 0.57721566490153286061
LGAMMA_SERIES = [(-1) ** k * _zeta_minus_one(k) / k for k in range(2, 34)]


def _lgamma_at_two(z: float) -> float:
    """``lgamma(2 + z)`` for ``|z| <= 1/2``, with small relative error although it vanishes at z = 0."""
    total = 0.0
    for coefficient in reversed(LGAMMA_SERIES):
        total = (total + coefficient) * z
    return z * ((1 - EULER_GAMMA) + total)


def _lgamma(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    if 0 < x < 0.5:
        return _lgamma_at_two(x) - math.log(x * (1 + x))
    if 0.5 <= x < 1.5:
        return _lgamma_at_two(x - 1) - math.log1p(x - 1)
    if 1.5 <= x < 2.5:
        return _lgamma_at_two(x - 2)
    if 2.5 <= x < 4.5:
        factor = x - 1 if x < 3.5 else (x - 1) * (x - 2)
        return math.log(factor) + _lgamma_at_two(x - 3 if x < 3.5 else x - 4)
    return math.lgamma(x)


FRACTION_BITS = 120


def _i0(x: float) -> float:
    """Modified Bessel function of order zero: its power series in integers, or for large x its expansion."""
    x = abs(x)
    if math.isnan(x) or math.isinf(x):
        return x
    if x < 20.0:
        top, bottom = x.as_integer_ratio()
        quarter = (top * top << FRACTION_BITS) // (4 * bottom * bottom)
        term = total = 1 << FRACTION_BITS
        k = 1
        while term:
            term = (term * quarter >> FRACTION_BITS) // (k * k)
            total += term
            k += 1
        return total / (1 << FRACTION_BITS)
    if x > 714.0:
        return math.inf
    small, parts = 1.0, [1.0]
    for k in range(1, 40):
        small *= (2 * k - 1) ** 2 / (8 * k * x)
        parts.append(small)
        if small < 1e-20:
            break
    # exp(x) alone overflows before the quotient does.
    half = math.exp(x / 2)
    return half / math.sqrt(2 * math.pi * x) * math.fsum(parts) * half


erf = _elementwise(math.erf)
erfc = _elementwise(math.erfc)
lgamma = _elementwise(_lgamma)
i0 = _elementwise(_i0)


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))`` without overflow on either side."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, e) / (1.0 + e))


def rsqrt(x: Array) -> Array:
    """``1 / sqrt(x)``; infinities of the zeros keep their sign."""
    return np.asarray(1.0 / np.sqrt(x))
