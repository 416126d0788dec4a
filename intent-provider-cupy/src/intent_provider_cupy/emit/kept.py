"""Rows that several walks read: as much as fits stays in shared memory after the first walk.

Each thread puts what it has read where it alone finds it again, since a later walk gives it the same lanes: no barrier
is needed. A lane's place is its index along the walk, so that walks in parts (whole blocks, then the rest) share one
array; what lies past the array is read from memory each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from intent.physical import (
    Atomic,
    Broadcast,
    Cast,
    Constant,
    Dim,
    Fragment,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Region,
    Store,
    View,
)
from intent_provider_cupy.emit import convert
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import stored_type
from intent_provider_cupy.emit.value import Prec

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


@dataclass(frozen=True, kw_only=True)
class Row:
    """The array ``name`` of the first ``lanes`` lanes of each row, and a load that fills it (``first``) or reads it.

    ``dim``: the walked lanes; ``index``: the walk's; ``others``: dims of the rows.
    """

    name: str
    lanes: int
    dim: Dim
    index: Fragment
    others: tuple[Dim, ...]
    first: bool

    def holds(self, body: Body) -> str:
        """The condition that the block at hand lies in the array; the same in all threads."""
        index = body.use(self.index, body.placing.main)
        interval = body.context.bounds.interval(self.index)
        text = f"{index.at(Prec.SHIFT)} <= {self.lanes - self.dim.size}"
        return (
            text
            if interval is not None and interval.non_negative
            else f"{index.at(Prec.SHIFT)} >= 0 && {text}"
        )

    def place(self, body: Body, table: Table) -> str:
        """A lane's array and index."""
        index = body.use(self.index, body.placing.main).at(Prec.SUM)
        lane = body.coordinate(self.dim, table).text
        row = convert.flat_index(body, self.others, table)
        rows = f"({row}) * {self.lanes} + " if self.others and row != "0" else ""
        return f"{self.name}, {rows}{index} + {lane}"


def find(body: Body, region: Region) -> None:
    """Arrays for the rows that loops of the region walk again; notes what its loads have to do with them."""
    if not body.context.kept:
        return
    seen: list[tuple[Loop, Load]] = []
    pairs: list[tuple[Load, Load]] = []
    for loop, load in _walked(region):
        first = next((f for known, f in seen if _again(body, (known, f), (loop, load))), None)
        if first is None:
            seen.append((loop, load))
        else:
            pairs.append((first, load))
    again = {first.id for first, _ in pairs}
    rows: list[tuple[Loop, Load, Row]] = []
    for loop, load in seen:
        if load.id in again and _lasting(body, load):
            row = next((r for known, f, r in rows if _same_places(body, (known, f), (loop, load))), None)
            row = _row(body, loop, load, row)
            if row is not None:
                rows.append((loop, load, row))
                body.rows[load.id] = row
    index = {load.id: loop.body.args[0] for loop, load in _walked(region)}
    for first, load in pairs:
        if first.id in body.rows:
            row = body.rows[first.id]
            body.rows[load.id] = Row(
                name=row.name,
                lanes=row.lanes,
                dim=row.dim,
                index=index[load.id],
                others=row.others,
                first=False,
            )


def _walked(region: Region) -> Iterator[tuple[Loop, Load]]:
    for loop in region.ops:
        if isinstance(loop, Loop):
            for op in loop.body.ops:
                if isinstance(op, Load) and op.reread in ("again", "last") and isinstance(op.source, View):
                    yield loop, op


def _again(body: Body, first: tuple[Loop, Load], later: tuple[Loop, Load]) -> bool:
    """Whether the later load reads, pass by pass, what the first one has read: the same lanes in the same threads."""
    (loop, load), (other, read) = first, later
    bounds = [(b.id, e.id) for b, e in zip(_range(loop), _range(other), strict=True)]
    if any(a != b for a, b in bounds) or not _same_places(body, first, later):
        return False
    if load.valid is None or read.valid is None:
        return load.valid is read.valid
    return _alike(body, load.valid, read.valid, {loop.body.args[0].id: other.body.args[0].id})


