"""Reductions in no order: the author's own, builtin ones, and positions (spec: logical-program 5)."""

from __future__ import annotations

import inspect
from typing import ClassVar

from intent.diagnostics import IntrinsicOutsideKernel
from intent.language import dtypes
from intent.language.intrinsic import Intrinsic, Namespace, intrinsic
from intent.language.kinds import Axes, Helper, Value
from intent.types import DType

__all__ = ["arg_reduce", "histogram", "reduce"]


@intrinsic("reduce.sum")
def reduce_sum(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """The sum over ``axis``. i8, i16 widen to i32; u8, u16 to u32; f8, f16, bf16 to f32; empty gives 0.

    Args:
        value: a numeric tensor.
        axis: one axis or a tuple of axes; they are removed from the shape.
        acc_dtype: the dtype to accumulate in and to give, instead of the widened one.
        identity: accepted when it equals 0.

    Raises:
        InvalidAxis, WrongDType.

    spec: logical-program 6
    """


@intrinsic("reduce.prod")
def reduce_prod(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """The product over ``axis``; empty gives 1. See ``I.reduce.sum`` for the arguments."""


@intrinsic("reduce.max")
def reduce_max(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """The largest element over ``axis``; NaN if any is NaN; empty gives -inf or the smallest integer."""


@intrinsic("reduce.min")
def reduce_min(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """The smallest element over ``axis``; NaN if any is NaN; empty gives +inf or the largest integer."""


@intrinsic("reduce.any")
def reduce_any(value: Value, axis: Axes, identity: Value = None) -> Value:
    """Whether some element of a bool tensor over ``axis`` holds; empty gives False."""


@intrinsic("reduce.all")
def reduce_all(value: Value, axis: Axes, identity: Value = None) -> Value:
    """Whether every element of a bool tensor over ``axis`` holds; empty gives True."""


class Reduce(Intrinsic[...]):
    """``I.reduce(...)`` with the author's combine, and ``I.reduce.sum`` and its like for the common ones."""

    sum: ClassVar = reduce_sum
    prod: ClassVar = reduce_prod
    max: ClassVar = reduce_max
    min: ClassVar = reduce_min
    any: ClassVar = reduce_any
    all: ClassVar = reduce_all

    def __call__(
        self,
        value: Value,
        axis: Axes,
        identity: Value,
        combine: Helper,
        combine_operands: tuple[Value, ...] = (),
        acc_dtype: DType | None = None,
    ) -> Value:
        """Combine the elements over ``axis`` in any order and grouping; empty gives ``identity``.

        Choosing this operation declares ``combine`` associative and commutative with ``identity`` neutral.

        Args:
            value: a tensor, or a record or tuple of tensors of one shape.
            axis: one axis or a tuple of axes; they are removed from the shape.
            identity: per component one element-level value, or a value of the result's shape.
            combine: a pure helper of two accumulators (and the operands), or I.add, I.maximum, I.minimum.
            combine_operands: run-time values that ``combine`` takes after its two accumulators.
            acc_dtype: the dtype to convert a single tensor to before combining.

        Raises:
            ImpureHelper, SchemaMismatch, InvalidAxis, RuntimeCapture.

        spec: logical-program 5
        """
        raise IntrinsicOutsideKernel(self.name)


_call = inspect.signature(Reduce.__call__)
reduce = Reduce(
    "reduce",
    _call.replace(parameters=list(_call.parameters.values())[1:]),  # without self
    inspect.getdoc(Reduce.__call__),
    {},
)


@intrinsic("arg_reduce.max")
def arg_max(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """``(values, indices)`` of the largest elements over one ``axis``; NaN wins; the lowest index on ties.

    Indices count from 0 along the reduced axis and have dtype ``index``. An empty axis is invalid input.

    Raises:
        InvalidAxis, WrongDType.

    spec: logical-program 6
    """


@intrinsic("arg_reduce.min")
def arg_min(value: Value, axis: Axes, acc_dtype: DType | None = None, identity: Value = None) -> Value:
    """``(values, indices)`` of the smallest elements over one ``axis``; as ``I.arg_reduce.max``."""


class ArgReduce(Namespace):
    """Reductions that also give the position of the element found."""

    name = "arg_reduce"
    max = arg_max
    min = arg_min


arg_reduce = ArgReduce()


@intrinsic("histogram")
def histogram(
    values: Value,
    bins: Value,
    valid: Value = True,
    count_dtype: DType = dtypes.i32,
) -> Value:
    """How often each of ``0 .. bins - 1`` occurs among the active ``values``; shape ``(bins,)``.

    Args:
        values: an integer tensor; active elements must be in range.
        bins: the number of bins, at least 1.
        valid: a bool that broadcasts to ``values``; where it is False the element is silent.
        count_dtype: an integer dtype; counts wrap like integers.

    Raises:
        WrongDType, ShapeMismatch.

    spec: logical-program 6
    """
