"""Arithmetic on invalid input: casts, shift amounts, integer division (language, Numbers)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import DivisionByZero, InvalidCast, ShiftOutOfRange
from intent.reference.logical.rounding import widen
from intent.reference.sanitizer.context import Check, Context
from intent.types import DType

Array = NDArray[Any]

__all__ = ["AFTER", "BEFORE"]


def _pointwise(context: Context, op: kir.Pointwise) -> None:
    dtype = op.operands[-1].dtype
    if not dtype.is_integer or op.fn not in ("shl", "shr", "floordiv", "mod"):
        return
    left, right = (context.machine[v] for v in op.operands)
    point = context.point
    if op.fn in ("shl", "shr"):
        bad = np.asarray((right < 0) | (right >= dtype.bits))

        def shift() -> ShiftOutOfRange:
            return ShiftOutOfRange(first(right, bad), dtype=dtype, bits=dtype.bits, point=point, span=op.span)

        context.deferred.add(op, bad, shift, "shift")
        return
    bad = np.asarray(right == 0)

    def division() -> DivisionByZero:
        operator = "//" if op.fn == "floordiv" else "%"
        shown = first(np.broadcast_to(left, bad.shape), bad)
        return DivisionByZero(shown, operator=operator, point=point, span=op.span)

    context.deferred.add(op, bad, division, "division")


def _cast(context: Context, op: kir.Cast) -> None:
    """Float to integer: NaN or, truncated, out of range. To f8e4m3fn: what rounds beyond its largest number."""
    source, target = op.value.dtype, op.result.dtype
    value = context.machine[op.value]
    if target.is_integer and source.is_float:
        bad = unrepresentable(value, source, target)
    elif target.name == "f8e4m3fn" and source is not target:
        result = context.machine[op.result].astype(np.float32)
        bad = np.isnan(result) & ~(np.isnan(widen(value, source)) if source.is_float else np.False_)
    else:
        return
    point = context.point

    def error() -> InvalidCast:
        return InvalidCast(first(value, bad), source=source, target=target, point=point, span=op.span)

    context.deferred.add(op, np.asarray(bad), error, "cast")


def unrepresentable(value: Array, source: DType, target: DType) -> Array:
    """Where a float truncates to no number of an integer type."""
    wide = widen(value, source).astype(np.float64)
    cut = np.trunc(wide)
    # The bounds are powers of two, so they are exact; the largest integer itself may not be.
    return np.asarray(~((cut >= float(target.minimum)) & (cut < float(target.maximum + 1))))


def first(values: Array, bad: Array) -> str:
    """The first bad element and, in a tensor, where it stands."""
    if not bad.ndim:
        return str(values[()])
    at = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return f"{np.broadcast_to(values, bad.shape)[at]} at [{', '.join(str(int(i)) for i in at)}]"


BEFORE: Final[dict[type[kir.Op], Check]] = {kir.Pointwise: _pointwise}
AFTER: Final[dict[type[kir.Op], Check]] = {kir.Cast: _cast}
