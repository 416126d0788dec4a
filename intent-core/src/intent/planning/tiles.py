"""Matrix tiles by what a provider can multiply natively."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from intent import kir
from intent.provider import Capabilities, MatrixTile

SPELLED_OUT: Final = MatrixTile(rows=16, columns=16, summed=16, whole=16)
"""No native product for the dtypes: a three-dimensional fragment of products is summed."""


def of_matrices(op: kir.Contract) -> bool:
    """Whether each operand has an axis that the other one does not share: no vector is among them."""
    shared = len(op.reduce) + len(op.batch)
    return op.lhs.rank > shared and op.rhs.rank > shared


def narrow(op: kir.Contract, capabilities: Capabilities) -> bool:
    """Whether the target has the product natively, of operands of at most 16 bits."""
    return native(op, capabilities) and op.lhs.dtype.bits <= 16


def tile_of(
    op: kir.Contract,
    capabilities: Capabilities,
    shape: tuple[int, int, int],
    products: int = 1,
    *,
    counted: bool = False,
) -> MatrixTile:
    """The tile for results of ``shape`` (batch, rows, columns), of which an instance may hold ``products``.

    ``counted``: whether only data says how many rows there are.
    """
    if narrow(op, capabilities):
        return capabilities.plans.matrix_tile(shape, op.lhs.dtype.bits, products, counted=counted)
    if native(op, capabilities):
        return capabilities.plans.exact_tile(shape, op.lhs.dtype.bits, products)
    return replace(SPELLED_OUT, knobs=capabilities.plans.exact.knobs)


def native(op: kir.Contract, capabilities: Capabilities) -> bool:
    """Whether the target has the product natively, or as multiply-adds of its own."""
    return (op.lhs.dtype.name, op.result.dtype.name) in capabilities.dot_dtypes
