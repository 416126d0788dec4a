"""Elementwise functions of two or three values. Operands share a dtype and broadcast from the last axis."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Value

__all__ = ["add", "clamp", "fdiv", "fma", "maximum", "maximum_num", "minimum", "minimum_num", "pow_"]


@intrinsic("add")
def add(lhs: Value, rhs: Value) -> Value:
    """``lhs + rhs``; integers wrap. May stand as ``combine``.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """


@intrinsic("maximum")
def maximum(lhs: Value, rhs: Value) -> Value:
    """The larger of two numbers; NaN if either is NaN. May stand as ``combine``.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """


@intrinsic("minimum")
def minimum(lhs: Value, rhs: Value) -> Value:
    """The smaller of two numbers; NaN if either is NaN. May stand as ``combine``.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """


@intrinsic("maximum_num")
def maximum_num(lhs: Value, rhs: Value) -> Value:
    """The larger of two numbers; a NaN on one side only is ignored.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """


@intrinsic("minimum_num")
def minimum_num(lhs: Value, rhs: Value) -> Value:
    """The smaller of two numbers; a NaN on one side only is ignored.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """


@intrinsic("fdiv")
def fdiv(lhs: Value, rhs: Value, *, approximate: bool = False, flush_to_zero: bool = False) -> Value:
    """``lhs / rhs`` of floats, correctly rounded unless an option permits less.

    Args:
        lhs: the numerator.
        rhs: the denominator.
        approximate: permit 2 ULP for ``2**-126 <= abs(rhs) <= 2**126`` in this one operation; f32 only.
        flush_to_zero: permit subnormal operands and results to become zero; only with ``approximate``.

    Raises:
        MixedDTypes, ShapeMismatch.
        WrongDType: integers and bool, or an option on a dtype other than f32.

    spec: language, numbers
    """


@intrinsic("pow", base="lhs", exponent="rhs")
def pow_(lhs: Value, rhs: Value) -> Value:
    """``lhs`` to the power of ``rhs``, both floats of one dtype. Accuracy: 8 ULP (f32), 2 ULP (f64).

    Raises:
        MixedDTypes, ShapeMismatch, WrongDType.

    spec: language, numbers
    """


@intrinsic("fma")
def fma(a: Value, b: Value, c: Value) -> Value:
    """``a * b + c`` of floats, rounded once.

    Raises:
        MixedDTypes, ShapeMismatch, WrongDType.

    spec: language, numbers
    """


@intrinsic("clamp")
def clamp(value: Value, lo: Value, hi: Value) -> Value:
    """``value`` limited to ``[lo, hi]``; NaN stays NaN.

    Raises:
        MixedDTypes, ShapeMismatch.

    spec: language, values
    """