def _range(loop: Loop) -> tuple[Fragment, Fragment, Fragment]:
    return loop.begin, loop.end, loop.step


def _same_places(body: Body, first: tuple[Loop, Load], later: tuple[Loop, Load]) -> bool:
    """Whether both loads read the same element where their walks' indices are the same."""
    (loop, load), (other, read) = first, later
    names = {loop.body.args[0].id: other.body.args[0].id}
    return (
        load.source == read.source
        and load.result.dims == read.result.dims
        and body.placing.table_of(load) is body.placing.table_of(read)
        and all(_alike(body, a, b, names) for a, b in zip(load.coordinates, read.coordinates, strict=True))
    )


def _alike(body: Body, a: Fragment, b: Fragment, names: Mapping[int, int]) -> bool:
    """Whether two values are equal if those are that ``names`` maps to one another."""
    if a.id == b.id or names.get(a.id) == b.id:
        return True
    x, y = (body.placing.defined.get(v.id) for v in (a, b))
    if x is None or y is None or type(x) is not type(y) or a.dims != b.dims or a.dtype != b.dtype:
        return False
    return _same_operation(x, y) and all(
        _alike(body, p, q, names) for p, q in zip(_operands(x), _operands(y), strict=True)
    )


def _same_operation(x: Op, y: Op) -> bool:
    """Whether two operations of one type do the same with their operands."""
    if isinstance(x, Pointwise) and isinstance(y, Pointwise):
        return x.fn == y.fn and len(x.operands) == len(y.operands) and x.approximate == y.approximate
    if isinstance(x, Lane) and isinstance(y, Lane):
        return x.dim == y.dim
    if isinstance(x, Constant) and isinstance(y, Constant):
        return x.value == y.value
    if isinstance(x, LaunchValue) and isinstance(y, LaunchValue):
        return x.extent == y.extent
    return isinstance(x, Cast | Broadcast)


def _operands(op: Op) -> tuple[Fragment, ...]:
    if isinstance(op, Pointwise):
        return op.operands
    return (op.value,) if isinstance(op, Cast | Broadcast) else ()


def _lasting(body: Body, load: Load) -> bool:
    """Whether nothing changes what was read, and each lane lives in one thread."""
    view = load.source
    assert isinstance(view, View)
    written = {op.target for op in body.placing.operations if isinstance(op, Store | Atomic)}
    changed = any(
        isinstance(w, View) and (w.name == view.name or (w.alias is not None and w.alias == view.alias))
        for w in written
    )
    return not changed and body.placing.table_of(load).spare(load.result.dims) == 0


def _row(body: Body, loop: Loop, load: Load, known: Row | None) -> Row | None:
    """The array for a load, the known one if there is one; None if it does not fit."""
    index = loop.body.args[0]
    dim = body.placing.walking(load.coordinates[-1], index)
    if dim is None or dim not in load.result.dims:
        return None
    others = tuple(d for d in load.result.dims if d != dim)
    if known is not None:
        return Row(name=known.name, lanes=known.lanes, dim=dim, index=index, others=others, first=True)
    rows = prod((d.size for d in others), start=1)
    size = rows * load.source.dtype.bytes
    lanes = (body.context.kept - body.context.scratch.kept_now) // size // dim.size * dim.size
    if lanes <= 0:
        return None
    name, type_ = body.context.namer.fresh(f"{load.source.name}_row"), stored_type(load.source.dtype)
    offset = body.context.scratch.keep(lanes * size)
    body.flush()
    body.writer.line(f"{type_}* const {name} = it_piece<{type_}>({offset}, {rows * lanes});")
    return Row(name=name, lanes=lanes, dim=dim, index=index, others=others, first=True)
