"""Arithmetic on index literals: construction leaves sums with zero and products with one behind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from intent.types.dtypes import INDEX

__all__ = ["folded"]

V = TypeVar("V")

_OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "minimum": min,
    "maximum": max,
}
_NEUTRAL: Final = {"add": 0, "sub": 0, "mul": 1, "floordiv": 1}
"""The second operand that changes nothing; add and mul commute."""


def folded(
    fn: str, args: Sequence[V], number: Callable[[V], int | None], literal: Callable[[int], V]
) -> V | None:
    """What an index operation comes to without an operator in the text, None if it needs one.

    ``number`` gives the integer that a literal says, None for any other value; ``literal`` writes one.
    """
    if len(args) != 2:
        return None
    a, b = (number(value) for value in args)
    if a is not None and b is not None:
        operation = _OPERATIONS.get(fn)
        value = operation(a, b) if operation is not None else None
        return None if value is None or not INDEX.minimum <= value <= INDEX.maximum else literal(value)
    neutral = _NEUTRAL.get(fn)
    if neutral is not None and b == neutral:
        return args[0]
    if fn in ("add", "mul") and a == neutral:
        return args[1]
    return None
