"""What CUDA C++ can do, as planning and the expand passes read it."""

from __future__ import annotations

from typing import Final

from intent.provider import Capabilities
from intent_provider_cupy.emit.interface import C_TYPES
from intent_provider_cupy.spelling import ATOMICS, native_functions

CAPABILITIES: Final = Capabilities(
    dtypes=frozenset(C_TYPES) - {"index"},
    power_of_two=True,
    # 1024 threads with 64 elements each: more does not fit the registers of a multiprocessor.
    max_lanes=1 << 16,
    dot_minimum=(16, 16, 16),
    dot_dtypes=frozenset(
        {
            ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f8e4m3fn", "f32"), ("f8e5m2", "f32"),
            ("i8", "i32"), ("u8", "i32"), ("f16", "f16"), ("bf16", "bf16"),
        }
    ),
    functions=native_functions(),
    atomics=ATOMICS,
    grid_limit=(1 << 31) - 1,
    needs_gpu=True,
    preference=-1,
)  # fmt: skip
