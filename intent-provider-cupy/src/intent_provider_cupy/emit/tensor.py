"""Contractions on tensor cores: operands as tiles in shared memory, a warp's results in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent.physical import Dim
from intent_provider_cupy.emit import convert, groups
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product, row_step
from intent_provider_cupy.emit.tile import PIECE_BYTES, Tile, put, tile_of
from intent_provider_cupy.emit.value import mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def multiply(body: Body, product: Product, sums: Variable, table: Table) -> None:
    """Add the product of both operands to the sums; those that no pipeline has copied go to shared memory first."""
    sides = (product.rows, product.columns)
    tiles, bases, fresh = [], [], []
    offset = 0
    for side in sides:
        staged = body.staged.get(side.id)
        tile = staged[0] if staged is not None else tile_of(body, product, side)
        tiles.append(tile)
        bases.append(f"{staged[1]} * {tile.elements} + " if staged is not None else "")
        if staged is None:
            fresh.append((tile, offset))
            offset += tile.bytes
    if fresh:
        body.context.scratch.exchange(offset)
        convert.begin_exchange(body)
        for tile, start in fresh:
            body.writer.line(tile.declaration(f"scratch + {start}" if start else "scratch"))
        for tile, _ in fresh:
            put(body, product, tile)
        show(body, product, table)
        body.barrier()
        body.context.scratch.dirty = True
    if not groups.reads(product, tiles, sums, table):
        body.copies_of(product.op)
        warps(body, product, tiles, bases, sums, table)
        return
    body.flush()
    body.writer.line("if constexpr (it_groups) {")
    with body.writer.block():
        groups.start(body, product, tiles, bases, sums, table)
    body.copies_of(product.op)
    body.writer.line(f"if constexpr (it_groups) it_wait_groups({sums.name});")
    body.writer.line("else {")
    with body.writer.block():
        warps(body, product, tiles, bases, sums, table)


def show(body: Body, product: Product, table: Table) -> None:
    """Before the barrier between writing a tile and computing with it."""
    body.flush()
    if groups.grouped(product, table):
        body.writer.line("it_show_groups();")


def warps(
    body: Body, product: Product, tiles: Sequence[Tile], bases: Sequence[str], sums: Variable, table: Table
) -> None:
    """Products of the tiles by each warp, a step of the contracted lanes after the other."""
    rows, columns = tiles
    body.flush()
    m, n = product.row_dim, product.column_dim
    high, wide = table.registers(m) // 2, table.registers(n) // 2
    fresh, line = body.context.namer.fresh, body.writer.line
    run_ = PIECE_BYTES // product.fed.bytes
    pairs, count = max(1, wide // 2), 4 if wide > 1 else 2
    type_, k = rows.type, product.depth
    (dim,) = product.op.dims
    steps = dim.size // k
    step, i, j, a, b, m_at, n_at = (
        fresh(x) for x in ("step_k", "tile_m", "tile_n", "a", "b", "row", "column")
    )
    row, row_k = _lane_of_rows(rows, m, run_)
    column, column_k = _lane_of_columns(columns, n, run_, paired=wide > 1)
    body.writer.statement(f"const int {m_at} = {table.warp_part(m, 'thread')} + {row};", product.op.span)
    line(f"const int {n_at} = {table.warp_part(n, 'thread')} + {column};")
    line(f"{type_} {a}[2][{high}][{run_}], {b}[2][{pairs}][{run_ * count // 4}];")
    line(f"it_each({step}, {steps} + 1) {{")
    with body.writer.block():
        # The next step's operands are on their way while this step's products are made.
        line(f"if ({step} < {steps}) {{")
        with body.writer.block():
            place = bases[0] + rows.along(
                m, f"{m_at} + {i} * {row_step(table, m)}", f"{step} * {k} + {row_k}"
            )
            load = f"it_load_matrices<4, {_turned(rows, m)}>({a}[{step} % 2][{i}], {rows.name}, {place});"
            line(f"it_each({i}, {high}) {load}")
            place = bases[1] + columns.along(n, f"{n_at} + {j} * 16", f"{step} * {k} + {column_k}")
            turned = _turned(columns, n)
            load = f"it_load_matrices<{count}, {turned}>({b}[{step} % 2][{j}], {columns.name}, {place});"
            line(f"it_each({j}, {pairs}) {load}")
        target = body.loops.render(mention(sums.id))
        cells = [
            _cell(body, target, m, n, f"2 * {i} + {x}", f"2 * {j} + {y}") for x in (0, 1) for y in (0, 1)
        ]
        before = f"({step} - 1) % 2"
        operand = f"&{b}[{before}][{j} / 2][{j} % 2 * {run_ // 2}]" if wide > 1 else f"{b}[{before}][0]"
        line(f"if ({step} > 0) it_each({i}, {high}) it_each({j}, {wide})")
        line(f"    it_mma_into({', '.join(cells)}, {a}[{before}][{i}], {operand});")


def _cell(body: Body, target: str, m: Dim, n: Dim, row: str, column: str) -> str:
    counter = body.context.counter
    return target.replace(f"[{counter(m)}]", f"[{row}]").replace(f"[{counter(n)}]", f"[{column}]")


def _turned(tile: Tile, free: Dim) -> str:
    """Whether the tile's rows are contracted lanes, so that its matrices are read turned."""
    return "true" if tile.fast == free else "false"


def _lane_of_rows(tile: Tile, m: Dim, run_: int) -> tuple[str, str]:
    """Of a tile of rows, the row and the contracted lane at which this lane's row of the matrices begins."""
    if tile.fast == m:
        return "thread / 8 % 2 * 8", "thread % 8 + thread / 16 % 2 * 8"
    return "thread % 16", f"thread / 16 % 2 * {run_}"


def _lane_of_columns(tile: Tile, n: Dim, run_: int, *, paired: bool) -> tuple[str, str]:
    """The same of one tile of columns, or of two neighbouring ones."""
    second = "thread / 16 % 2 * 8" if paired else "0"
    if tile.fast == n:
        return second, "thread % 16"
    return f"thread % 8{f' + {second}' if paired else ''}", f"thread / 8 % 2 * {run_}"
