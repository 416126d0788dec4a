"""Contractions by multiply-adds of operands that a pipeline has copied to shared memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from intent.physical import Dim
from intent.types import DType
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.tile import PIECE_BYTES, Placed
from intent_provider_cupy.emit.value import Prec, Value, mention

UNROLLED: Final = 2048
"""Most multiply-adds of one thread in a row: the places of their factors are constants then."""

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def fused(wide: DType, a: str, b: str, c: str) -> str:
    """``a * b + c`` of one type."""
    if wide.name == "f32":
        return f"fmaf({a}, {b}, {c})"
    if wide.name == "f64":
        return f"fma({a}, {b}, {c})"
    type_ = c_type(wide)
    return f"it_add<{type_}>({c}, it_mul<{type_}>({a}, {b}))"


def placed(body: Body, product: Product) -> tuple[Placed, Placed] | None:
    """Both operands as they stand in a pipeline's tiles; None unless they do."""
    found = [body.staged.get(side.id) for side in (product.rows, product.columns)]
    if product.kind != "tiles" or found[0] is None or found[1] is None:
        return None
    rows, columns = (Placed(tile=tile, base=base) for tile, base in (found[0], found[1]))
    return rows, columns


def multiply(
    body: Body, product: Product, operands: tuple[Placed, Placed], wide: DType, sums: Variable, table: Table
) -> None:
    """Some contracted lanes after the others: the factors of this thread's lanes, then all their products."""
    body.copies_of(product.op)
    body.flush()
    line, fresh = body.writer.line, body.context.namer.fresh
    (dim,) = product.op.dims
    frees = (product.row_dim, product.column_dim)
    along = [o.tile.fast == dim for o in operands]
    length = min(dim.size, PIECE_BYTES // product.fed.bytes) if any(along) else 1
    k, part, step = fresh("k"), fresh("part"), fresh("step_k")
    count, each = dim.size // length, length * prod(table.registers(d) for d in frees)
    line(
        f"it_each({step}, {count}) {{"
        if count * each <= UNROLLED
        else f"for (int {step} = 0; {step} < {count}; ++{step}) {{"
    )
    with body.writer.block():
        line(f"const int {k} = {step} * {length};")
        names = [fresh("factor") for _ in operands]
        for operand, free, name, runs in zip(operands, frees, names, along, strict=True):
            line(f"{operand.tile.type} {name}[{length}][{table.registers(free)}];")
            if runs:
                _along_contracted(body, operand, free, table, (name, k, str(length)))
            else:
                line(f"it_each({part}, {length}) {_along_free(body, operand, free, table, (name, k, part))}")
        factors = [
            _factor(body, product, f"{name}[{part}]", free, wide, table)
            for name, free in zip(names, frees, strict=True)
        ]
        target = body.loops.render(mention(sums.id))
        heads = body.loops.open_loops(table.looped(product.op.result.dims), table)
        line(f"it_each({part}, {length}) {heads}")
        line(f"    {target} = {fused(wide, factors[0], factors[1], target)};")


def _factor(body: Body, product: Product, lane: str, free: Dim, wide: DType, table: Table) -> str:
    """This thread's factor of one contracted lane, as a summand's type."""
    register = body.context.counter(free) if table.registers(free) > 1 else "0"
    value = Value(text=f"{lane}[{register}]", prec=Prec.ATOM, dtype=product.fed, dims=(free,))
    return cast(value, wide).text


def _along_contracted(
    body: Body, operand: Placed, free: Dim, table: Table, names: tuple[str, str, str]
) -> None:
    """Read factors whose memory runs along the contracted lanes: some lanes of one row at once."""
    name, k, length = names
    tile, counter = operand.tile, body.context.counter(free)
    part, i = body.context.namer.fresh("part"), body.context.namer.fresh("i")
    place = tile.along(free, body.coordinate(free, table).text, k)
    body.writer.line(f"it_each({counter}, {table.registers(free)}) {{")
    with body.writer.block():
        body.writer.line(f"{tile.type} {part}[{length}];")
        body.writer.line(f"it_load<{length}>({part}, {tile.name}, {operand.base}{place});")
        body.writer.line(f"it_each({i}, {length}) {name}[{i}][{counter}] = {part}[{i}];")


def _along_free(body: Body, operand: Placed, free: Dim, table: Table, names: tuple[str, str, str]) -> str:
    """The statement that reads factors whose memory runs along the free lanes."""
    name, k, part = names
    tile, counter, vector = operand.tile, body.context.counter(free), body.context.vector_counter(free)
    bits = table.bits(free)
    low = next((at for at, b in enumerate(bits) if b is not None), len(bits))
    run = 1 if free in table.runs else min(1 << low, PIECE_BYTES // tile.element_bytes)
    place = tile.along(free, body.coordinate(free, table).text, f"{k} + {part}")
    load = f"it_load<{run}>(&{name}[{part}][{counter}], {tile.name}, {operand.base}{place});"
    count = table.registers(free) // run
    return f"it_each({vector}, {count}) {{ const int {counter} = {vector} * {run}; {load} }}"
