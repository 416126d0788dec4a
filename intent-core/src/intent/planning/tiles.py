"""Matrix tiles by what a provider can multiply natively."""

from __future__ import annotations

from dataclasses import dataclass

from intent import kir
from intent.provider import Capabilities


@dataclass(frozen=True)
class Tile:
    """Results and summed elements of one matrix step; ``whole``: the longest axis that is summed at once."""

    rows: int
    columns: int
    summed: int
    whole: int


NARROW = Tile(rows=128, columns=256, summed=64, whole=128)
"""8- and 16-bit operands on matrix units."""

EXACT = Tile(rows=64, columns=64, summed=32, whole=32)
"""f32 without tf32: multiply-adds outside of matrix units, unrolled by the native compiler."""

SPELLED_OUT = Tile(rows=16, columns=16, summed=16, whole=16)
"""No native product for the dtypes: a three-dimensional fragment of products is summed."""


def tile_of(op: kir.Contract, capabilities: Capabilities) -> Tile:
    """The tile for the operation's dtypes on a provider."""
    if (op.lhs.dtype.name, op.result.dtype.name) not in capabilities.dot_dtypes:
        return SPELLED_OUT
    return NARROW if op.lhs.dtype.bits <= 16 else EXACT
