"""Moving fragments between threads through shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Dim, Fragment, Op, Rename
from intent.types import DType
from intent_provider_cupy.emit.access import replica_text
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.scratch import EXCHANGE_LIMIT
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def spread(body: Body, fragment: Fragment, op: Op) -> None:
    """Bring a result to the other tables that want it."""
    for table in body.placing.wanted(fragment):
        home = body.home(fragment)
        value = body.use(fragment, home)
        moved = moved_to(body, value, fragment.dims, fragment.dims, home, table, op, fragment.name or "t")
        body.put(fragment, moved, table)


def rename(body: Body, op: Rename, table: Table) -> None:
    """Lanes of one dim under another name: nothing to do where the two have the same places."""
    value = body.use(op.value, table)
    if op.source not in value.dims:
        body.define(op.result, value, op.span, table)
        return
    source = tuple(d for d in op.value.dims if d in value.dims)
    target = tuple(op.target if d == op.source else d for d in source)
    moved = moved_to(body, value, source, target, table, table, op, op.result.name or "t")
    body.put(op.result, moved, table)


def share(body: Body, op: Op, variable: Variable, dtype: DType, dims: Sequence[Dim], table: Table) -> None:
    """Give all replicas what the first one has in ``variable``."""
    name = body.context.namer.fresh("shared")
    type_ = variable.type
    count = prod((d.size for d in dims), start=1)
    body.context.scratch.exchange(count * dtype.bytes)
    begin_exchange(body)
    body.writer.line(f"{type_}* const {name} = it_piece<{type_}>(scratch, {count});")
    index = flat_index(body, dims, table)
    condition = replica_text(table, dims)
    looped = table.looped(dims)
    text = mention(variable.id)
    body.loops.act(f"if ({condition}) it_store({name}, {index}, {text});", table, looped, op.span)
    body.barrier()
    body.loops.act(f"{text} = it_load({name}, {index});", table, looped, op.span)
    body.flush()
    body.context.scratch.dirty = True


def begin_exchange(body: Body) -> None:
    """Wait until nobody reads the exchange before this one any more."""
    body.flush()
    if body.context.scratch.dirty:
        body.barrier()


def flat_index(body: Body, dims: Sequence[Dim], table: Table, pad: int = 0) -> str:
    """The row-major number of a lane, in rows that are ``pad`` longer than their lanes."""
    terms, stride = [], 1
    for k, dim in enumerate(reversed(dims)):
        place = body.coordinate(dim, table)
        if place.text != "0":
            terms.append(place.text if stride == 1 else f"{place.at(Prec.UNARY)} * {stride}")
        stride *= dim.size + (0 if k else pad)
    return " + ".join(reversed(terms)) or "0"


def moved_to(
    body: Body, value: Value, source_dims: Sequence[Dim], target_dims: Sequence[Dim], source: Table, target: Table,
    op: Op, hint: str,
) -> Value:  # fmt: skip
    """``value`` over ``source_dims`` of one table as a value over ``target_dims`` of another, lane by lane."""
    type_ = c_type(value.dtype, value.width)
    count = prod((d.size for d in source_dims), start=1)
    parts = max(1, count * value.dtype.bytes // EXCHANGE_LIMIT)
    body.flush()
    looped = target.looped(target_dims)
    variable = body.loops.variable(body.context.namer.fresh(hint), type_, looped)
    body.loops.declare(variable, target)
    # Lanes that are neighbours here and a row apart there lie in different banks if rows are of odd length.
    pad = 1 if parts == 1 and len(source_dims) > 1 and source is not target else 0
    size = count // parts + pad * count // source_dims[-1].size if source_dims else 1
    body.context.scratch.exchange(size * value.dtype.bytes)
    name = body.context.namer.fresh(f"{hint}_exchange")
    body.writer.line(f"{type_}* const {name} = it_piece<{type_}>(scratch, {size});")
    write, read = flat_index(body, source_dims, source, pad), flat_index(body, target_dims, target, pad)
    replica = replica_text(source, source_dims)
    for part in range(parts):
        begin_exchange(body)
        here = [replica] if replica else []
        if parts > 1:
            here.append(f"({write}) / {size} == {part}")
        condition = f"if ({' && '.join(here)}) " if here else ""
        place = write if parts == 1 else f"({write}) % {size}"
        text = f"{condition}it_store({name}, {place}, {typed(value).text});"
        body.loops.act(text, source, source.looped(source_dims), op.span)
        body.barrier()
        wanted = f"if (({read}) / {size} == {part}) " if parts > 1 else ""
        place = read if parts == 1 else f"({read}) % {size}"
        body.loops.act(f"{wanted}{mention(variable.id)} = it_load({name}, {place});", target, looped, op.span)
        body.flush()
        body.context.scratch.dirty = True
    refs = frozenset({variable.id})
    text = mention(variable.id)
    return Value(
        text=text, prec=Prec.ATOM, dtype=value.dtype, dims=tuple(target_dims), width=value.width, refs=refs
    )
