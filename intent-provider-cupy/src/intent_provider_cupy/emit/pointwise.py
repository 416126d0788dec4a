"""Pointwise functions: operands, integer widths of indices, and what is known of their signs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Pointwise
from intent.provider.emission import Width, folded
from intent.types.dtypes import INDEX
from intent_provider_cupy.emit.addresses import SLOW
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, literal, number_of
from intent_provider_cupy.emit.value import Prec, Value, union_dims, union_refs
from intent_provider_cupy.spelling import Call, spell

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def pointwise(body: Body, op: Pointwise, table: Table) -> None:
    """One function of its operands, in this language's meaning."""
    args = [body.use(o, table) for o in op.operands]
    branches = args[1:] if op.fn == "select" else args
    dtype = branches[0].dtype
    dims, refs = union_dims(op.result.dims, args), union_refs(args)
    width = Width.LONG
    bounds = body.context.bounds
    if dtype.kind == "index":
        if (simple := folded(op.fn, args, _number, _literal)) is not None:
            body.define(op.result, simple, op.span, table)
            return
        args, width = _index_operands(body, op, args)
        if width is Width.LONG and op.fn in SLOW and (by := body.divisors.get(op.operands[1].id)) is not None:
            text = f"it_floor_{'div' if op.fn == 'floordiv' else 'mod'}({args[0].text}, {by})"
            value = Value(text=text, prec=Prec.ATOM, dtype=dtype, dims=dims, width=width, refs=refs)
            body.define(op.result, value, op.span, table)
            return
    call = Call(
        fn=op.fn, args=tuple(args), dtype=dtype, width=width, approximate=op.approximate,
        flush_to_zero=op.flush_to_zero, non_negative=bounds.unsigned(op.operands),
        bounded=bounds.interval(op.result) is not None,
    )  # fmt: skip
    try:
        value = spell(call)
    except CapabilityError as error:
        raise error.at(op.span) from None
    body.define(op.result, replace(value, dims=dims, width=width, refs=refs), op.span, table)


def _index_operands(body: Body, op: Pointwise, args: list[Value]) -> tuple[list[Value], Width]:
    """Operands such that C++'s promotion computes in a type that holds the result."""
    first = 1 if op.fn == "select" else 0
    have = max((a.width for a in args[first:] if not a.literal), default=Width.SMALL)
    need = max([have, *(a.width for a in args[first:] if a.literal)])
    if op.result.dtype.kind == "index":
        need = max(need, body.context.bounds.width(op.result))
    if need > have:
        args = list(args)
        wide = c_type(op.operands[first].dtype, need)
        k = next((i for i in range(first, len(args)) if not args[i].literal), first)
        args[k] = replace(args[k], text=f"({wide}){args[k].atom}", prec=Prec.UNARY, width=need, literal=False)
    return args, need


def _number(value: Value) -> int | None:
    return number_of(value) if value.literal else None


def _literal(number: int) -> Value:
    return literal(number, INDEX)
