"""Loads and stores of whole tiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from intent.physical import Buffer, Load, Op, Store, View
from intent.physical.walk import walk
from intent.provider.emission.python import Prec, Value
from intent_provider_cutile.emit import passes
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
    # tileiras 13.4 dies of bulk stores into slices of some shapes.
    hint = ", allow_tma=False" if body.context.boxes.ended(op) else ""
    body.writer.statement(f"ct.store({array}, {index}, {text}{hint})", op.span)


def rows(body: Body, run: Run) -> None:
    """The operations of a pass over a run of rows: where there are any, on slices of its arrays."""
    ops = run.region.ops
    known = body.context.rows.get(id(run.region))
    if known is not None:
        span = next((op.span for op in ops if body.usage.live(op)), ops[0].span)
        _slices(body, run, *passes.first_and_last(body, run, known, span))
        body.operations(ops)
        return
    wanted = {run.valid.id, run.coordinate.id}
    ready = 1 + max(k for k, op in enumerate(ops) if any(r.id in wanted for r in op.results))
    body.operations(ops[:ready])
    fresh, span = body.context.namer.fresh, ops[ready - 1].span
    first, last = fresh("first"), fresh("last")
    (op, axis), *_ = _sliced(body, run)
    end = body.context.extents.write(_resource(op).shape[axis])
    valid, place = (body.full(body.values[f.id], (run.dim,)) for f in (run.valid, run.coordinate))
    body.writer.statement(
        f"{first} = ct.astype(ct.min(ct.where({valid.text}, {place.text}, {end.text}), axis=0), INDEX)", span
    )
    body.writer.statement(f"{last} = {first} + ct.sum(ct.astype({valid.text}, ct.int32), axis=0)", span)
    body.writer.statement(f"if {first} < {last}:", span)
    with body.writer.block():
        _slices(body, run, first, last)
        body.operations(ops[ready:])


def _sliced(body: Body, run: Run) -> Iterator[tuple[Op, int]]:
    """The accesses to rows of a run, and along which axis they have them."""
    for op in walk(run.region):
        box = body.context.boxes.of(op)
        yield from ((op, k) for k, side in enumerate(box.sides if box is not None else ()) if side.run)


def _slices(body: Body, run: Run, first: str, last: str) -> None:
    """The rows of a pass in each array."""
    for op, axis in _sliced(body, run):
        source = _resource(op)
        key = source.name, axis, run.coordinate.id
        if key not in body.context.slices:
            name = body.context.slices[key] = body.context.namer.fresh(f"{source.name}_rows")
            body.writer.line(f"{name} = {body.tiled(source)}.slice({axis}, {first}, {last})")


def _resource(op: Op) -> View | Buffer:
    assert isinstance(op, Load | Store)
    return op.source if isinstance(op, Load) else op.target


def _array(body: Body, op: Load | Store, box: Box) -> str:
    """The array that is cut into tiles: all of it, or a slice of it."""
    source = _resource(op)
    axis = next((k for k, side in enumerate(box.sides) if side.run), None)
    if axis is None or op.valid is None:
        return body.tiled(source)
    for fragment in () if body.context.boxes.ended(op) else (op.valid, op.coordinates[axis]) * 2:
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
