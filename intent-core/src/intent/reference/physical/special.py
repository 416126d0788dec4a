"""Special functions on whole arrays, in double precision.

``erf`` and ``erfc`` come in two accuracies: for results of at most 24 binary digits a Chebyshev interpolant
(relative error below 1e-10), else Python's mathematics library element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[Any]

ERF_ONE = 4.0  # erf rounds to 1 in f32 well before this
ERFC_ZERO = 28.0  # erfc underflows before this even in f64


def _interpolate(fn: Callable[[Array], Array], degree: int) -> Array:
    return np.asarray(chebyshev.chebinterpolate(fn, degree))  # type: ignore[type-var]  # numpy's stub is narrower


@cache
def _erf_polynomial() -> Array:
    """Coefficients of ``erf(x) / x`` in the variable ``x*x / 8 - 1``."""

    def quotient(t: Array) -> Array:
        x = np.sqrt(8.0 * (t + 1.0))
        return np.array([math.erf(v) / v if v > 1e-8 else 2 / math.sqrt(math.pi) for v in x])

    return _interpolate(quotient, 34)


@cache
def _erfc_polynomial() -> Array:
    """Coefficients of ``erfc(x) * exp(x*x) * (x + 2)`` in ``2 * (2 / (x + 2)) - 1`` for x from 0 to 26."""

    def scaled(t: Array) -> Array:
        x = 4.0 / (t + 1.0) - 2.0
        return np.array([_scaled_erfc(float(v)) * (v + 2.0) for v in x])

    return _interpolate(scaled, 40)


def _scaled_erfc(x: float) -> float:
    """``erfc(x) * exp(x*x)``: directly, or by its continued fraction."""
    if x < 2.0:
        return math.erfc(x) * math.exp(x * x)
    value = x
    for k in range(200, 0, -1):
        value = x + (k / 2.0) / value
    return 1.0 / (value * math.sqrt(math.pi))


def erf_single(x: Array) -> Array:
    """The error function to about eleven digits."""
    near = np.clip(x, -ERF_ONE, ERF_ONE)
    value = near * chebyshev.chebval(near * near / 8.0 - 1.0, _erf_polynomial())
    return np.where(np.abs(x) >= ERF_ONE, np.copysign(1.0, x), value)


def erfc_single(x: Array) -> Array:
    """The complementary error function to about eleven digits of itself."""
    y = np.minimum(np.abs(x), ERFC_ZERO)
    scaled = chebyshev.chebval(4.0 / (y + 2.0) - 1.0, _erfc_polynomial()) / (y + 2.0)
    value = np.exp(-y * y) * scaled
    return np.where(np.isnan(x), x, np.where(x < 0, 2.0 - value, value))


def erf_double(x: Array) -> Array:
    """The error function to the last digits."""
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


def erfc_double(x: Array) -> Array:
    """The complementary error function to the last digits."""
    return np.asarray(np.vectorize(math.erfc, otypes=[np.float64])(x))


# Stirling's series: B(2k) / (2k (2k-1)).
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


@cache
def _zeta_coefficients() -> Array:
    """``(-1)^k (zeta(k) - 1) / k`` for k = 1, 2, ..., the Taylor coefficients of lgamma at 2 (k = 1: 1 - gamma)."""
    n = np.arange(2.0, 400.0)
    k = np.arange(2.0, 40.0)[:, None]
    head = np.sort(n**-k, axis=1).sum(axis=1)
    end = 400.0
    order = k[:, 0]
    tail = end ** (1 - order) / (order - 1) + end**-order / 2 + order * end ** (-order - 1) / 12
    signs = np.where(np.arange(2, 40) % 2 == 0, 1.0, -1.0)
    return np.concatenate([[1.0 - np.euler_gamma], signs * (head + tail) / order])


def lgamma(x: Array) -> Array:
    """``log|gamma(x)|``: Stirling's series from 10 on, Taylor's at 2 below, reflection below one half."""
    with np.errstate(all="ignore"):
        low = x < 0.5
        positive = _lgamma_positive(np.where(low, 1.0 - x, x))
        fraction = np.abs(x - np.rint(x))
        reflected = math.log(math.pi) - np.log(np.abs(np.sin(math.pi * fraction))) - positive
        value = np.where(low, reflected, positive)
        pole = np.isinf(x) | ((x <= 0) & (x == np.floor(x)))
    return np.where(pole, np.inf, np.where((x == 1) | (x == 2), 0.0, value))


def _lgamma_positive(x: Array) -> Array:
    """For x of one half and above."""
    return np.where(x < 10.0, _lgamma_below_ten(np.minimum(x, 10.0)), _stirling(np.maximum(x, 10.0)))


def _lgamma_below_ten(x: Array) -> Array:
    product = np.ones_like(x)
    for _ in range(8):  # down to [1.5, 2.5)
        large = x >= 2.5
        product = np.where(large, product * (x - 1.0), product)
        x = np.where(large, x - 1.0, x)
    small = x < 1.5
    z = np.where(small, x - 1.0, x - 2.0)
    total = np.zeros_like(z)
    for coefficient in _zeta_coefficients()[::-1]:
        total = (total + coefficient) * z
    return np.asarray(total - np.where(small, np.log1p(z), 0.0) + np.log(product))


def _stirling(x: Array) -> Array:
    inverse = 1.0 / (x * x)
    series = np.zeros_like(x)
    for coefficient in reversed(STIRLING):
        series = series * inverse + coefficient
    constant = 0.5 * math.log(2 * math.pi)
    return np.asarray((x - 0.5) * np.log(x) - x + constant + series / x)


def i0(x: Array) -> Array:
    """Modified Bessel function of order zero."""
    y = np.abs(x)
    with np.errstate(all="ignore"):
        value = np.asarray(np.i0(np.minimum(y, 700.0)))
        # Beyond 700 the leading terms are enough: exp(y) / sqrt(2 pi y) (1 + 1/(8y) + 9/(128 y^2)).
        half = np.exp(y / 2)
        tail = half / np.sqrt(2 * math.pi * y) * (1 + 1 / (8 * y) + 9 / (128 * y * y)) * half
    return np.where(y <= 700.0, value, np.where(np.isinf(y), np.inf, np.where(np.isnan(x), x, tail)))
