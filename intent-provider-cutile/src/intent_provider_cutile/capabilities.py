"""What cuTile can do, as planning and the expand passes read it."""

from __future__ import annotations

from typing import Final

from intent.provider import Capabilities
from intent_provider_cutile.emit.literals import TYPES
from intent_provider_cutile.plans import PLANS
from intent_provider_cutile.spelling import ATOMICS, BY_CAS, MMA, native_functions

CAPABILITIES: Final = Capabilities(
    dtypes=frozenset(TYPES) - {"index"},
    power_of_two=True,
    max_lanes=1 << 20,
    dot_minimum=(16, 16, 16),
    dot_dtypes=frozenset(
        {(operand, result.name) for operand, result in MMA.items()} | {("f16", "f16"), ("bf16", "bf16")}
    ),
    functions=native_functions(),
    planes=256,
    atomics=ATOMICS | BY_CAS,
    grid_limit=(1 << 31) - 1,
    needs_gpu=True,
    plans=PLANS,
)
