"""Contractions: operands in shared memory, sums in the registers of the result's lanes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Contract, Dim
from intent.types import DType
from intent.types.dtypes import F32
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert
from intent_provider_cupy.emit.access import replica_text
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, literal, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.scratch import EXCHANGE_LIMIT
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def contract(body: Body, op: Contract) -> None:
    """Sums of products over the contracted dims, plus the accumulator; narrow floats are summed in f32."""
    table = body.placing.table_of(op)
    wide = F32 if op.result.dtype.is_float and op.result.dtype.bits < 32 else op.result.dtype
    start = _start(body, op, wide, table)
    sums = _declare(body, op, wide, start, table)
    _sum(body, op, wide, sums, table)
    value = Value(
        text=mention(sums.id), prec=Prec.ATOM, dtype=wide, dims=op.result.dims, refs=frozenset({sums.id})
    )
    if wide != op.result.dtype and op.accumulator is not None:
        total = cast(body.use(op.accumulator, table), F32)
        refs = value.refs | total.refs
        text = f"{total.at(Prec.SUM)} + {value.text}"
        value = Value(text=text, prec=Prec.SUM, dtype=wide, dims=op.result.dims, refs=refs)
    body.define(op.result, cast(value, op.result.dtype), op.span, table)


def _start(body: Body, op: Contract, wide: DType, table: Table) -> Value:
    if op.accumulator is None or wide != op.result.dtype:
        return typed(literal(0, wide))
    return typed(body.use(op.accumulator, table))


def _declare(body: Body, op: Contract, wide: DType, start: Value, table: Table) -> Variable:
    body.flush()
    looped = table.looped(op.result.dims)
    name = body.context.namer.fresh(op.result.name or "sum")
    variable = body.loops.variable(name, c_type(wide), looped)
    body.loops.declare(variable, table)
    body.loops.act(f"{mention(variable.id)} = {start.text};", table, looped, op.span)
    body.flush()
    return variable


def _sum(body: Body, op: Contract, wide: DType, sums: Variable, table: Table) -> None:
    """In parts of the contracted lanes whose operands fit into the exchange."""
    count = prod(d.size for d in op.dims)
    sides = [(op.lhs, _free(op, op.lhs.dims)), (op.rhs, _free(op, op.rhs.dims))]
    row = sum(prod((d.size for d in free), start=1) * f.dtype.bytes for f, free in sides)
    part = count
    while part > 1 and part * row > EXCHANGE_LIMIT:
        part //= 2
    names, offset = [], 0
    convert.begin_exchange(body)
    for fragment, free in sides:
        name = body.context.namer.fresh(f"{fragment.name or 'operand'}_tile")
        type_ = c_type(fragment.dtype)
        size = part * prod((d.size for d in free), start=1)
        body.writer.line(f"{type_}* const {name} = it_piece<{type_}>(scratch + {offset}, {size});")
        offset += -(-size * fragment.dtype.bytes // 16) * 16
        names.append(name)
    body.context.scratch.exchange(offset)
    for first in range(0, count, part):
        convert.begin_exchange(body)
        for (fragment, free), name in zip(sides, names, strict=True):
            home = body.home(fragment)
            value = body.use(fragment, home)
            _put(body, op, value, name, fragment.dims, free, (first, part, count), home)
        body.barrier()
        _multiply(body, op, wide, sums, names, sides, part, table)
        body.context.scratch.dirty = True


def _free(op: Contract, dims: Sequence[Dim]) -> tuple[Dim, ...]:
    return tuple(d for d in dims if d not in op.dims)


def _put(
    body: Body, op: Contract, value: Value, name: str, dims: Sequence[Dim], free: tuple[Dim, ...],
    window: tuple[int, int, int], table: Table,
) -> None:  # fmt: skip
    """Write an operand's part as rows of its free lanes, one for each contracted lane."""
    first, part, count = window
    place = convert.flat_index(body, (*op.dims, *free), table)
    size = prod((d.size for d in free), start=1)
    conditions = [c for c in (replica_text(table, dims),) if c]
    if part < count:
        conditions.append(f"({place}) / {part * size} == {first // part}")
        place = f"({place}) % {part * size}"
    condition = f"if ({' && '.join(conditions)}) " if conditions else ""
    text = f"{condition}it_store({name}, {place}, {typed(value).text});"
    body.loops.act(text, table, table.looped(dims), op.span)


def _multiply(
    body: Body, op: Contract, wide: DType, sums: Variable, names: Sequence[str],
    sides: Sequence[tuple[object, tuple[Dim, ...]]], part: int, table: Table,
) -> None:  # fmt: skip
    body.flush()
    line = body.writer.line
    k = body.context.namer.fresh("k")
    factors = []
    for (fragment, free), name in zip(sides, names, strict=True):
        size = prod((d.size for d in free), start=1)
        place = convert.flat_index(body, free, table)
        row = f"{k} * {size}" if size > 1 else k
        index = row if place == "0" else f"{row} + {place}"
        loaded = Value(text=f"it_load({name}, {index})", prec=Prec.ATOM, dtype=fragment.dtype)  # type: ignore[attr-defined]
        factors.append(cast(loaded, wide))
    target = body.loops.render(mention(sums.id))
    line(f"for (int {k} = 0; {k} < {part}; ++{k}) {{")
    with body.writer.block():
        looped = table.looped(op.result.dims)
        head = f"{body.loops.open_loops(looped, table)} " if looped else ""
        line(f"{head}{target} = {_fused(wide, factors[0].text, factors[1].text, target)};")


def _fused(wide: DType, a: str, b: str, c: str) -> str:
    if wide.name == "f32":
        return f"fmaf({a}, {b}, {c})"
    if wide.name == "f64":
        return f"fma({a}, {b}, {c})"
    type_ = c_type(wide)
    return f"it_add<{type_}>({c}, it_mul<{type_}>({a}, {b}))"
