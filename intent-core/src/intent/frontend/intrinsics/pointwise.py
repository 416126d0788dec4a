"""Pointwise functions (language, Values)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import WrongDType, WrongKind
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.values import FrontValue
from intent.types.dtypes import F32

__all__ = ["LOWERINGS"]

_UNARY: Final = (
    "exp",
    "log",
    "log2",
    "log1p",
    "lgamma",
    "sin",
    "asin",
    "cos",
    "floor",
    "ceil",
    "round",
    "trunc",
    "erf",
    "erfc",
    "i0",
    "rsqrt",
    "sqrt",
    "sigmoid",
    "abs",
    "isnan",
    "isinf",
)
_BINARY: Final = ("add", "maximum", "minimum", "maximum_num", "minimum_num", "pow")
_PERMITTED: Final = {"exp2": "exp2", "tanh": "tanh", "fdiv": "div"}
"""Intrinsics with an approximate form, and the function of the logical IR that they are."""


def _unary(call: Call) -> FrontValue:
    return call.builder.pointwise(call.name, call.front("value"), what=call.what)


def _binary(call: Call) -> FrontValue:
    return call.builder.pointwise(call.name, call.front("lhs"), call.front("rhs"), what=call.what)


def _fma(call: Call) -> FrontValue:
    return call.builder.pointwise("fma", *map(call.front, "abc"), what=call.what)


def _clamp(call: Call) -> FrontValue:
    """NaN of the value or of a bound propagates (language decision 9)."""
    raised = call.builder.pointwise("maximum", call.front("value"), call.front("lo"), what=call.what)
    return call.builder.pointwise("minimum", raised, call.front("hi"), what=call.what)


def _permitted(call: Call) -> FrontValue:
    """Approximation and flushing are permissions for this one operation, on f32 only."""
    operands = [call.front(p) for p in ("value", "lhs", "rhs") if p in call.arguments]
    approximate = call.flag("approximate")
    flush = "flush_to_zero" in call.arguments and call.flag("flush_to_zero")
    if flush and not approximate:
        raise WrongKind(
            call.what,
            expected="approximate=True beside flush_to_zero=True",
            found="False",
            argument="approximate=",
            span=call.builder.span,
        )
    if approximate:
        found = {call.builder.text_of(f, "the operand"): call.builder.dtype_of(f) for f in operands}
        if any(dtype not in (None, F32) for dtype in found.values()):
            raise WrongDType(
                f"{call.what} with approximate=True", expected="f32", found=found, span=call.builder.span,
                fix="leave approximate= out, or cast the operand to I.f32",
            )  # fmt: skip
        operands = [call.builder.materialize(f, F32, call.what) for f in operands]
    return call.builder.pointwise(
        _PERMITTED[call.name], *operands, what=call.what, approximate=approximate, flush_to_zero=flush
    )


LOWERINGS: Final[dict[str, Lower]] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_PERMITTED, _permitted),
    "fma": _fma,
    "clamp": _clamp,
}
