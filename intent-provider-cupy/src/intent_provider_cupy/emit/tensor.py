"""Contractions on tensor cores: operands as padded rows in shared memory, a warp's tiles in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import Dim, Fragment
from intent.types import Span
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert, vectored
from intent_provider_cupy.emit.access import replica_text
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.value import Prec, mention
from intent_provider_cupy.emit.vectors import Vector

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

ROW_BYTES = 16
"""Bytes of one row of a matrix of the tensor cores; a tile's rows are that much longer than their lanes, so that
eight of them lie in different banks."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """An operand in shared memory: rows of the lanes of ``fast``, ``row`` elements from one to the next."""

    name: str
    fragment: Fragment
    slow: Dim
    fast: Dim
    row: int
    elements: int
    type: str

    def index(self, body: Body, table: Table) -> str:
        """The index of a lane in a table."""
        slow, fast = body.coordinate(self.slow, table), body.coordinate(self.fast, table)
        return f"{slow.at(Prec.UNARY)} * {self.row} + {fast.text}"


def tile_of(body: Body, product: Product, fragment: Fragment, hint: str = "") -> Tile:
    """How an operand lies in shared memory: along the dim that its table has in neighbouring registers."""
    (k,) = product.op.dims
    (free,) = (d for d in fragment.dims if d != k)
    home = body.home(fragment)
    turned = product.fed.bits == 16 and home.bits(free)[0] is None and home.bits(k)[0] is not None
    fast, slow = (free, k) if turned else (k, free)
    row = fast.size + ROW_BYTES // product.fed.bytes
    name = body.context.namer.fresh(f"{hint or fragment.name or 'operand'}_tile")
    return Tile(
        name=name, fragment=fragment, slow=slow, fast=fast, row=row, elements=slow.size * row,
        type=c_type(product.fed),
    )  # fmt: skip


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
            offset += tile_bytes(tile, product)
    if fresh:
        body.context.scratch.exchange(offset)
        convert.begin_exchange(body)
        for tile, start in fresh:
            place = f"scratch + {start}" if start else "scratch"
            body.writer.line(
                f"{tile.type}* const {tile.name} = it_piece<{tile.type}>({place}, {tile.elements});"
            )
        for tile, _ in fresh:
            put(body, product, tile)
        body.barrier()
        body.context.scratch.dirty = True
    run(body, product, tiles, bases, sums, table)


def tile_bytes(tile: Tile, product: Product) -> int:
    """Bytes of one tile, up to where the next one may begin."""
    return -(-tile.elements * product.fed.bytes // 128) * 128


def put(body: Body, product: Product, tile: Tile) -> None:
    """Write an operand into its tile, each lane once."""
    home = body.home(tile.fragment)
    value = typed(cast(body.use(tile.fragment, home), product.fed))
    replica = replica_text(home, tile.fragment.dims)
    condition = f"if ({replica}) " if replica else ""
    place = f"{tile.name}, {tile.index(body, home)}"
    bits = home.bits(tile.fast)
    low = next((k for k, b in enumerate(bits) if b is not None), len(bits))
    length = 1 if tile.fast in home.runs else min(1 << low, ROW_BYTES // product.fed.bytes)
    looped = home.looped(tile.fragment.dims)
    if length > 1:
        body.flush_keeping([value])
        vector = Vector(dim=tile.fast, length=length, condition="true")
        vectored.write(body, vector, value, place, condition, tile.type, looped, home, product.op.span)
        return
    body.loops.act(f"{condition}it_store({place}, {value.text});", home, looped, product.op.span)


def run(
    body: Body, product: Product, tiles: Sequence[Tile], bases: Sequence[str], sums: Variable, table: Table
) -> None:
    """Products of the tiles, a step of the contracted lanes after the other."""
    rows, columns = tiles
    body.flush()
    m, n = product.row_dim, product.column_dim
    high, wide = table.registers(m) // 2, table.registers(n) // 2
    fresh, line = body.context.namer.fresh, body.writer.line
    span: Span = product.op.span
    run_ = ROW_BYTES // product.fed.bytes
    at = [fresh("rows_at"), fresh("columns_at")]
    body.writer.statement(f"const int {at[0]} = {bases[0]}{_rows_at(rows, m, run_, table)};", span)
    line(f"const int {at[1]} = {bases[1]}{_columns_at(columns, n, run_, table)};")
    step, i, j, a, b = (fresh(x) for x in ("step_k", "tile_m", "tile_n", "a", "b"))
    pairs = max(1, wide // 2)
    count = 4 if wide > 1 else 2
    type_, k = rows.type, product.depth
    (dim,) = product.op.dims
    steps = dim.size // k
    line(f"{type_} {a}[2][{high}][{run_}], {b}[2][{pairs}][{run_ * count // 4}];")
    line(f"it_each({step}, {steps} + 1) {{")
    with body.writer.block():
        # The next step's operands are on their way while this step's products are made.
        line(f"if ({step} < {steps}) {{")
        with body.writer.block():
            place = _moved(rows, m, at[0], (f"{i} * 16", f"{step} * {k}"))
            load = f"it_load_matrices<4, {_turned(rows, m)}>({a}[{step} % 2][{i}], {rows.name}, {place});"
            line(f"it_each({i}, {high}) {load}")
            place = _moved(columns, n, at[1], (f"{j} * 16", f"{step} * {k}"))
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


def _rows_at(tile: Tile, m: Dim, run_: int, table: Table) -> str:
    """Where the lane's row of the matrices of the first tile of rows begins."""
    warp = table.warp_part(m, "thread")
    if tile.fast == m:
        return f"(thread % 8 + thread / 16 % 2 * 8) * {tile.row} + {warp} + thread / 8 % 2 * 8"
    return f"({warp} + thread % 16) * {tile.row} + thread / 16 % 2 * {run_}"


def _columns_at(tile: Tile, n: Dim, run_: int, table: Table) -> str:
    """Where the lane's row of the matrices of the first two tiles of columns begins."""
    warp = table.warp_part(n, "thread")
    second = "" if table.registers(n) == 2 else " + thread / 16 % 2 * 8"
    if tile.fast == n:
        return f"thread % 16 * {tile.row} + {warp}{second}"
    return f"({warp} + thread % 8{second}) * {tile.row} + thread / 8 % 2 * {run_}"


def _moved(tile: Tile, free: Dim, start: str, moves: tuple[str, str]) -> str:
    """``start`` moved by lanes of the free dim and of the contracted one."""
    across, along = moves
    fast, slow = (across, along) if tile.fast == free else (along, across)
    return f"{start} + {slow} * {tile.row} + {fast}"
