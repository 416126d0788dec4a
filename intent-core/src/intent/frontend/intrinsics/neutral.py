"""The neutral elements of builtin combines, and recognising them in an author's ``identity=``."""

from __future__ import annotations

import math
from typing import Final

import ml_dtypes

from intent.frontend.builder import Builder
from intent.frontend.values import FrontValue, Literal, Tensor
from intent.kir import Broadcast, Cast, Constant, Reshape, Value
from intent.types import DType
from intent.types.dtypes import F8E4M3FN

__all__ = ["COMBINES", "is_neutral", "neutral"]

COMBINES: Final = {"add": "sum", "maximum": "max", "minimum": "min"}
"""Intrinsics that may stand as ``combine``, and the builtin that each one is (language decision 11)."""


def neutral(kind: str, dtype: DType) -> bool | int | float:
    """The identity of a builtin reduction or scan over elements of ``dtype``."""
    match kind:
        case "sum":
            return 0.0 if dtype.is_float else 0
        case "prod":
            return 1.0 if dtype.is_float else 1
        case "any":
            return False
        case "all":
            return True
    lowest = kind in ("max", "argmax")
    if not dtype.is_float:
        return dtype.minimum if lowest else dtype.maximum
    limit = 448.0 if dtype is F8E4M3FN else math.inf
    return -limit if lowest else limit


def is_neutral(builder: Builder, identity: FrontValue, kind: str, dtype: DType) -> bool:
    """Whether an author's identity is provably the builtin's own: a literal, or a full of one."""
    found = constant_of(builder, identity, dtype)
    if found is None or isinstance(found, bool) != (dtype.kind == "bool"):
        return False
    # -inf is the published identity of max for every float, e4m3 without infinities included.
    infinite = (
        isinstance(found, float) and math.isinf(found) and dtype.is_float and kind not in ("sum", "prod")
    )
    return found == neutral(kind, dtype) or (infinite and (found < 0) == (neutral(kind, dtype) < 0))


def constant_of(builder: Builder, front: FrontValue, dtype: DType) -> bool | int | float | None:
    """The one constant that a literal, or data of ``dtype``, is everywhere; None if it is not provably one."""
    if isinstance(front, Literal):
        return front.value
    return (
        _constant_behind(builder, front.value) if isinstance(front, Tensor) and front.dtype is dtype else None
    )


def finite_limit(kind: str, dtype: DType) -> float | int:
    """The lowest finite number of a dtype for max, the highest for min."""
    if not dtype.is_float:
        return dtype.minimum if kind == "max" else dtype.maximum
    highest = float(ml_dtypes.finfo(dtype.numpy).max)  # type: ignore[no-untyped-call]
    return -highest if kind == "max" else highest


def _constant_behind(builder: Builder, value: Value) -> bool | int | float | None:
    """The constant that every element of a value is, looking through casts, broadcasts and reshapes."""
    op = builder.defs.get(value.id)
    if isinstance(op, Constant):
        return op.value
    return _constant_behind(builder, op.value) if isinstance(op, Broadcast | Cast | Reshape) else None
