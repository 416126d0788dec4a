"""Stores of results whose neighbours lie in turn in the registers of neighbouring threads, as tensor cores leave them.

Where wide accesses are possible, threads exchange registers first, so that each holds the neighbours of one access.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Store
from intent_provider_cupy.emit import access, vectored
from intent_provider_cupy.emit.layout import Exchange, Table
from intent_provider_cupy.emit.literals import stored_type
from intent_provider_cupy.emit.value import Prec, Value, mention
from intent_provider_cupy.emit.vectors import vector_of

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def store(
    body: Body,
    op: Store,
    value: Value,
    pointer: str,
    tables: tuple[Table, Table, Exchange],
    plain: Callable[[], None],
) -> bool:
    """Store after an exchange where the layout allows wide accesses, as ``plain`` writes it elsewhere.

    ``tables``: where the value is, where the store runs, and what leads from one to the other. False, and nothing is
    written, if no layout allows it.
    """
    table, wide, exchange = tables
    vector = vector_of(body, op, op.dims, wide)
    looped = table.looped(op.dims)
    if vector is None or vector.dim != exchange.dim or not looped or looped[-1] != vector.dim:
        return False
    if vector.length < 1 << exchange.vector:
        return False
    offset = access.offset_of(body, op.target, op.coordinates, wide)
    valid = access.condition_of(body.use(op.valid, wide) if op.valid is not None else None)
    condition = access.condition_text(op.dims, wide, valid)
    body.loops.flush(body.loops.mentioned(value.text + offset.text + condition))
    with vectored.chosen(body, vector):
        type_, name = stored_type(op.target.dtype), body.context.namer.fresh("turned")
        variable = body.loops.variable(name, type_, looped)
        body.loops.declare(variable, table)
        target = mention(variable.id)
        body.loops.act(f"{target} = {value.text};", table, looped, op.span)
        body.flush()
        row = body.loops.render(target).removesuffix(f"[{body.context.counter(vector.dim)}]")
        heads = body.loops.open_loops(looped[:-1], table)
        for step, mask in exchange.steps:
            body.writer.line(f"{heads}{' ' if heads else ''}it_turn<{exchange.word}, {step}>({row}, {mask});")
        held = replace(value, text=target, prec=Prec.ATOM, refs=frozenset({variable.id}))
        place = f"{pointer}, {offset.text}"
        vectored.write(body, vector, held, place, condition, type_, looped, wide, op.span)
    with vectored.otherwise(body):
        plain()
    return True
