"""What Triton can do, as planning and the expand passes read it."""

from __future__ import annotations

from typing import Final

from intent.provider import Capabilities
from intent_provider_triton.emit.histogram import MOST_BINS
from intent_provider_triton.emit.literals import TYPES
from intent_provider_triton.plans import PLANS
from intent_provider_triton.spelling import ATOMICS, native_functions

CAPABILITIES: Final = Capabilities(
    dtypes=frozenset(TYPES) - {"index"},
    power_of_two=True,
    max_lanes=1 << 20,
    dot_minimum=(16, 16, 16),
    dot_dtypes=frozenset(
        {
            ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f8e4m3fn", "f32"), ("f8e5m2", "f32"), ("i8", "i32"),
            ("f16", "f16"), ("bf16", "bf16"),
        }
    ),
    functions=native_functions(),
    histogram=MOST_BINS,
    atomics=ATOMICS,
    grid_limit=(1 << 31) - 1,
    needs_gpu=True,
    plans=PLANS,
    preference=1,
)  # fmt: skip
