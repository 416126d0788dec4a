"""Arithmetic on index literals: construction leaves sums with zero and products with one behind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Final

from intent.provider.emission.python import Value
from intent.types.dtypes import INDEX
from intent_provider_triton.emit.literals import literal

_OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "minimum": min,
    "maximum": max,
}
_NEUTRAL: Final = {"add": "0", "sub": "0", "mul": "1", "floordiv": "1"}
"""The second operand that changes nothing; add and mul commute."""


def folded(fn: str, args: Sequence[Value]) -> Value | None:
    """What an index operation comes to without an operator in the text, None if it needs one."""
    if len(args) != 2:
        return None
    a, b = args
    if a.literal and b.literal:
        return _constant(fn, int(a.text), int(b.text))
    neutral = _NEUTRAL.get(fn)
    if b.literal and b.text == neutral:
        return a
    if a.literal and a.text == neutral and fn in ("add", "mul"):
        return b
    return None


def _constant(fn: str, a: int, b: int) -> Value | None:
    operation = _OPERATIONS.get(fn)
    if operation is None:
        return None
    value = operation(a, b)
    return literal(value, INDEX) if INDEX.minimum <= value <= INDEX.maximum else None
