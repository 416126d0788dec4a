"""Contractions: operands in shared memory, sums in the registers of the result's lanes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Contract, Dim, Fragment
from intent.provider.emission import Width
from intent.types import DType
from intent.types.dtypes import F32
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert, tensor, tiled
from intent_provider_cupy.emit.access import replica_text
from intent_provider_cupy.emit.combining import Combine, Component
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, literal, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import free_dims
from intent_provider_cupy.emit.reduce import fold
from intent_provider_cupy.emit.scratch import EXCHANGE_LIMIT
from intent_provider_cupy.emit.value import Prec, Value, mention, union_dims, union_refs

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def contract(body: Body, op: Contract) -> None:
    """Sums of products over the contracted dims, plus the accumulator; narrow floats are summed in f32."""
    table = body.placing.table_of(op)
    product = body.placing.products[op.id]
    under_way = False
    wide = F32 if op.result.dtype.is_float and op.result.dtype.bits < 32 else op.result.dtype
    if product.kind == "products":
        value = _lane_by_lane(body, op, wide, table)
        late = op.accumulator
    else:
        sums, late = _start(body, op, wide, table)
        if product.kind == "tensor":
            plain = late is None and wide == op.result.dtype
            under_way = tensor.multiply(body, product, sums, table, late=plain)
        elif (operands := tiled.placed(body, product)) is not None:
            tiled.multiply(body, product, operands, wide, sums, table)
        else:
            _in_tiles(body, op, wide, sums, table)
        text, refs = mention(sums.id), frozenset({sums.id})
        value = Value(text=text, prec=Prec.ATOM, dtype=wide, dims=op.result.dims, refs=refs)
    if under_way:
        body.put(op.result, value, table)  # as it is: a copy would read it
        return
    if late is not None:
        total = cast(body.use(late, table), wide)
        text = f"{total.at(Prec.SUM)} + {value.text}"
        if not wide.is_float:
            text = f"it_add<{c_type(wide)}>({total.text}, {value.text})"
        dims, refs = union_dims(op.result.dims, (total, value)), union_refs((total, value))
        value = Value(text=text, prec=Prec.SUM, dtype=wide, dims=dims, refs=refs)
    body.define(op.result, cast(value, op.result.dtype), op.span, table)


def _lane_by_lane(body: Body, op: Contract, wide: DType, table: Table) -> Value:
    """Products of lanes, then a reduction: where one side has no lanes of its own."""
    a, b = (cast(body.use(f, table), wide) for f in (op.lhs, op.rhs))
    text = f"{a.at(Prec.PRODUCT)} * {b.at(Prec.UNARY)}"
    if not wide.is_float:
        text = f"it_mul<{c_type(wide)}>({a.text}, {b.text})"
    dims, refs = tuple(dict.fromkeys((*a.dims, *b.dims))), union_refs((a, b))
    value = Value(text=text, prec=Prec.PRODUCT, dtype=wide, dims=dims, refs=refs)
    component = Component(value=value, type=c_type(wide), dtype=wide, narrow=wide, width=Width.LONG)
    combine = Combine(kind="sum", components=(component,))
    (total,) = fold(body, combine, op.dims, op.result.dims, [op.result.name or "sum"], table, op.span)
    return total


def _start(body: Body, op: Contract, wide: DType, table: Table) -> tuple[Variable, Fragment | None]:
    """The variable of the sums with its first value, and an accumulator that is added afterwards."""
    late = op.accumulator if wide != op.result.dtype else None
    first = typed(literal(0, wide))
    if op.accumulator is not None and late is None:
        first = typed(body.use(op.accumulator, table))
        carry = body.loops.sole(first.text)
        if carry is not None and carry.id in body.carries and body.usage.stays(op.accumulator.id):
            body.flush()
            return carry, None
    body.flush_keeping([first])
    looped = table.looped(op.result.dims)
    name = body.context.namer.fresh(op.result.name or "sum")
    variable = body.loops.variable(name, c_type(wide), looped)
    body.loops.declare(variable, table)
    body.loops.act(f"{mention(variable.id)} = {first.text};", table, looped, op.span)
    body.flush()
    return variable, late


def _in_tiles(body: Body, op: Contract, wide: DType, sums: Variable, table: Table) -> None:
    """In parts of the contracted lanes whose operands fit into the exchange."""
    count = prod(d.size for d in op.dims)
    sides = [(f, free_dims(op, f)) for f in (op.lhs, op.rhs)]
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
    # An index value may be an int by now; the tile has all 64 bits.
    stored = f"(long long){value.atom}" if value.dtype.kind == "index" else typed(value).text
    text = f"{condition}it_store({name}, {place}, {stored});"
    body.loops.act(text, table, table.looped(dims), op.span)


def _multiply(
    body: Body, op: Contract, wide: DType, sums: Variable, names: Sequence[str],
    sides: Sequence[tuple[Fragment, tuple[Dim, ...]]], part: int, table: Table,
) -> None:  # fmt: skip
    """One contracted lane after the other: the factors of this thread's lanes, then all their products."""
    body.flush()
    line = body.writer.line
    k = body.context.namer.fresh("k")
    line(f"for (int {k} = 0; {k} < {part}; ++{k}) {{")
    with body.writer.block():
        factors = []
        for (fragment, free), name in zip(sides, names, strict=True):
            size = prod((d.size for d in free), start=1)
            place = convert.flat_index(body, free, table)
            row = f"{k} * {size}" if size > 1 else k
            index = row if place == "0" else f"{row} + {place}"
            loaded = Value(text=f"it_load({name}, {index})", prec=Prec.ATOM, dtype=fragment.dtype, dims=free)
            factor = body.named(cast(loaded, wide), "factor", op.span, table)
            factors.append(factor)
        body.flush_keeping(factors)
        looped = table.looped(op.result.dims)
        target = mention(sums.id)
        text = tiled.fused(wide, factors[0].text, factors[1].text, target)
        body.loops.act(f"{target} = {text};", table, looped, op.span)
        body.flush()
