"""Loads and stores of whole tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.physical import Buffer, Load, Op, Store, View
from intent.physical.walk import walk
from intent.provider.emission.python import Prec, Value
from intent_provider_cutile.emit.boxes import Box, Side
from intent_provider_cutile.emit.runs import Run

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body


def load(body: Body, op: Load, box: Box) -> None:
    """``ct.load`` of one tile, its axes brought into the program's order."""
    array = _array(body, op, box)
    latency = body.context.latencies.get(id(op))
    hint = f", latency={latency}" if latency is not None else ""
    padding = ", padding_mode=ct.PaddingMode.ZERO" if any(side.run for side in box.sides) else ""
    text = f"ct.load({array}, {_index(body, box)}, {_tuple(box.shape)}{padding}{hint})"
    if len(box.dims) != len(box.shape):
        text = f"ct.reshape({text}, {_tuple(d.size for d in box.dims)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=box.dims)
    value = body.permuted(value, box.dims, op.result.dims)
    body.define(op.result, value, op.span, statement=True, hint=f"{op.source.name}_value")


def store(body: Body, op: Store, box: Box) -> None:
    """``ct.store`` of one tile, with the array's order of axes."""
    array, index = _array(body, op, box), _index(body, box)
    value = body.full(body.use(op.value), op.dims)
    text = body.permuted(value, op.dims, box.dims).text
    if len(box.dims) != len(box.shape):
        text = f"ct.reshape({text}, {_tuple(box.shape)})"
    body.writer.statement(f"ct.store({array}, {index}, {text})", op.span)


def rows(body: Body, run: Run) -> None:
    """The operations of a pass over a run of rows: under the condition that there are any, on slices of its arrays."""
    ops = run.region.ops
    wanted = {run.valid.id, run.coordinate.id}
    ready = 1 + max(k for k, op in enumerate(ops) if any(r.id in wanted for r in op.results))
    body.operations(ops[:ready])
    accesses = [(op, box) for op in walk(run.region) if (box := body.context.boxes.of(op)) is not None]
    sliced = [(op, k) for op, box in accesses for k, side in enumerate(box.sides) if side.run]
    fresh, span = body.context.namer.fresh, ops[ready - 1].span
    first, last = fresh("first"), fresh("last")
    end = body.context.extents.write(_resource(sliced[0][0]).shape[sliced[0][1]])
    valid, place = (body.full(body.values[f.id], (run.dim,)) for f in (run.valid, run.coordinate))
    body.writer.statement(
        f"{first} = ct.astype(ct.min(ct.where({valid.text}, {place.text}, {end.text}), axis=0), INDEX)", span
    )
    body.writer.statement(f"{last} = {first} + ct.sum(ct.astype({valid.text}, ct.int32), axis=0)", span)
    body.writer.statement(f"if {first} < {last}:", span)
    with body.writer.block():
        for op, axis in sliced:
            source = _resource(op)
            key = source.name, axis, run.coordinate.id
            if key not in body.context.slices:
                name = body.context.slices[key] = fresh(f"{source.name}_rows")
                body.writer.line(f"{name} = {body.tiled(source)}.slice({axis}, {first}, {last})")
        body.operations(ops[ready:])


def _resource(op: Op) -> View | Buffer:
    assert isinstance(op, Load | Store)
    return op.source if isinstance(op, Load) else op.target


def _array(body: Body, op: Load | Store, box: Box) -> str:
    """The array that is cut into tiles: all of it, or a slice of it."""
    source = _resource(op)
    axis = next((k for k, side in enumerate(box.sides) if side.run), None)
    if axis is None or op.valid is None:
        return body.tiled(source)
    for fragment in (op.valid, op.coordinates[axis]) * 2:
        body.use(fragment)
    return body.context.slices[source.name, axis, op.coordinates[axis].id]


def _index(body: Body, box: Box) -> str:
    return f"({', '.join(_place(body, side) for side in box.sides)})"


def _place(body: Body, side: Side) -> str:
    """The tile index along one axis."""
    if side.base is None:  # the rows of a run are the first tile of their slice
        return str(side.plus)
    base = body.use(side.base)
    if side.over > 1:
        return f"{base.at(Prec.PRODUCT)} // {side.over}"
    return base.text if side.times == 1 else f"{base.at(Prec.PRODUCT)} * {side.times}"


def _tuple(values: object) -> str:
    listed = [str(v) for v in values]  # type: ignore[attr-defined]
    return f"({', '.join(listed)})"
