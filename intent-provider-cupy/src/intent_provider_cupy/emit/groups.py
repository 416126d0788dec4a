"""Contractions by groups of four warps, where the target has them: tiles are read from shared memory as they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import GROUP_BITS, GROUP_ROWS, Product, in_groups
from intent_provider_cupy.emit.tile import PIECE_BYTES, Tile

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

_COLUMNS = (16, 32, 64, 128, 256)
"""Columns of the results of one instruction."""
_LEAST_BYTES = 32
"""The narrowest panel that an instruction reads."""


def grouped(product: Product, table: Table) -> bool:
    """Whether groups can compute a product whose result lies as the table says."""
    return (
        product.kind == "tensor"
        and product.fed.is_float
        and product.fed.bits == 16
        and in_groups(table.bits(product.row_dim))
        and _columns(product, table) in _COLUMNS
    )


def _columns(product: Product, table: Table) -> int:
    """Columns of one group."""
    return table.registers(product.column_dim) * 4


def reads(product: Product, tiles: Sequence[Tile], sums: Variable, table: Table) -> bool:
    """Whether groups can add the product of these tiles to the sums."""
    rows_first = sums.dims == (product.row_dim, product.column_dim)
    wide = all(t.width * t.element_bytes >= _LEAST_BYTES for t in tiles)
    return grouped(product, table) and rows_first and wide


def start(
    body: Body, product: Product, tiles: Sequence[Tile], bases: Sequence[str], sums: Variable, table: Table
) -> None:
    """Set the products of the tiles under way."""
    m, n = product.row_dim, product.column_dim
    fresh, line = body.context.namer.fresh, body.writer.line
    step, i = fresh("step_k"), fresh("tile_m")
    (k,) = product.op.dims
    at, moves = [], []
    for tile, base, free, block in zip(tiles, bases, (m, n), (GROUP_ROWS, 0), strict=True):
        name = fresh(f"{tile.name}_at")
        first = base + tile.along(free, table.warp_part(free, "thread", GROUP_BITS), "0")
        line(f"const it_matrix {name} = it_matrix_of<{tile.slow.size}, {tile.width}>({tile.name}, {first});")
        at.append(name)
        across = f"{i} * {block}" if block else "0"
        moves.append(f"{tile.along(free, across, f'{step} * {product.depth}')} / {PIECE_BYTES // 2}")
    turned = ", ".join("true" if t.fast == d else "false" for t, d in zip(tiles, (m, n), strict=True))
    line(f"it_begin_groups({sums.name});")
    line(f"it_each({step}, {k.size // product.depth}) it_each({i}, {table.registers(m) // 2})")
    line(
        f"    it_multiply<{_columns(product, table)}, {turned}, {tiles[0].type}>({sums.name}[2 * {i}], "
        f"{sums.name}[2 * {i} + 1], {at[0]} + {moves[0]}, {at[1]} + {moves[1]});"
    )
    line("it_commit_groups();")
