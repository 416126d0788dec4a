"""One pointwise function on a provider."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.draw import Array
from intent_testkit.programs import run
from intent_testkit.programs.single import pointwise


def result_of(provider: str, fn: str, dtype: str, *operands: Array, **flags: Any) -> Array:
    """``fn`` of the operands, element by element; ``flags`` go to :func:`~intent_testkit.programs.single.pointwise`."""
    program = pointwise(fn, dtype, len(operands), **flags)
    *_, written = program.views
    out: Array = np.zeros(len(operands[0]), written.dtype.numpy)
    run(provider, program, {**{f"x{i}": v for i, v in enumerate(operands)}, "y": out})
    return out
