"""Matrix tiles by what a provider can multiply natively."""

from __future__ import annotations

from collections.abc import Mapping
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
    plain: int = 0,
) -> MatrixTile:
    """The tile for results of ``shape`` (batch, rows, columns), of which an instance may hold ``products``.

    ``counted``: whether only data says how many rows there are. ``plain``: how many elements are summed where
    :func:`blocks_of_arrays` holds, else 0.
    """
    if narrow(op, capabilities):
        return capabilities.plans.matrix_tile(
            shape, op.lhs.dtype.bits, products, counted=counted, plain=plain
        )
    if native(op, capabilities):
        return capabilities.plans.exact_tile(shape, op.lhs.dtype.bits, products)
    return replace(SPELLED_OUT, knobs=capabilities.plans.exact.knobs)


def native(op: kir.Contract, capabilities: Capabilities) -> bool:
    """Whether the target has the product natively, or as multiply-adds of its own."""
    return (op.lhs.dtype.name, op.result.dtype.name) in capabilities.dot_dtypes


def blocks_of_arrays(op: kir.Contract, made: Mapping[int, kir.Op]) -> bool:
    """Whether both operands are read from arrays axis by axis, from the first element of each axis on.

    ``made``: operations by the ids of their results.
    """
    return all(_as_it_lies(made.get(operand.id), made) for operand in (op.lhs, op.rhs))


def _as_it_lies(op: kir.Op | None, made: Mapping[int, kir.Op]) -> bool:
    while isinstance(op, kir.Transpose):
        op = made.get(op.value.id)
    if not isinstance(op, kir.Load) or not isinstance(op.source, kir.View) or op.valid is not None:
        return False
    along = [c for c in op.relation.coordinates if c.rank]
    return all(c.rank == 1 and _counts_up(made.get(c.id), made) for c in along)


def _counts_up(op: kir.Op | None, made: Mapping[int, kir.Op]) -> bool:
    """Whether a coordinate is 0, 1, 2 and so on."""
    if not isinstance(op, kir.Iota):
        return False
    ends = [made.get(v.id) for v in (op.begin, op.step)]
    return [e.value if isinstance(e, kir.Constant) else None for e in ends] == [0, 1]
