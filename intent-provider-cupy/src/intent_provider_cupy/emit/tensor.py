"""Contractions on tensor cores: operands as tiles in shared memory, a warp's results in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent.physical import Dim
from intent_provider_cupy.emit import convert, fragments, groups
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product, row_step
from intent_provider_cupy.emit.tile import PIECE_BYTES, Operand, Placed, Tile, put, tile_of
from intent_provider_cupy.emit.value import mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def multiply(body: Body, product: Product, sums: Variable, table: Table, *, late: bool = False) -> bool:
    """Add the product of both operands to the sums; whether groups may be at it until ``body.arrive`` waits for them.

    Rows that are another product's results stay in registers; what no loop has put into shared memory goes there.
    ``late``: whether the wait may stand where the sums are read first. What an exchange brought must be read before.
    """
    held = fragments.rows_of(body, product)
    sides = (product.rows, product.columns)
    operands: list[Operand] = []
    fresh: list[tuple[Tile, int]] = []
    offset = 0
    for side in sides:
        if held is not None and side is product.rows:
            operands.append(held)
            continue
        tile, base = body.staged.get(side.id, (None, ""))
        if tile is None:
            tile = tile_of(body, product, side)
            fresh.append((tile, offset))
            offset += tile.bytes
        operands.append(Placed(tile=tile, base=base))
    if fresh:
        _exchange(body, product, fresh, offset, table)
    rows, columns = operands
    assert isinstance(columns, Placed)
    if not groups.reads(product, rows, columns, sums, table):
        body.copies_of(product.op)
        warps(body, product, rows, columns, sums, table)
        return False
    if body.strips is not None and late and not fresh:
        _in_strips(body, product, rows, columns, sums, table)
        return True
    late = late and not fresh and product.op.id not in body.copies and product.op.id not in body.flying
    body.flush()
    body.writer.line("if constexpr (it_groups) {")
    with body.writer.block("} else {" if late else "}"):
        groups.start(body, product, rows, columns, sums, table)
    if late:
        with body.writer.block():
            warps(body, product, rows, columns, sums, table)
        body.arrivals[product.op.result.id] = f"if constexpr (it_groups) it_wait_groups({sums.name});"
        return True
    body.copies_of(product.op)
    wait = f"it_leave_groups<{len(body.flying)}>()" if product.op.id in body.flying else None
    body.writer.line(f"if constexpr (it_groups) {wait or f'it_wait_groups({sums.name})'};")
    body.writer.line("else {")
    with body.writer.block():
        warps(body, product, rows, columns, sums, table)
    return False


def _in_strips(
    body: Body, product: Product, rows: Operand, columns: Placed, sums: Variable, table: Table
) -> None:
    """The first product in commits of its own for each strip; the second one's strip at hand."""
    body.flush()
    first = body.strips is not None and product.op is body.strips.first
    strip = None if first or body.loops.strip is None else body.loops.strip.first
    body.writer.line("if constexpr (it_groups) {")
    with body.writer.block("}"):
        groups.start(body, product, rows, columns, sums, table, strip=strip, apart=first)
    if not first:
        body.arrivals[product.op.result.id] = f"if constexpr (it_groups) it_wait_groups({sums.name});"
        body.behind = lambda: warps(body, product, rows, columns, sums, table)
        return
    body.copies_of(product.op)
    body.flush()
    body.writer.line("if constexpr (!it_groups) {")
    with body.writer.block():
        warps(body, product, rows, columns, sums, table)


def _exchange(
    body: Body, product: Product, fresh: Sequence[tuple[Tile, int]], size: int, table: Table
) -> None:
    """Write tiles that only this product reads."""
    body.context.scratch.exchange(size)
    convert.begin_exchange(body)
    for tile, start in fresh:
        body.writer.line(tile.declaration(f"scratch + {start}" if start else "scratch"))
    for tile, _ in fresh:
        put(body, product, tile)
    show(body, product, table)
    body.barrier()
    body.context.scratch.dirty = True


