"""Matrix tiles by what a provider can multiply natively."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from intent import kir
from intent.provider import Capabilities, MatrixTile

EXACT: Final = MatrixTile(rows=64, columns=64, summed=32, whole=32)
"""f32 without tf32: multiply-adds outside of matrix units, unrolled by the native compiler."""

SPELLED_OUT: Final = MatrixTile(rows=16, columns=16, summed=16, whole=16)
"""No native product for the dtypes: a three-dimensional fragment of products is summed."""


def narrow(op: kir.Contract, capabilities: Capabilities) -> bool:
    """Whether the target has the product natively, of operands of at most 16 bits."""
    return _native(op, capabilities) and op.lhs.dtype.bits <= 16


def tile_of(
    op: kir.Contract, capabilities: Capabilities, rows: int, columns: int, products: int = 1
) -> MatrixTile:
    """The tile for ``rows`` x ``columns`` results of an operation, of which an instance may hold ``products``."""
    if narrow(op, capabilities):
        return capabilities.plans.matrix_tile(rows, columns, products)
    tile = EXACT if _native(op, capabilities) else SPELLED_OUT
    return replace(tile, knobs=capabilities.plans.exact)


def _native(op: kir.Contract, capabilities: Capabilities) -> bool:
    return (op.lhs.dtype.name, op.result.dtype.name) in capabilities.dot_dtypes
