"""What every intrinsic of the language means: one lowering per name, one file per family."""

from __future__ import annotations

from typing import Final

from intent.frontend.intrinsics import (
    atomics,
    contract,
    conversions,
    domains,
    histogram,
    memory,
    packed,
    pointwise,
    quantized,
    randomness,
    reduce,
    regions,
    scan,
    shapes,
)
from intent.frontend.intrinsics.call import Call, Inline, Lower

__all__ = ["LOWERINGS", "Call", "Inline", "Lower"]

LOWERINGS: Final[dict[str, Lower]] = {
    **pointwise.LOWERINGS,
    **conversions.LOWERINGS,
    **shapes.LOWERINGS,
    **domains.LOWERINGS,
    **reduce.LOWERINGS,
    **scan.LOWERINGS,
    **contract.LOWERINGS,
    **packed.LOWERINGS,
    **quantized.LOWERINGS,
    **regions.LOWERINGS,
    **histogram.LOWERINGS,
    **randomness.LOWERINGS,
    **memory.LOWERINGS,
    **atomics.LOWERINGS,
}
"""The lowering of every intrinsic, by its name without the ``I.``."""
