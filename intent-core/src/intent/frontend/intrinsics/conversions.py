"""Casts, bitcasts and choices between values (language, Values and Numbers)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import SchemaMismatch, WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.values import (
    FrontValue,
    Literal,
    Record,
    Tuple,
    arranged,
    leaves,
    rebuild,
    same_structure,
)
from intent.types.dtypes import BOOL, INDEX

__all__ = ["LOWERINGS"]


def _cast(call: Call) -> FrontValue:
    return call.builder.cast(call.front("value"), call.some_dtype("dtype"))


def _bitcast(call: Call) -> FrontValue:
    value, dtype = call.data("value"), call.some_dtype("dtype")
    blind = BOOL in (value.dtype, dtype) or INDEX in (value.dtype, dtype)
    if blind or value.dtype.bits != dtype.bits:
        kind = "a number that is stored" if blind else f"a dtype of {dtype.bits} bits"
        raise WrongDType(
            call.what,
            expected=f"{kind} to become {dtype}",
            found={call.text("value"): value.dtype},
            fix="bitcast between numeric dtypes of equal width; I.cast converts the value",
            span=call.builder.span,
        )
    return value if value.dtype is dtype else call.builder.bitcast(value, dtype)


def _select(call: Call) -> FrontValue:
    return _choose(call, "condition", "true_value", "false_value")


def _mask(call: Call) -> FrontValue:
    """``value`` where valid, else ``fill``: a select, which suppresses no write."""
    return _choose(call, "valid", "value", "fill")


def _choose(call: Call, condition: str, chosen: str, other: str) -> FrontValue:
    a = call.front(chosen)
    b = arranged(call.front(other), a)
    if not isinstance(a, Tuple | Record):
        return call.builder.pointwise("select", call.front(condition), a, b, what=call.what)
    if isinstance(b, Literal):
        parts: list[FrontValue] = [b for _ in leaves(a)]
    elif same_structure(a, b):
        parts = list(leaves(b))
    else:
        raise SchemaMismatch(
            f"{other}= of {call.what}", expected=a.describe(), found=b.describe(), span=call.builder.span
        )
    pairs = zip(leaves(a), parts, strict=True)
    condition_value = call.front(condition)
    return rebuild(
        a, iter([call.builder.pointwise("select", condition_value, x, y, what=call.what) for x, y in pairs])
    )


LOWERINGS: Final[dict[str, Lower]] = {
    "cast": _cast,
    "bitcast": _bitcast,
    "select": _select,
    "mask": _mask,
}
