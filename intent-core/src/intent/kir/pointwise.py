"""The pointwise functions of the logical IR: arity and typing rule, the one table everything else cites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Rule = Literal["same", "bool", "select"]
Operands = Literal["number", "float", "integer", "bool", "bool_or_integer", "any"]


@dataclass(frozen=True)
class PointwiseFunction:
    """``rule``: the result's dtype is the operands' (``same``), ``bool``, or the second operand's (``select``)."""

    name: str
    arity: int
    operands: Operands
    rule: Rule = "same"


def _table(*entries: PointwiseFunction) -> dict[str, PointwiseFunction]:
    return {e.name: e for e in entries}


_FLOAT_UNARY = (
    "exp", "exp2", "log", "log2", "log1p", "lgamma", "sin", "asin", "cos", "floor", "ceil", "round", "trunc", "erf",
    "erfc", "i0", "rsqrt", "sqrt", "sigmoid", "tanh",
)  # fmt: skip

FUNCTIONS: Final[dict[str, PointwiseFunction]] = _table(
    *(PointwiseFunction(n, 1, "float") for n in _FLOAT_UNARY),
    *(PointwiseFunction(n, 1, "number") for n in ("neg", "abs")),
    *(PointwiseFunction(n, 1, "float", "bool") for n in ("isnan", "isinf")),
    PointwiseFunction("not", 1, "bool"),
    PointwiseFunction("invert", 1, "bool_or_integer"),
    *(PointwiseFunction(n, 2, "number") for n in ("add", "sub", "mul", "maximum", "minimum")),
    *(PointwiseFunction(n, 2, "float") for n in ("div", "maximum_num", "minimum_num", "pow")),
    *(PointwiseFunction(n, 2, "integer") for n in ("floordiv", "mod", "shl", "shr")),
    *(PointwiseFunction(n, 2, "bool_or_integer") for n in ("and", "or", "xor")),
    *(PointwiseFunction(n, 2, "any", "bool") for n in ("eq", "ne")),
    *(PointwiseFunction(n, 2, "number", "bool") for n in ("lt", "le", "gt", "ge")),
    PointwiseFunction("fma", 3, "float"),
    PointwiseFunction("select", 3, "any", "select"),
)
"""``div`` is true division (``/`` and fdiv); ``floordiv`` and ``mod`` floor; ``shr`` is arithmetic on signed,
logical on unsigned; ``maximum``/``minimum`` propagate NaN (and are max/min on integers), ``*_num`` ignore a
one-sided NaN; ``clamp`` is lowered to maximum and minimum; ``fdiv`` to ``div`` with ``approximate``."""
