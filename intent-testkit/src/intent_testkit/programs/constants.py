"""Constants of every dtype as a provider that writes Python has them: for files that are read when texts change."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from intent.provider.emission.python import Value
from intent.types import DType
from intent.types.dtypes import ALL

Number = bool | int | float
Literal = Callable[[Number, DType], Value]
Typed = Callable[[Value], Value]

_FLOATS: Final = (
    0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 1e-3, 3e-7, 1 / 3, 65504.0, 2.0**-126, 2.0**-149, -(2.0**-130),
    3.4028234663852886e38, 3.4028235677973366e38, 1e300, 16777217.0, math.pi, math.inf, -math.inf, math.nan,
)  # fmt: skip
_INTEGERS: Final = (0, 1, -1, 127, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63))


def texts(literal: Literal, typed: Typed) -> str:
    """Bare, negative, large, small and special ones of every dtype, a line each."""
    lines: list[str] = []
    for dtype in ALL:
        lines.append(f"# {dtype}")
        lines += [_line(value, dtype, literal, typed) for value in _values(dtype)]
    return "\n".join(lines) + "\n"


def _values(dtype: DType) -> tuple[Number, ...]:
    if dtype.kind == "bool":
        return (False, True)
    if dtype.is_float:
        return tuple(v for v in _FLOATS if not math.isfinite(v) or abs(v) <= dtype.maximum)
    return tuple(v for v in _INTEGERS if dtype.minimum <= v <= dtype.maximum)


def _line(value: Number, dtype: DType, literal: Literal, typed: Typed) -> str:
    """The text, how tightly it binds, whether it takes its dtype from what stands beside it, and with its own dtype."""
    made = literal(value, dtype)
    return f"{value!r}: {made.text}  [{made.prec.name}{', bare' if made.literal else ''}]  {typed(made).text}"
