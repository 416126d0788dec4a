"""Reads of pages: their numbers once for each page, and whole pages as slices of their array."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Broadcast, Cast, Dim, Fragment, Lane, Load, Pointwise
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value, expanded, index_literal, shape_text
from intent.types.dtypes import INDEX
from intent_provider_cutile.casts import cast
from intent_provider_cutile.emit import access
from intent_provider_cutile.emit.literals import typed
from intent_provider_cutile.emit.pages import Pages, Stepped

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

_LONG = 24
"""Characters from which an index has a name of its own."""


def load(body: Body, op: Load, pages: Pages) -> None:
    """``ct.load_advanced_indexing``: an index for each page, slices along the other axes; zeros where there is none."""
    numbers = _numbers(body, op, pages)
    indices, shape = [], []
    for k, coordinate in enumerate(op.coordinates):
        if k == pages.axis:
            indices.append(numbers)
        elif k == pages.inner:
            # Whole pages begin where pages do.
            first = (
                "0" if pages.steps.size > 1 else _Lanes(body, pages.dim, index_literal(0))(coordinate).text
            )
            indices.append(f"ct.Slice({first}, {pages.size})")
            shape.append(pages.dim)
        elif coordinate.dims:
            indices.append(f"ct.Slice(0, {coordinate.dims[0].size})")
            shape.append(coordinate.dims[0])
        else:
            indices.append(f"ct.Slice({body.use(coordinate).text}, 1)")
    array, dims = body.tiled(op.source), tuple(shape)
    text = f"ct.load_advanced_indexing({array}, ({', '.join(indices)}), padding_mode=ct.PaddingMode.ZERO)"
    whole = body.context.namer.fresh(f"{op.source.name}_pages")
    body.writer.statement(f"{whole} = {text}", op.span)
    text = f"ct.reshape({whole}, {shape_text(dims)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=dims)
    value = body.permuted(value, dims, op.result.dims)
    zero = "0.0" if op.source.dtype.is_float else "0"
    for test in pages.lanes:
        there = expanded(typed(body.use(test)), op.result.dims)
        value = replace(value, text=f"ct.where({there.text}, {value.text}, {zero})")
    for fragment in pages.scalars * 2:
        body.use(fragment)
    body.define(op.result, value, op.span, statement=True, hint=f"{op.source.name}_value")


def _numbers(body: Body, op: Load, pages: Pages) -> str:
    """The variable with the numbers of the pages; where there is none, the first number outside of the array."""
    key = pages.home, pages.page.id, op.valid.id if op.valid is not None else -1
    known = body.context.pages.get(key)
    if known is None:
        lanes = f"ct.arange({pages.steps.size}, dtype=ct.int32) * {pages.size}"
        first = Value(text=lanes, prec=Prec.PRODUCT, dtype=INDEX, dims=(pages.steps,), width=Width.SMALL)
        at = _Lanes(body, pages.dim, first)
        number = at(pages.page)
        end = body.context.extents.write(op.source.shape[pages.axis])
        text = number.text
        if pages.tests:
            there = " & ".join(at(t).at(Prec.BITAND) for t in pages.tests)
            text = f"ct.where({there}, {text}, {end.text})"
        known = body.context.pages[key] = body.context.namer.fresh(pages.steps.name)
        body.writer.statement(f"{known} = {text}", op.span)
    return known


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
    """What values are at certain lanes of ``dim``: one number, or several in a dim of their own."""

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
            made = body.pointwise(op, args, self._lane.dims)
            return self._named(op, made) if len(made.text) > _LONG and made.dtype.kind == "index" else made
        assert isinstance(op, Load)
        return self._load(op)

    def _named(self, op: Pointwise, value: Value) -> Value:
        name = self._body.context.namer.fresh(op.result.name or "t")
        self._body.writer.statement(f"{name} = {value.text}", op.span)
        return replace(value, text=name, prec=Prec.ATOM, refs=frozenset())

    def _load(self, op: Load) -> Value:
        body, dims = self._body, self._lane.dims
        offset = access.element(body, op.source, op.coordinates, [self(c) for c in op.coordinates], dims)
        mask = f", mask={typed(self(op.valid)).text}, padding_value=0" if op.valid is not None else ""
        name = body.context.namer.fresh(op.result.name or f"{op.source.name}_value")
        body.writer.statement(f"{name} = {body.memory(op.source)}.load_offset({offset.text}{mask})", op.span)
        return Value(text=name, prec=Prec.ATOM, dtype=op.source.dtype, dims=dims)
