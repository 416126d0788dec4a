"""Loads and stores of whole tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.physical import Load, Store
from intent.provider.emission.python import Prec, Value
from intent_provider_cutile.emit.boxes import Box, Side

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body


def load(body: Body, op: Load, box: Box) -> None:
    """``ct.load`` of one tile, its axes brought into the program's order."""
    array = body.tiled(op.source)
    latency = body.context.latencies.get(id(op))
    hint = f", latency={latency}" if latency is not None else ""
    text = f"ct.load({array}, {_index(body, box)}, {_tuple(box.shape)}{hint})"
    if len(box.dims) != len(box.shape):
        text = f"ct.reshape({text}, {_tuple(d.size for d in box.dims)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=box.dims)
    value = body.permuted(value, box.dims, op.result.dims)
    body.define(op.result, value, op.span, statement=True, hint=f"{op.source.name}_value")


def store(body: Body, op: Store, box: Box) -> None:
    """``ct.store`` of one tile, with the array's order of axes."""
    array, index = body.tiled(op.target), _index(body, box)
    value = body.full(body.use(op.value), op.dims)
    text = body.permuted(value, op.dims, box.dims).text
    if len(box.dims) != len(box.shape):
        text = f"ct.reshape({text}, {_tuple(box.shape)})"
    body.writer.statement(f"ct.store({array}, {index}, {text})", op.span)


def _index(body: Body, box: Box) -> str:
    return f"({', '.join(_place(body, side) for side in box.sides)})"


def _place(body: Body, side: Side) -> str:
    """The tile index along one axis."""
    if side.base is None:
        return str(side.plus)
    base = body.use(side.base)
    if side.over > 1:
        return f"{base.at(Prec.PRODUCT)} // {side.over}"
    return base.text if side.times == 1 else f"{base.at(Prec.PRODUCT)} * {side.times}"


def _tuple(values: object) -> str:
    listed = [str(v) for v in values]  # type: ignore[attr-defined]
    return f"({', '.join(listed)})"
