"""The error function, and its complement in f64.

The polynomials are Chebyshev fits, computed with 40 digits, of the function named beside each; their errors are below
half a unit in the last place of f64 relative to the function.
"""

from __future__ import annotations

from typing import Final

from intent.passes.expand.term import Term, horner, where
from intent.types.dtypes import F64, I64

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

# erf(x) / x - 1 on 0 <= x**2 <= 1 for f32, in z = x**2; log2(erfc(x)) on 1 <= x <= 4, in x.
_ERF_F32: Final = (
    7.87587506268514e-05, -0.0008016864287165756, 0.00518908742343396, -0.026854212010626405, 0.11283594715160218,
    -0.37612626666720334, 0.1283791658483509,
)  # fmt: skip
_LOG2_ERFC_F32: Final = (
    2.361910227018601e-06, -6.644770978074627e-05, 0.000861008516515442, -0.006866645968928733, 0.03811764189002414,
    -0.1588119897709087, -0.911532311288859, -1.630582171493444, 0.0004618615766698807,
)  # fmt: skip


def _near(x: Term) -> Term:
    """The error function for |x| <= 1, in f64."""
    return x * horner(x * x, _ERF)


def _far(x: Term) -> Term:
    """The complement for x >= 0.5; exp(-x * x) from an exact square and a small rest."""
    x = x.call("minimum", 30.0)
    p = horner((x - 3.5) / (x + 3.5), _ERFC)
    high = x.bits(I64).call("and", -(1 << 27)).bits(F64)
    square = (-(high * high)).call("exp")
    return square * (((high - x) * (high + x)).call("exp") * (p / (x + 1.0)))


def erf(x: Term) -> Term:
    """The error function."""
    size = abs(x)
    if x.dtype is F64:
        near, far = _near(x), 1.0 - _far(size.call("maximum", 1.0))
    else:
        near = x + x * horner(x * x, _ERF_F32)
        # From 4 on, erfc is less than half a unit in the last place of 1.
        far = 1.0 - horner(size.call("minimum", 4.0), _LOG2_ERFC_F32).call("exp2")
    return where(size < 1.0, near, where(x < 0, -far, far))


def erfc(x: Term) -> Term:
    """Its complement, with the relative accuracy of its own small values."""
    size = abs(x)
    far = _far(size.call("maximum", 0.5))
    return where(size < 0.5, 1.0 - _near(x), where(x < 0, 2.0 - far, far))
