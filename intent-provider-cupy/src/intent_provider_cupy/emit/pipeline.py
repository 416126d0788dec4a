"""Operands of contractions in a counted loop, copied to shared memory some passes ahead of their use.

Several copies of each operand's tile take turns. A pass waits for its own tiles, starts the copies of a later pass
into the tiles that the pass before it has left, and computes. Where the layout does not allow copies in the
background, the same tiles are filled through registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import (
    Argument,
    Atomic,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Store,
    View,
)
from intent.physical.walk import operands_of, regions_of, walk
from intent_provider_cupy.emit import access, addresses, flight, groups, reading, vectored
from intent_provider_cupy.emit.hazards import may_meet
from intent_provider_cupy.emit.literals import c_type, literal, typed
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.reading import Reading
from intent_provider_cupy.emit.tile import PIECE_BYTES, Tile, tile_of
from intent_provider_cupy.emit.value import Prec, Value
from intent_provider_cupy.emit.vectors import Vector, vector_of

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

_PURE = (Constant, LaunchValue, Argument, Lane, Pointwise, Cast, Bitcast, Broadcast)


@dataclass(frozen=True, kw_only=True)
class Staged:
    """One operand: its load, its tile (of one stage) and how it is copied."""

    load: Load
    product: Product
    tile: Tile
    vector: Vector


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """The operands of one loop that are copied ahead, and the operations that only their addresses need.

    ``flying``: see :func:`flight.flying`; ``lag``: how many passes back the copies that a pass starts may go.
    """

    staged: tuple[Staged, ...]
    reading: Reading
    hidden: frozenset[int]
    stages: int
    slot: str
    flying: dict[int, int]

    @property
    def lag(self) -> int:
        return flight.LAG if self.flying else 1

    @property
    def ahead(self) -> int:
        """How many passes ahead tiles are copied."""
        return self.stages - self.lag


def pipeline_of(body: Body, loop: Loop) -> Pipeline | None:
    """The pipeline of a loop, None if nothing in it can be copied ahead."""
    written = [op.target for op in walk(loop.body) if isinstance(op, Store | Atomic)]
    inside = {r.id: op for op in loop.body.ops for r in op.results}
    found: list[Staged] = []
    needed: dict[int, Op] = {}
    for op in loop.body.ops:
        if not isinstance(op, Contract) or not body.usage.live(op) or not body.placing.products[op.id].simple:
            continue
        product = body.placing.products[op.id]
        sides = []
        for side in (product.rows, product.columns):
            load = inside.get(side.id)
            if not isinstance(load, Load) or not _copied(body, load, product, written):
                continue
            behind = _addresses(body, load, loop, inside)
            vector = _vector(body, load, product)
            narrow = min(d.size for d in side.dims) * side.dtype.bytes < PIECE_BYTES
            if behind is None or vector is None or narrow:
                continue
            sides.append((load, vector, behind))
        if product.kind == "tensor" or (product.kind == "tiles" and len(sides) == 2):
            for load, vector, behind in sides:
                tile = tile_of(body, product, load.result)
                found.append(Staged(load=load, product=product, tile=tile, vector=vector))
                needed.update((o.id, o) for o in behind)
    size = sum(s.tile.bytes for s in found)
    room = body.context.most_tiles - body.context.scratch.tiled
    stages = min(body.context.stages, room // size) if size else 0
    if stages < 2:
        return None
    ordered = tuple(op for op in loop.body.ops if op.id in needed)
    return Pipeline(
        staged=tuple(found), reading=reading.reading_of(body, loop, [s.load for s in found]),
        hidden=_hidden(loop, ordered, found), stages=stages,
        slot=body.context.namer.fresh("slot"),
        flying=flight.flying(body, loop, [(s.product, s.tile) for s in found], stages),
    )  # fmt: skip


def _copied(body: Body, load: Load, product: Product, written: Sequence[object]) -> bool:
    """Whether the tile holds just what is in memory, or zeros, and the loop does not change it."""
    fill = body.placing.defined.get(load.fill.id) if load.fill is not None else None
    zero = load.fill is None or (isinstance(fill, Constant) and fill.value == 0)
    private = len(body.placing.users(load.result)) == 1
    source = load.source
    still = isinstance(source, View) and not any(may_meet(source, w) for w in written)  # type: ignore[arg-type]
    return zero and private and still and source.dtype == product.fed


def _vector(body: Body, load: Load, product: Product) -> Vector | None:
    """Vectors along the tile's rows, of a size that copies in the background have."""
    table = body.placing.table_of(load)
    vector = vector_of(body, load, load.result.dims, table)
    if vector is None or vector.length * product.fed.bytes not in (4, 8, 16):
        return None
    return vector


