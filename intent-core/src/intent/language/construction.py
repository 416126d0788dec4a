"""Making values and changing their shape or type (spec: logical-program 2)."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Axes, Shape, Value
from intent.types import DType

__all__ = [
    "bitcast",
    "cast",
    "full",
    "join",
    "mask",
    "record",
    "reshape",
    "select",
    "transpose",
    "zeros",
]


@intrinsic("full")
def full(shape: Shape, fill: Value, dtype: DType) -> Value:
    """A tensor of ``shape`` and ``dtype`` with ``fill`` everywhere; shape ``()`` gives a rank-zero tensor.

    Args:
        shape: non-negative extents, constant or run-time.
        fill: a scalar; a literal takes ``dtype``.
        dtype: the element type of the result.

    Raises:
        MixedDTypes: ``fill`` is a run-time value of another dtype.
        LiteralNotRepresentable: ``fill`` is a literal that ``dtype`` cannot hold.

    spec: logical-program 2
    """


@intrinsic("zeros")
def zeros(shape: Shape, dtype: DType) -> Value:
    """A tensor of ``shape`` and ``dtype`` with zero (False for bool) everywhere.

    spec: logical-program 2
    """


@intrinsic("reshape")
def reshape(value: Value, shape: Shape) -> Value:
    """The elements of ``value`` in row-major order under another ``shape``; dtype and coordinates are kept.

    One extent may be -1 if its value is unique.

    Raises:
        ReshapeCount: the numbers of elements differ, or -1 has no unique value.

    spec: logical-program 2
    """


@intrinsic("transpose", permutation="perm")
def transpose(value: Value, perm: Axes = None) -> Value:
    """The axes of ``value`` in the order ``perm``; without it in reversed order.

    ``permutation=`` means the same as ``perm=``.

    Shape: axis ``i`` of the result is axis ``perm[i]`` of ``value``.

    Raises:
        InvalidPermutation: ``perm`` does not name every axis once.

    spec: logical-program 2
    """


@intrinsic("join")
def join(lhs: Value, rhs: Value) -> Value:
    """Two tensors side by side in a new last axis: ``result[..., 0]`` is lhs, ``[..., 1]`` is rhs.

    Shape: ``shape(lhs) + (2,)``; both operands share one shape and dtype.

    Raises:
        MixedDTypes, ShapeMismatch: the operands differ.

    spec: logical-program 2
    """


@intrinsic("cast")
def cast(value: Value, dtype: DType) -> Value:
    """``value`` converted to ``dtype``; the shape is kept.

    Integers keep their low bits; integer to float rounds to nearest even; float to integer truncates (NaN
    and out of range are invalid input); narrower floats round to nearest even; to bool means ``!= 0``.

    Raises:
        LiteralNotRepresentable: ``value`` is a literal that ``dtype`` cannot hold.

    spec: language, numbers
    """


@intrinsic("bitcast")
def bitcast(value: Value, dtype: DType) -> Value:
    """The bits of ``value`` read as ``dtype``; both have the same width and neither is bool or index.

    Raises:
        WrongDType: the widths differ, or one side is bool or index.

    spec: language, values
    """


@intrinsic("select")
def select(condition: Value, true_value: Value, false_value: Value) -> Value:
    """Elementwise ``true_value`` where ``condition`` holds and ``false_value`` elsewhere.

    All three broadcast. Both values are computed. The condition has dtype bool, the other two share a dtype.

    Raises:
        MixedDTypes, WrongDType, ShapeMismatch.

    spec: kernel-and-host 5
    """


@intrinsic("mask")
def mask(value: Value, valid: Value, fill: Value) -> Value:
    """``I.select(valid, value, fill)``. It chooses values; it does not suppress a write of them.

    Raises:
        MixedDTypes, WrongDType, ShapeMismatch.

    spec: logical-program 9
    """


@intrinsic("record")
def record(**fields: Value) -> Value:
    """An immutable product with named fields, read as ``value.name``; fields may differ in dtype and shape.

    Records can be results of helpers, loop carries, accumulators and identities; never parameters of kernels.

    spec: kernel-and-host 3
    """
