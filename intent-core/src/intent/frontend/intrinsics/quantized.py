"""Block-quantized records and their dot product: checks, then the definitions written in the language."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.records import dot_q4_k_q8_k, quantize_q8_k
from intent.frontend.values import FrontValue, Function, Tensor
from intent.language.quantized import RecordFormat, quant
from intent.types import DType
from intent.types.dtypes import F32, U8
from intent.types.extent import const

__all__ = ["LOWERINGS"]


def _quantize(call: Call) -> FrontValue:
    _format(call, "format", quant.q8_k)
    values = _rows(call, "value", F32, 256)
    return call.inline(Function(definition=quantize_q8_k), [values])


def _quantized_dot(call: Call) -> FrontValue:
    _format(call, "lhs_format", quant.q4_k)
    _format(call, "rhs_format", quant.q8_k)
    if call.some_dtype("acc_dtype") is not F32:
        raise call.wrong_kind("acc_dtype", "I.f32")
    lhs, rhs = _rows(call, "lhs", U8, quant.q4_k.bytes), _rows(call, "rhs", U8, quant.q8_k.bytes)
    what = f"the records of {call.what}"
    call.builder.equal_extents(lhs.shape[0], rhs.shape[0], what, what=call.what)
    return call.inline(Function(definition=dot_q4_k_q8_k), [lhs, rhs])


def _format(call: Call, parameter: str, wanted: RecordFormat) -> None:
    if call.constant(parameter, RecordFormat, repr(wanted)) is not wanted:
        raise call.wrong_kind(parameter, repr(wanted))


def _rows(call: Call, parameter: str, dtype: DType, width: int) -> Tensor:
    """``dtype[G, width]``. Raises WrongDType, WrongKind, ShapeMismatch."""
    tensor = call.data(parameter)
    if tensor.dtype is not dtype:
        found = {call.text(parameter): tensor.dtype}
        raise WrongDType(
            f"{parameter}= of {call.what}", expected=f"{dtype}", found=found, span=call.builder.span
        )
    if tensor.rank != 2:
        raise call.wrong_kind(parameter, f"{dtype}[G, {width}]", found=tensor.describe())
    call.builder.equal_extents(tensor.shape[1], const(width), f"the row of {parameter}=", what=call.what)
    return tensor


LOWERINGS: Final[dict[str, Lower]] = {"quantize": _quantize, "quantized_dot": _quantized_dot}
