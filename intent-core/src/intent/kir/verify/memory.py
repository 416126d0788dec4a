"""Rules of indexed accesses: relations, validity, fills, writes (spec: logical-program 9, 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.kir.effects import AssumeInBounds, Atomic, BufferAlloc, ScatterReduce, Store
from intent.kir.ops import Gather, Load
from intent.kir.value import Relation, Resource, Value, View
from intent.kir.verify.rule import Facts, op_rule
from intent.types import Extent
from intent.types.dtypes import BOOL, INDEX

_Access = Gather | Load | Store | ScatterReduce | Atomic
_ATOMIC_OPERANDS: Final = {"load": 0, "compare_exchange": 2}
_ORDERS: Final = {"load": ("relaxed", "acquire"), "store": ("relaxed", "release")}


def accessed(op: _Access) -> tuple[Resource | Value, tuple[Extent, ...]]:
    """The thing that is indexed and the shape of the value read or written."""
    if isinstance(op, Gather | Load):
        return op.source, op.result.shape
    if isinstance(op, Store | ScatterReduce):
        return op.target, op.value.shape
    shaped = (*op.operands, *op.results)
    return op.target, shaped[0].shape if shaped else ()


@op_rule(Gather, Load, Store, ScatterReduce, Atomic)
def relation_coordinates(op: _Access, _: Facts) -> Iterator[str]:
    """One index-typed coordinate per axis of the source, each spread over the relation's axes once."""
    relation: Relation = op.relation
    rank = accessed(op)[0].rank
    if len(relation.coordinates) != rank or len(relation.axes) != rank:
        yield f"{len(relation.coordinates)} coordinates for {rank} axes"
    for coordinate, axes in zip(relation.coordinates, relation.axes, strict=False):
        if coordinate.dtype != INDEX:
            yield f"coordinate %{coordinate.id} is {coordinate.dtype}, not index"
        if len(axes) != coordinate.rank or len(set(axes)) != len(axes):
            yield f"coordinate %{coordinate.id} of rank {coordinate.rank} is spread over {axes}"


@op_rule(Gather, Load, Store, ScatterReduce, Atomic)
def relation_extents(op: _Access, facts: Facts) -> Iterator[str]:
    """A coordinate's extents are those of the relation's axes it is spread over."""
    shape = accessed(op)[1]
    for coordinate, axes in zip(op.relation.coordinates, op.relation.axes, strict=False):
        for extent, axis in zip(coordinate.shape, axes, strict=False):
            if not 0 <= axis < len(shape):
                yield f"axis {axis} is outside a relation of rank {len(shape)}"
            elif not facts.spreads(extent, shape[axis]):
                yield f"coordinate %{coordinate.id} has extent {extent} where the relation has {shape[axis]}"


@op_rule(Gather, Load, Store, ScatterReduce, Atomic)
def access_validity(op: _Access, _: Facts) -> Iterator[str]:
    """Validity is bool of the relation's shape; a fill is a scalar of the source's dtype."""
    shape = accessed(op)[1]
    if op.valid is not None and (op.valid.dtype != BOOL or op.valid.shape != shape):
        yield "validity is bool of the relation's shape"
    if isinstance(op, Gather | Load):
        if op.fill is not None and (op.fill.dtype != op.result.dtype or op.fill.shape):
            yield "a fill is a scalar of the dtype that is read"
        if isinstance(op, Gather) and (op.valid is None) != (op.fill is None):
            yield "a gather has both validity and fill, or neither"


@op_rule(Gather, Load, Store, ScatterReduce, Atomic)
def access_dtypes(op: _Access, _: Facts) -> Iterator[str]:
    """What is read or written has the dtype of the resource."""
    dtype = accessed(op)[0].dtype
    moved: tuple[Value, ...]
    if isinstance(op, Gather | Load):
        moved = op.results
    elif isinstance(op, Store | ScatterReduce):
        moved = (op.value,)
    else:
        moved = (*op.operands, *op.results[:1])
    yield from (f"%{v.id} is {v.dtype} and the resource {dtype}" for v in moved if v.dtype != dtype)


@op_rule(Store, ScatterReduce, Atomic)
def writes_are_allowed(op: Store | ScatterReduce | Atomic, _: Facts) -> Iterator[str]:
    """Only Out and InOut views and buffers are written (spec: kernel-and-host 1)."""
    if (
        isinstance(op.target, View)
        and op.target.mode == "in"
        and not (isinstance(op, Atomic) and op.kind == "load")
    ):
        yield f"view '{op.target.name}' is read-only"


@op_rule(Load, Store)
def assumed_flags(op: Load | Store, _: Facts) -> Iterator[str]:
    """The in-bounds promises are one flag per coordinate, or none at all."""
    if op.assumed and len(op.assumed) != len(op.relation.coordinates):
        yield "there is one in-bounds flag per coordinate"


@op_rule(Store)
def store_uniqueness(op: Store, _: Facts) -> Iterator[str]:
    """A store of one point has rank zero, and only such a store is a point."""
    if (op.uniqueness == "point") != (not op.value.shape):
        yield f"a store of rank {op.value.rank} is marked {op.uniqueness}"


@op_rule(ScatterReduce)
def scatter_reduce_combine(op: ScatterReduce, _: Facts) -> Iterator[str]:
    """A scatter reduction names a builtin or gives a combine region, not both."""
    if (op.kind is None) == (op.combine is None):
        yield "exactly one of kind and combine is given"


@op_rule(BufferAlloc)
def buffer_init(op: BufferAlloc, _: Facts) -> Iterator[str]:
    """An initial value has the buffer's dtype and is a scalar or of its full shape."""
    if op.init is not None and (
        op.init.dtype != op.buffer.dtype or op.init.shape not in ((), op.buffer.shape)
    ):
        yield "an initial value is a scalar or a full value of the buffer's dtype"


@op_rule(AssumeInBounds)
def assume_in_bounds_axis(op: AssumeInBounds, _: Facts) -> Iterator[str]:
    """The promise is about an index value and an axis that the resource has."""
    if op.index.dtype != INDEX or not 0 <= op.axis < op.target.rank:
        yield "the promise is about an index value and an existing axis"


@op_rule(Atomic)
def atomic_schema(op: Atomic, _: Facts) -> Iterator[str]:
    """Operand counts, one shape, the result schema and the memory order of an atomic operation."""
    if len(op.operands) != _ATOMIC_OPERANDS.get(op.kind, 1):
        yield f"atomic {op.kind} has {len(op.operands)} operands"
    shape = accessed(op)[1]
    if any(v.shape != shape for v in (*op.operands, *op.results)):
        yield "operands and results of an atomic have one shape"
    results = [v.dtype for v in op.results]
    dtype = op.target.dtype
    wanted = {"store": [], "compare_exchange": [dtype, BOOL]}.get(op.kind, [dtype])
    if results != wanted:
        yield f"atomic {op.kind} gives {wanted}, not {results}"
    if op.order not in _ORDERS.get(op.kind, ("relaxed", "acquire", "release", "acq_rel")):
        yield f"atomic {op.kind} has no order {op.order}"
