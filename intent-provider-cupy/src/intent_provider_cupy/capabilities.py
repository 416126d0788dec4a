"""What CUDA C++ can do, as planning and the expand passes read it."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import CapabilityError
from intent.provider import Capabilities
from intent_provider_cupy.emit.histogram import MOST_BINS
from intent_provider_cupy.emit.interface import C_TYPES
from intent_provider_cupy.plans import PLANS
from intent_provider_cupy.spelling import ATOMICS, PROVIDER, native_functions

MOST_SHARED_BYTES: Final = 227 << 10
"""Shared memory of one block on the GPUs that have most, of compute capability 9.0 and 10.0."""

CAPABILITIES: Final = Capabilities(
    dtypes=frozenset(C_TYPES) - {"index"},
    power_of_two=True,
    # 1024 threads with 1024 elements each, most of them in local memory: NVRTC takes a minute, and minutes over more.
    max_lanes=1 << 20,
    dot_minimum=(16, 16, 16),
    dot_dtypes=frozenset(
        {
            ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f8e4m3fn", "f32"), ("f8e5m2", "f32"),
            ("i8", "i32"), ("u8", "i32"), ("f16", "f16"), ("bf16", "bf16"),
        }
    ),
    functions=native_functions(),
    histogram=MOST_BINS,
    atomics=ATOMICS,
    grid_limit=(1 << 31) - 1,
    needs_gpu=True,
    plans=PLANS,
    preference=-1,
)  # fmt: skip


def too_much_shared(needed: int, offered: int) -> CapabilityError:
    """The error for a block that needs more shared memory, in bytes, than there is."""
    return CapabilityError(
        PROVIDER, capability="this much shared memory", needed=f"{needed} bytes", offered=f"{offered} bytes",
        fix="use smaller blocks or fewer stages",
    )  # fmt: skip
