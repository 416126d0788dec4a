"""How constants are written: bare, negative, large, small and special ones of every dtype."""

from __future__ import annotations

import math
from pathlib import Path

from intent.types.dtypes import ALL
from intent_provider_triton.emit.literals import literal, typed
from intent_testkit.golden import check_golden

FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 1e-3, 3e-7, 1 / 3, 65504.0, 2.0**-126, 2.0**-149, -(2.0**-130),
    3.4028234663852886e38, 3.4028235677973366e38, 1e300, 16777217.0, math.pi, math.inf, -math.inf, math.nan,
)  # fmt: skip
INTEGERS = (0, 1, -1, 127, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63))


def line(value, dtype):
    """The text, how tightly it binds, whether it takes its dtype from what stands beside it, and with its own dtype."""
    made = literal(value, dtype)
    return f"{value!r}: {made.text}  [{made.prec.name}{', bare' if made.literal else ''}]  {typed(made).text}"


def test_texts_of_literals():
    lines = []
    for dtype in ALL:
        lines.append(f"# {dtype}")
        if dtype.kind == "bool":
            values = (False, True)
        elif dtype.is_float:
            values = tuple(v for v in FLOATS if not math.isfinite(v) or abs(v) <= dtype.maximum)
        else:
            values = tuple(v for v in INTEGERS if dtype.minimum <= v <= dtype.maximum)
        lines += [line(value, dtype) for value in values]
    check_golden(Path(__file__).parent / "goldens" / "literals.txt", "\n".join(lines) + "\n")
