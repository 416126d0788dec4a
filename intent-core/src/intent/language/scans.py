"""Scans: every prefix along an axis, in order (spec: logical-program 5)."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Axes, Helper, Value
from intent.types import DType

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "scan"]


@intrinsic("scan")
def scan(
    value: Value,
    axis: Axes,
    identity: Value,
    combine: Helper,
    inclusive: bool = True,
    reverse: bool = False,
    combine_operands: tuple[Value, ...] = (),
    acc_dtype: DType | None = None,
) -> Value:
    """Every prefix of ``value`` along ``axis``, combined in order and never permuted; the shape is kept.

    Choosing this operation declares ``combine`` associative with ``identity`` neutral; it need not commute.

    Args:
        value: a tensor, or a record or tuple of tensors of one shape.
        axis: one axis.
        identity: per component one element-level value, or one slice without the axis.
        combine: a pure helper of two accumulators (and the operands), or I.add, I.maximum, I.minimum.
        inclusive: whether a prefix includes its own element.
        reverse: from the end, ``acc = combine(acc, x[i])``: flip, forward scan, flip.
        combine_operands: run-time values that ``combine`` takes after its two accumulators.
        acc_dtype: the dtype to convert a single tensor to before combining.

    Raises:
        ImpureHelper, SchemaMismatch, InvalidAxis, RuntimeCapture.

    spec: logical-program 5
    """


@intrinsic("cumsum")
def cumsum(
    value: Value, axis: Axes, inclusive: bool = True, reverse: bool = False, acc_dtype: DType | None = None
) -> Value:
    """Running sums along ``axis``; dtypes widen as in ``I.reduce.sum``. See ``I.scan`` for the arguments."""


@intrinsic("cumprod")
def cumprod(
    value: Value, axis: Axes, inclusive: bool = True, reverse: bool = False, acc_dtype: DType | None = None
) -> Value:
    """Running products along ``axis``. See ``I.scan`` for the arguments."""


@intrinsic("cummax")
def cummax(
    value: Value, axis: Axes, inclusive: bool = True, reverse: bool = False, acc_dtype: DType | None = None
) -> Value:
    """Running maxima along ``axis``; NaN propagates. See ``I.scan`` for the arguments."""


@intrinsic("cummin")
def cummin(
    value: Value, axis: Axes, inclusive: bool = True, reverse: bool = False, acc_dtype: DType | None = None
) -> Value:
    """Running minima along ``axis``; NaN propagates. See ``I.scan`` for the arguments."""