def _addresses(body: Body, load: Load, loop: Loop, inside: dict[int, Op]) -> list[Op] | None:
    """The operations of the loop behind the load's coordinates and predicate; None if one cannot be known ahead."""
    found = addresses.behind(addresses.where(load), inside)
    carries = {a.id for a in loop.body.args[1:]}
    if any(f.id in carries for f in (*addresses.where(load), *(o for op in found for o in operands_of(op)))):
        return None
    for op in found:
        effect = isinstance(op, Load | Store | Atomic | Contract) and op.id not in body.placing.addresses
        if effect or any(True for _ in regions_of(op)) or len(op.results) != 1:
            return None
    return found


def _hidden(loop: Loop, addresses: Sequence[Op], staged: Sequence[Staged]) -> frozenset[int]:
    """Operations that the pass itself need not compute: the loads, and what only they read."""
    hidden = {s.load.id for s in staged}
    readers: dict[int, set[int]] = {}
    for op in loop.body.ops:
        nested = [inner for region in regions_of(op) for inner in walk(region)]
        for user in (op, *nested):
            for operand in operands_of(user):
                readers.setdefault(operand.id, set()).add(op.id)
    yielded = {f.id for f in loop.body.yields}
    for op in reversed(addresses):
        if op.result.id not in yielded and readers.get(op.result.id, set()) <= hidden:
            hidden.add(op.id)
    return frozenset(hidden)


def declare(body: Body, pipeline: Pipeline) -> None:
    """Pieces of shared memory for the tiles of all stages."""
    body.flush()
    if body.depth or body.staged:
        body.barrier()  # another loop, or an earlier round of this one, may still read what is there
    for staged in pipeline.staged:
        tile, stages = staged.tile, pipeline.stages
        offset = body.context.scratch.tiles(stages * tile.bytes)
        body.writer.line(tile.declaration(f"staged + {offset}" if offset else "staged", stages))


def fill_first(body: Body, pipeline: Pipeline, loop: Loop, begin: Value, end: Value, step: Value) -> None:
    """Start the copies of the first passes."""
    stage = body.context.namer.fresh("stage")
    first = f"{begin.at(Prec.SUM)} + " if begin.text != "0" else ""
    if pipeline.reading.kept:
        _read(body, pipeline, loop, begin.text, end)
    body.writer.line(f"it_each({stage}, {pipeline.ahead}) {{")
    with body.writer.block():
        _issue(body, pipeline, loop, f"{first}{stage} * {step.at(Prec.UNARY)}", end, stage)
        if pipeline.reading.kept:
            _read(body, pipeline, loop, f"{first}({stage} + 1) * {step.at(Prec.UNARY)}", end)
    body.writer.line(f"int {pipeline.slot} = 0;")


def advance(body: Body, pipeline: Pipeline, loop: Loop, index: str, end: Value, step: Value) -> None:
    """At the head of a pass: wait for its tiles. The copies of a later one start beside the first product of tiles."""
    body.flush()
    body.writer.line(f"it_wait_async<{pipeline.ahead - 1}>();")
    for product in {s.product.op.id: s.product for s in pipeline.staged}.values():
        if groups.grouped(product, body.placing.table_of(product.op)):
            body.writer.line("it_show_groups();")
            break
    body.barrier()
    products = {s.product.op.id for s in pipeline.staged}
    first = next(op for op in loop.body.ops if op.id in products)
    body.copies[first.id] = lambda: _ahead(body, pipeline, loop, index, end, step)


