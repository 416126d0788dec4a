"""Inputs drawn on the GPU, and the error that an output's dtype allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from intent_testkit.bench.contender import Tensors

SIZE: Final = {"bfloat16": 2, "float16": 2, "float32": 4}

# Relative to the output's own rounding: half an ulp of the format, doubled for f32 arithmetic before it.
# Eight bits: the rounding alone, whose half step is 2**-4 of an element and 16/448 of the largest.
ERROR: Final = {"bfloat16": 4e-3, "float16": 6e-4, "float32": 2e-6, "float8_e4m3fn": 4e-2}
WORST: Final = {"bfloat16": 8e-3, "float16": 1e-3, "float32": 1e-5, "float8_e4m3fn": 4e-2}


def normal(torch: Any, *shape: int, dtype: str) -> Any:
    """Normally distributed values, rounded to ``dtype``."""
    return torch.randn(*shape, device="cuda").to(getattr(torch, dtype))


def uniform(torch: Any, *shape: int) -> Any:
    """f32 in [0, 1)."""
    return torch.rand(*shape, device="cuda")


def integers(torch: Any, high: int, *shape: int, dtype: str) -> Any:
    """Integers from 0 to ``high - 1``."""
    return torch.randint(0, high, shape, device="cuda", dtype=getattr(torch, dtype))


def listed(torch: Any, values: list[int]) -> Any:
    """An i32 vector of these numbers."""
    return torch.tensor(values, device="cuda", dtype=torch.int32)


def empty(torch: Any, *shape: int, dtype: str) -> Any:
    """Memory for an output."""
    return torch.empty(shape, device="cuda", dtype=getattr(torch, dtype))


def rows_alike(dtype: str, m: int, n: int) -> Callable[[Any], Tensors]:
    """An m x n matrix ``x`` and an output of the same shape."""

    def make(torch: Any) -> Tensors:
        return {"x": normal(torch, m, n, dtype=dtype), "out": empty(torch, m, n, dtype=dtype)}

    return make
