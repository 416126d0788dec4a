"""Counting values into bins (spec: logical-program 6)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import ShapeMismatch, WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.memory import validity
from intent.frontend.values import FrontValue, Tensor
from intent.kir import Histogram

__all__ = ["LOWERINGS"]


def _histogram(call: Call) -> FrontValue:
    values, dtype = call.data("values"), call.some_dtype("count_dtype")
    for name, found in ((call.text("values"), values.dtype), ("count_dtype", dtype)):
        if not found.is_integer:
            raise WrongDType(call.what, expected="an integer", found={name: found}, span=call.builder.span)
    bins = call.extent("bins", call.front("bins"))
    if bins.const == 0:
        raise ShapeMismatch(
            call.what, {"the bins": (bins,)}, fix="give at least one bin", span=call.builder.span
        )
    valid = validity(call, values.shape)
    result = call.builder.emit_one(
        Histogram, dtype, (bins,), values=values.value, valid=valid and valid.value
    )
    return Tensor(value=result)


LOWERINGS: Final[dict[str, Lower]] = {"histogram": _histogram}