def _ahead(body: Body, pipeline: Pipeline, loop: Loop, index: str, end: Value, step: Value) -> None:
    """The copies of a later pass, into the tiles that an earlier one (``lag`` passes back) has left."""
    ahead_by, lag = pipeline.ahead, pipeline.lag
    body.flush()
    body.writer.line("{")
    with body.writer.block():
        free = body.context.namer.fresh("free")
        where = f"{pipeline.slot} == 0 ? " if lag == 1 else f"{pipeline.slot} < {lag} ? {pipeline.slot} + "
        body.writer.line(f"const int {free} = {where}{ahead_by} : {pipeline.slot} - {lag};")
        distance = step.text if ahead_by == 1 else f"{ahead_by} * {step.at(Prec.UNARY)}"
        _issue(body, pipeline, loop, f"{index} + {distance}", end, free)
        if pipeline.reading.kept:
            _read(body, pipeline, loop, f"{index} + {ahead_by + 1} * {step.at(Prec.UNARY)}", end)


def turn(body: Body, pipeline: Pipeline) -> None:
    """At the end of a pass: the next stage's tiles."""
    body.flush()
    body.writer.line(f"{pipeline.slot} = {pipeline.slot} == {pipeline.stages - 1} ? 0 : {pipeline.slot} + 1;")


def _issue(body: Body, pipeline: Pipeline, loop: Loop, ahead: str, end: Value, slot: str) -> None:
    """Start the copies of the pass whose index is ``ahead``, if there is one, into the tiles of ``slot``."""
    with _pass(body, loop, ahead, end, "ahead"):
        reading.use(body, pipeline.reading)
        for staged in pipeline.staged:
            _copy(body, staged, slot)
    body.writer.line("it_commit_async();")


def _read(body: Body, pipeline: Pipeline, loop: Loop, ahead: str, end: Value) -> None:
    """Read the addresses of the pass whose index is ``ahead``, if there is one."""
    with _pass(body, loop, ahead, end, "next"):
        reading.keep(body, pipeline.reading)


@contextmanager
def _pass(body: Body, loop: Loop, ahead: str, end: Value, hint: str) -> Iterator[None]:
    """What is to be done for the pass whose index is ``ahead``, if there is one."""
    iv = loop.body.args[0]
    width = body.context.bounds.width(iv)
    name = body.context.namer.fresh(f"{iv.name or 'i'}_{hint}")
    body.writer.line(f"const {c_type(iv.dtype, width)} {name} = {body.loops.render(ahead)};")
    body.writer.line(body.loops.render(f"if ({name} < {end.at(Prec.SHIFT)}) {{"))
    values, left = dict(body.values), dict(body.left)
    with body.writer.block():
        body.put(iv, Value(text=name, prec=Prec.ATOM, dtype=iv.dtype, width=width), body.placing.main)
        yield
        body.flush()
    body.values, body.left = values, left


def _copy(body: Body, staged: Staged, slot: str) -> None:
    load, tile, vector = staged.load, staged.tile, staged.vector
    table = body.placing.table_of(load)
    offset = access.offset_of(body, load.source, load.coordinates, table)
    valid = access.condition_of(body.use(load.valid, table) if load.valid is not None else None)
    pointer = body.context.signature.view(load.source)  # type: ignore[arg-type]
    to = f"{tile.name}, {slot} * {tile.elements} + {tile.index(body, table)}"
    replica = access.replica_text(table, load.result.dims)
    guard = f"if ({replica}) " if replica else ""
    fits = tile.fast == vector.dim
    test = valid.text if valid is not None else "true"
    copy = f"{guard}it_copy_async<{vector.length}>({to}, {pointer}, {offset.text}, {test});"
    single = f"it_load({pointer}, {offset.text})"
    if valid is not None:
        single = f"{valid.at(Prec.OR_ELSE)} ? {single} : {typed(literal(0, load.source.dtype)).text}"
    store = f"{guard}it_store({to}, {single});"
    looped = table.looped(load.result.dims)
    body.loops.flush(body.loops.mentioned(copy + store))
    if not fits:
        body.loops.act(store, table, looped, load.span)
        body.flush()
        return
    vectored.either(body, vector, copy, store, looped, table, load.span)
