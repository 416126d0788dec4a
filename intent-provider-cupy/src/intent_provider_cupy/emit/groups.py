"""Contractions by groups of four warps, where the target has them: tiles are read from shared memory as they lie."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from intent.physical import Dim
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import GROUP_BITS, GROUP_ROWS, Product, in_groups
from intent_provider_cupy.emit.tile import PIECE_BYTES, Operand, Placed, Tile

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


def reads(product: Product, rows: Operand, columns: Placed, sums: Variable, table: Table) -> bool:
    """Whether groups can add the product of these operands to the sums."""
    rows_first = sums.dims == (product.row_dim, product.column_dim)
    wide = all(_wide(o.tile) for o in (rows, columns) if isinstance(o, Placed))
    return grouped(product, table) and rows_first and wide


def fits(body: Body, product: Product, tiles: Sequence[Tile]) -> bool:
    """Whether groups can add the product of operands in these tiles to sums that stand in registers."""
    table = body.placing.table_of(product.op)
    rows_first = table.looped(product.op.result.dims) == (product.row_dim, product.column_dim)
    return grouped(product, table) and rows_first and all(_wide(t) for t in tiles)


def _wide(tile: Tile) -> bool:
    return tile.width * tile.element_bytes >= _LEAST_BYTES


def start(
    body: Body, product: Product, rows: Operand, columns: Placed, sums: Variable, table: Table, *,
    strip: str | None = None, apart: bool = False,
) -> None:  # fmt: skip
    """Set the products under way: all, the ``strip`` whose first row's register this is, or each strip ``apart``."""
    m, n = product.row_dim, product.column_dim
    fresh, line = body.context.namer.fresh, body.writer.line
    step, i = fresh("step_k"), fresh("tile_m")
    (k,) = product.op.dims
    right = _matrix(body, columns, n, table, ("0", f"{step} * {product.depth}"))
    flags, setup = [str(_columns(product, table))], ""
    if isinstance(rows, Placed):
        left = _matrix(body, rows, m, table, (f"{i} * {GROUP_ROWS}", f"{step} * {product.depth}"))
        flags.append(_turned(rows, m))
    else:
        # Ready before the products begin: a register that is written between them lets each wait for the one before.
        held, which = fresh("a"), fresh("tile_m")
        count = k.size // product.depth
        which, head = (
            (i, "") if strip is not None else (which, f"it_each({which}, {table.registers(m) // 2}) ")
        )
        line(f"{columns.tile.type} {held}[{table.registers(m) // 2}][{count}][8];")
        setup = f"{head}it_each({step}, {count}) "
        setup += f"it_rows({held}[{which}][{step}], {rows.name}[2 * {which}], {rows.name}[2 * {which} + 1], {step});"
        left = f"{held}[{i}][{step}]"
    flags += [_turned(columns, n), columns.tile.type]
    into = f"{sums.name}[2 * {i}], {sums.name}[2 * {i} + 1]"
    if strip is not None:
        line(f"const int {i} = ({strip}) / 2;")
    if setup:
        line(setup)
        line(
            f"it_hold({held}[{i}]);"
            if strip is not None
            else f"it_each({i}, {table.registers(m) // 2}) it_hold({held}[{i}]);"
        )
    if strip is not None:
        line(f"it_begin_groups({into});")
    else:
        line("it_follow_groups();" if product.op.id in body.flying else f"it_begin_groups({sums.name});")
    steps, strips = f"it_each({step}, {k.size // product.depth})", f"it_each({i}, {table.registers(m) // 2})"
    if apart:
        line(f"{strips} {{")
    with body.writer.block() if apart else nullcontext():
        line(f"{steps} {{" if strip is not None or apart else f"{steps} {strips} {{")
        with body.writer.block():
            line(f"it_multiply<{', '.join(flags)}>({into}, {left}, {right});")
        line("it_commit_groups();")


def _matrix(body: Body, placed: Placed, free: Dim, table: Table, moves: tuple[str, str]) -> str:
    """The matrix of a group that is moved by lanes of the free dim and of the contracted one."""
    tile = placed.tile
    name = body.context.namer.fresh(f"{tile.name}_at")
    first = placed.base + tile.along(free, table.warp_part(free, "thread", GROUP_BITS), "0")
    made = f"it_matrix_of<{tile.slow.size}, {tile.width}>({tile.name}, {first})"
    body.writer.line(f"const it_matrix {name} = {made};")
    return f"{name} + {tile.along(free, *moves)} / {PIECE_BYTES // tile.element_bytes}"


def _turned(placed: Placed, free: Dim) -> str:
    return "true" if placed.tile.fast == free else "false"
