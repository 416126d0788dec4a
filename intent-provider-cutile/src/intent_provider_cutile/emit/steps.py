"""Reads that several lanes share, as a choice among scalars."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Broadcast, Cast, Dim, Fragment, Lane, Load, Pointwise
from intent.provider.emission.python import Prec, Value, index_literal
from intent_provider_cutile.casts import cast
from intent_provider_cutile.emit import access
from intent_provider_cutile.emit.literals import typed
from intent_provider_cutile.emit.stepped import Stepped

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

_LONG = 24
"""Characters from which an index has a name of its own."""


def shared(body: Body, op: Load, stepped: Stepped) -> None:
    """A scalar read for the lanes that share an element, and a choice among them."""
    dim, size = stepped.dim, stepped.size
    elements = []
    for first in range(0, dim.size, size):
        at = _Lanes(body, dim, index_literal(first))
        elements.append(at(op.result).text)
    text, lane = elements[-1], body.context.namer.fresh(dim.name)
    if len(elements) > 1:
        body.writer.line(f"{lane} = ct.arange({dim.size}, dtype=ct.int32)")
    for k in reversed(range(len(elements) - 1)):
        text = f"ct.where({lane} < {(k + 1) * size}, {elements[k]}, {text})"
    dims = (dim,) if len(elements) > 1 else ()
    for test in stepped.lanes:
        text, dims = f"ct.where({typed(body.use(test)).text}, {text}, 0)", (dim,)
    for fragment in stepped.scalars * 2:
        body.use(fragment)
    value = Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=dims)
    body.define(op.result, value, op.span, statement=True)


class _Lanes:
    """What values are at the lane ``lane`` of ``dim``."""

    def __init__(self, body: Body, dim: Dim, lane: Value) -> None:
        self._body, self._dim, self._lane = body, dim, lane
        self._known: dict[int, Value] = {}

    def __call__(self, value: Fragment) -> Value:
        if value.id not in self._known:
            self._known[value.id] = self._made(value)
        return self._known[value.id]

    def _made(self, value: Fragment) -> Value:
        body = self._body
        if self._dim not in value.dims:
            return body.values[value.id]
        op = body.context.boxes.defined[value.id]
        if isinstance(op, Lane):
            return self._lane
        if isinstance(op, Broadcast):
            return self(op.value)
        if isinstance(op, Cast):
            return cast(self(op.value), op.result.dtype, body.context.need)
        if isinstance(op, Pointwise):
            args = [self(f) for f in op.operands]
            if op.fn == "add" and args[1].text == "0":
                return args[0]
            made = body.pointwise(op, args, ())
            return self._named(op, made) if len(made.text) > _LONG and made.dtype.kind == "index" else made
        assert isinstance(op, Load)
        return self._load(op)

    def _named(self, op: Pointwise, value: Value) -> Value:
        name = self._body.context.namer.fresh(op.result.name)
        self._body.writer.statement(f"{name} = {value.text}", op.span)
        return replace(value, text=name, prec=Prec.ATOM, refs=frozenset())

    def _load(self, op: Load) -> Value:
        body = self._body
        offset = access.element(body, op.source, op.coordinates, [self(c) for c in op.coordinates], ())
        mask = f", mask={typed(self(op.valid)).text}, padding_value=0" if op.valid is not None else ""
        name = body.context.namer.fresh(op.result.name or f"{op.source.name}_value")
        body.writer.statement(f"{name} = {body.memory(op.source)}.load_offset({offset.text}{mask})", op.span)
        return Value(text=name, prec=Prec.ATOM, dtype=op.source.dtype)