def show(body: Body, product: Product, table: Table) -> None:
    """Before the barrier between writing a tile and computing with it."""
    body.flush()
    if groups.grouped(product, table):
        body.writer.line("it_show_groups();")


def warps(body: Body, product: Product, rows: Operand, columns: Placed, sums: Variable, table: Table) -> None:
    """Products by each warp, a step of the contracted lanes after the other."""
    body.flush()
    m, n = product.row_dim, product.column_dim
    high, wide = table.registers(m) // 2, table.registers(n) // 2
    fresh, line = body.context.namer.fresh, body.writer.line
    run = PIECE_BYTES // product.fed.bytes
    pairs, count = max(1, wide // 2), 4 if wide > 1 else 2
    type_, k = columns.tile.type, product.depth
    (dim,) = product.op.dims
    steps = dim.size // k
    step, i, j, a, b = (fresh(x) for x in ("step_k", "tile_m", "tile_n", "a", "b"))
    read_a = _reading_rows(body, product, rows, table, f"{a}[{step} % 2][{i}]", (i, step))
    read_b = _reading_columns(body, product, columns, table, f"{b}[{step} % 2][{j}]", (j, step))
    line(f"{type_} {a}[2][{high}][{run}], {b}[2][{pairs}][{run * count // 4}];")
    line(f"it_each({step}, {steps} + 1) {{")
    with body.writer.block():
        # The next step's operands are on their way while this step's products are made.
        line(f"if ({step} < {steps}) {{")
        with body.writer.block():
            line(f"it_each({i}, {high}) {read_a}")
            line(f"it_each({j}, {pairs}) {read_b}")
        target = body.loops.render(mention(sums.id))
        cells = [
            _cell(body, target, m, n, f"2 * {i} + {x}", f"2 * {j} + {y}") for x in (0, 1) for y in (0, 1)
        ]
        before = f"({step} - 1) % 2"
        operand = f"&{b}[{before}][{j} / 2][{j} % 2 * {run // 2}]" if wide > 1 else f"{b}[{before}][0]"
        line(f"if ({step} > 0) it_each({i}, {high}) it_each({j}, {wide})")
        line(f"    it_mma_into({', '.join(cells)}, {a}[{before}][{i}], {operand});")


def _reading_rows(
    body: Body, product: Product, rows: Operand, table: Table, into: str, counters: tuple[str, str]
) -> str:
    """The statement that reads one tile's rows of one step."""
    i, step = counters
    if isinstance(rows, Variable):
        return f"it_rows({into}, {rows.name}[2 * {i}], {rows.name}[2 * {i} + 1], {step});"
    m, tile = product.row_dim, rows.tile
    row, lane_k = _lane_of_rows(tile, m, PIECE_BYTES // product.fed.bytes)
    at = body.context.namer.fresh("row")
    body.writer.statement(f"const int {at} = {_sum(table.warp_part(m, 'thread'), row)};", product.op.span)
    place = tile.along(m, f"{at} + {i} * {row_step(table, m)}", f"{step} * {product.depth} + {lane_k}")
    return f"it_load_matrices<4, {_turned(tile, m)}>({into}, {tile.name}, {rows.base}{place});"


def _reading_columns(
    body: Body, product: Product, columns: Placed, table: Table, into: str, counters: tuple[str, str]
) -> str:
    """The statement that reads two tiles' columns of one step, or the only one's."""
    j, step = counters
    n, tile = product.column_dim, columns.tile
    paired = table.registers(n) > 2
    column, lane_k = _lane_of_columns(tile, n, PIECE_BYTES // product.fed.bytes, paired=paired)
    at = body.context.namer.fresh("column")
    body.writer.statement(f"const int {at} = {_sum(table.warp_part(n, 'thread'), column)};", product.op.span)
    place = tile.along(n, f"{at} + {j} * 16", f"{step} * {product.depth} + {lane_k}")
    load = f"it_load_matrices<{4 if paired else 2}, {_turned(tile, n)}>"
    return f"{load}({into}, {tile.name}, {columns.base}{place});"


def _sum(*terms: str) -> str:
    return " + ".join(t for t in terms if t != "0") or "0"


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
