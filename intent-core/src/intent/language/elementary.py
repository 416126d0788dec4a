"""Elementwise functions of one value. Floats unless said otherwise; shape and dtype are kept.

f16, bf16 and the 8-bit floats compute in f32 and round once (spec: language, numbers).
"""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Value

__all__ = [
    "abs_",
    "asin",
    "ceil",
    "cos",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "floor",
    "i0",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "round_",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
    "trunc",
]


@intrinsic("exp")
def exp(value: Value) -> Value:
    """E to the power of ``value``. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("log")
def log(value: Value) -> Value:
    """The natural logarithm of ``value``. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("log2")
def log2(value: Value) -> Value:
    """The logarithm of ``value`` to base two. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("log1p")
def log1p(value: Value) -> Value:
    """``log(1 + value)``, exact for small values.

    Accuracy: 1 ULP. Raises WrongDType for integers and bool.
    """


@intrinsic("lgamma")
def lgamma(value: Value) -> Value:
    """``log(abs(gamma(value)))``; +inf at the poles and infinities.

    Accuracy: 6 ULP away from its zeros. Raises WrongDType for integers and bool.
    """


@intrinsic("sin")
def sin(value: Value) -> Value:
    """The sine of ``value`` in radians, for any finite argument.

    Accuracy: 2 ULP. Raises WrongDType for integers and bool.
    """


@intrinsic("asin")
def asin(value: Value) -> Value:
    """The principal arcsine of ``value`` in radians.

    Accuracy: 2 ULP. Raises WrongDType for integers and bool.
    """


@intrinsic("cos")
def cos(value: Value) -> Value:
    """The cosine of ``value`` in radians, for any finite argument.

    Accuracy: 2 ULP. Raises WrongDType for integers and bool.
    """


@intrinsic("erf")
def erf(value: Value) -> Value:
    """The error function of ``value``. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("erfc")
def erfc(value: Value) -> Value:
    """The complementary error function; not computed as ``1 - erf(value)``.

    Accuracy: 4 ULP (f32), 5 ULP (f64). Raises WrongDType for integers and bool.
    """


@intrinsic("i0")
def i0(value: Value) -> Value:
    """The modified Bessel function of the first kind, order zero.

    Accuracy: 6 ULP. Raises WrongDType for integers and bool.
    """


@intrinsic("rsqrt")
def rsqrt(value: Value) -> Value:
    """``1 / sqrt(value)``. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("sqrt")
def sqrt(value: Value) -> Value:
    """The square root of ``value``. Correctly rounded. Raises WrongDType for integers and bool."""


@intrinsic("sigmoid")
def sigmoid(value: Value) -> Value:
    """``1 / (1 + exp(-value))``. Accuracy: 2 ULP. Raises WrongDType for integers and bool."""


@intrinsic("floor")
def floor(value: Value) -> Value:
    """The largest integral float not above ``value``. Exact. Raises WrongDType for integers and bool."""


@intrinsic("ceil")
def ceil(value: Value) -> Value:
    """The smallest integral float not below ``value``. Exact. Raises WrongDType for integers and bool."""


@intrinsic("round")
def round_(value: Value) -> Value:
    """The nearest integral float, ties to even. Exact. Raises WrongDType for integers and bool."""


@intrinsic("trunc")
def trunc(value: Value) -> Value:
    """``value`` without its fraction, as a float. Exact. Raises WrongDType for integers and bool."""


@intrinsic("exp2")
def exp2(value: Value, *, approximate: bool = False, flush_to_zero: bool = False) -> Value:
    """Two to the power of ``value``. Accuracy: 2 ULP.

    Args:
        value: a float scalar or tensor.
        approximate: permit 2 ULP hardware forms for this one operation; f32 only.
        flush_to_zero: permit subnormal results to become zero; only together with ``approximate``.

    Raises:
        WrongDType: integers and bool, or an option on a dtype other than f32.

    spec: language, numbers
    """


@intrinsic("tanh")
def tanh(value: Value, *, approximate: bool = False) -> Value:
    """The hyperbolic tangent of ``value``.

    Accuracy: 2 ULP, or 2**-11 relative with ``approximate`` (f32 only).

    Raises:
        WrongDType: integers and bool, or ``approximate`` on a dtype other than f32.

    spec: language, numbers
    """


@intrinsic("abs")
def abs_(value: Value) -> Value:
    """The absolute value of a float or integer; the most negative integer wraps to itself."""


@intrinsic("isnan")
def isnan(value: Value) -> Value:
    """Whether each element is NaN: a bool of the same shape. Raises WrongDType for integers and bool."""


@intrinsic("isinf")
def isinf(value: Value) -> Value:
    """Whether each element is an infinity: a bool of the same shape.

    Raises WrongDType for integers and bool.
    """
