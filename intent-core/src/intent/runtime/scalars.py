"""Runtime scalar arguments: the right kind of number, in the range of the declared dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intent.diagnostics import ScalarArgument
from intent.types import DType, Span

__all__ = ["bind_scalar"]


def bind_scalar(parameter: str, dtype: DType, value: object, span: Span | None = None) -> bool | int | float:
    """``value`` as the Python number that a launch passes; floats are rounded to ``dtype`` here, once.

    Raises:
        ScalarArgument: Not a number of the right kind, or outside the range of ``dtype``; at ``span``.
    """
    try:
        return _bound(parameter, dtype, value)
    except ScalarArgument as error:
        raise error.at(span)  # noqa: B904 -- the same error, now with a place


def _bound(parameter: str, dtype: DType, value: object) -> bool | int | float:
    number: Any = value.item() if isinstance(value, np.generic) else value
    if dtype.kind == "bool":
        if isinstance(number, bool):
            return number
        raise ScalarArgument(parameter, dtype=dtype, found=value, reason="must be True or False")
    if isinstance(number, bool):
        raise ScalarArgument(parameter, dtype=dtype, found=value, reason="must be a number, not a bool")
    if dtype.is_integer:
        if not isinstance(number, int):
            raise ScalarArgument(parameter, dtype=dtype, found=value, reason="must be an integer")
        if not dtype.minimum <= number <= dtype.maximum:
            raise ScalarArgument(parameter, dtype=dtype, found=value, reason=f"does not fit {dtype}")
        return number
    if not isinstance(number, (int, float)):
        raise ScalarArgument(parameter, dtype=dtype, found=value, reason="must be a real number")
    return _rounded(parameter, dtype, number)


def _rounded(parameter: str, dtype: DType, number: float) -> float:
    with np.errstate(over="ignore"):
        try:
            rounded = float(np.asarray(number, np.float64).astype(dtype.numpy))
        except OverflowError:  # an int beyond every float
            rounded = math.inf
    if not math.isfinite(rounded) and (isinstance(number, int) or math.isfinite(number)):
        raise ScalarArgument(parameter, dtype=dtype, found=number, reason=f"does not fit {dtype}")
    return rounded
