"""Walks a region and writes its operations as cuTile statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from intent.diagnostics import CapabilityError
from intent.physical import (
    Argument,
    Atomic,
    Bitcast,
    Broadcast,
    Buffer,
    BufferAlloc,
    Cast,
    Constant,
    Contract,
    Dim,
    Fence,
    If,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Region,
    Rename,
    ScalarParam,
    Scan,
    Store,
    View,
    While,
)  # fmt: skip
from intent.provider.emission import Bounds, Namer, Width, python
from intent.provider.emission.python import Prec, Value, control, expanded, shape_text, union_dims
from intent.types import Span
from intent_provider_cutile.casts import cast
from intent_provider_cutile.emit import access, atomics, contract, steps, structured, tiles
from intent_provider_cutile.emit.boxes import Boxes
from intent_provider_cutile.emit.extents import ExtentWriter
from intent_provider_cutile.emit.literals import INDEX_TYPES, TYPES, constant, tile, type_text, typed
from intent_provider_cutile.emit.signature import SignatureBuilder
from intent_provider_cutile.spelling import PROVIDER, Call, spell


class Combine(Protocol):
    """Emits a combine region as a function of scalars and gives its name."""

    def __call__(self, hint: str, region: Region, widths: Sequence[Width], *, placed: bool) -> str: ...


@dataclass
class Context:
    """What all regions of one kernel share."""

    namer: Namer
    signature: SignatureBuilder
    bounds: Bounds
    order: tuple[Dim, ...]
    scalars: dict[str, ScalarParam]
    need: Callable[[str], str]
    extents: ExtentWriter
    combine: Combine
    boxes: Boxes
    latencies: dict[int, int]
    """Hints of loads of whole tiles (:mod:`intent_provider_cutile.emit.latency`)."""
    ahead: frozenset[int]
    """Loads that the compiler may move out of their loops (:mod:`intent_provider_cutile.emit.ahead`)."""
    lonely: frozenset[int]
    """Products that are the only one of their loop (:mod:`intent_provider_cutile.emit.contract`)."""
    program_id: Value | None = None
    tiled: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name and definition of each view that is read or written in whole tiles."""
    slices: dict[tuple[str, int, int], str] = field(default_factory=dict)
    """Name of the slice of a view along an axis at the rows of a coordinate, by its id."""
    settings: dict[str, int] = field(default_factory=dict)
    """What the compiler should be told where the plan says nothing."""


_BITWISE = frozenset({"and", "or", "xor"})
"""What cuTile computes on equal dtypes only: it promotes the operands of other functions."""


class Body(python.Body[Context]):
    """Writes the operations of one region tree in cuTile."""

    def typed(self, value: Value) -> Value:
        """``value`` with a dtype of its own."""
        return typed(value)

    def full(self, value: Value, dims: Sequence[Dim]) -> Value:
        """``value`` as a tile that really has all of ``dims``."""
        if value.literal:
            if not dims:
                return typed(value)
            text = f"ct.full({shape_text(dims)}, {value.text}, {type_text(value)})"
            return replace(value, text=text, prec=Prec.ATOM, dims=tuple(dims), literal=False)
        if value.dims == tuple(dims):
            return value
        text = f"ct.broadcast_to({expanded(value, dims).text}, {shape_text(dims)})"
        return replace(value, text=text, prec=Prec.ATOM, dims=tuple(dims))

    def widen(self, value: Value, width: Width) -> Value:
        """An index value in at least the integer type ``width``."""
        if value.literal or value.width >= width:
            return value
        return replace(
            value, text=f"ct.astype({value.text}, {INDEX_TYPES[width]})", prec=Prec.ATOM, width=width
        )

    def loop_bounds(self, op: Loop) -> list[Value]:
        """As wide as the uses of the loop's index, which has their type, take it to be."""
        width = self.context.bounds.width(op.body.args[0])
        bounds = [self.widen(value, width) for value in super().loop_bounds(op)]
        if all(b.literal for b in bounds) and width is not Width.SMALL:
            bounds[1] = replace(bounds[1], text=f"{INDEX_TYPES[width]}({bounds[1].text})")
        return bounds

    # ---------------------------------------------------------------------------------------------- operations

    def region(self, region: Region) -> None:
        """Write the live operations of the region in order."""
        run = self.context.boxes.runs.get(id(region))
        if run is None:
            super().region(region)
        else:
            tiles.rows(self, run)

    def op(self, op: Op) -> None:
        """Write one operation."""
        if isinstance(op, Constant | LaunchValue | Argument | Lane):
            self._leaf(op)
        elif isinstance(op, Pointwise):
            self._pointwise(op)
        elif isinstance(op, Cast | Bitcast | Broadcast | Rename):
            self._reshaped(op)
        elif isinstance(op, BufferAlloc):
            self._alloc(op.buffer, op.span)
        elif isinstance(op, Fence):
            pass  # the compiler keeps the order of one block's accesses to one array by tokens of its own
        elif isinstance(op, Load) and (stepped := self.context.boxes.stepped.get(id(op))) is not None:
            steps.shared(self, op, stepped)
        elif isinstance(op, Load | Store) and (box := self.context.boxes.of(op)) is not None:
            if isinstance(op, Load):
                tiles.load(self, op, box)
            else:
                tiles.store(self, op, box)
        elif (write := _WRITERS.get(type(op))) is not None:
            write(self, op)
        else:
            raise CapabilityError(
                PROVIDER, capability=type(op).__name__, needed=type(op).__name__, span=op.span
            )

    def _leaf(self, op: Constant | LaunchValue | Argument | Lane) -> None:
        """Values without operands."""
        if isinstance(op, Constant):
            self.define(op.result, constant(op.value, op.result.dtype, self.context.need), op.span)
        elif isinstance(op, LaunchValue):
            self.define(op.result, self.context.extents.write(op.extent), op.span)
        elif isinstance(op, Argument):
            self.define(op.result, self._argument(op), op.span)
        else:
            text = f"ct.arange({op.dim.size}, dtype=ct.int32)"
            value = Value(text=text, prec=Prec.ATOM, dtype=op.result.dtype, dims=(op.dim,), width=Width.SMALL)
            self.define(op.result, value, op.span, hint=op.dim.name, leaf=True)

    def _reshaped(self, op: Cast | Bitcast | Broadcast | Rename) -> None:
        """Operations on one value; a broadcast stays implicit until a full shape is needed."""
        value = self.use(op.value)
        if isinstance(op, Cast):
            value = cast(value, op.result.dtype, self.context.need)
        elif isinstance(op, Bitcast):
            text = f"ct.bitcast({tile(value).text}, {TYPES[op.result.dtype.name]})"
            value = replace(value, text=text, prec=Prec.ATOM, dtype=op.result.dtype, literal=False)
        elif isinstance(op, Rename):
            value = self._renamed(op, value)
        self.define(op.result, value, op.span)

    def _argument(self, op: Argument) -> Value:
        param = self.context.scalars[op.parameter]
        name = self.context.signature.scalar(param)
        width = self.context.bounds.width(op.result) if param.dtype.kind == "index" else Width.LONG
        return Value(text=name, prec=Prec.ATOM, dtype=param.dtype, width=width)

    def _pointwise(self, op: Pointwise) -> None:
        value = self.pointwise(op, [self.use(o) for o in op.operands], op.result.dims)
        self.define(op.result, value, op.span)

    def pointwise(self, op: Pointwise, args: list[Value], order: Sequence[Dim]) -> Value:
        """The operation on values that stand for its operands; the result's dims are in ``order``."""
        dims = union_dims(order, args)
        branches = args[1:] if op.fn == "select" else args
        dtype = branches[0].dtype
        args = [expanded(a, dims) if a.dims else a for a in args]
        width = Width.LONG
        if dtype.kind == "index":
            args, width = self._index_operands(op, args)
        call = Call(
            fn=op.fn, args=tuple(args), dtype=dtype, need=self.context.need, approximate=op.approximate,
            flush_to_zero=op.flush_to_zero,
        )  # fmt: skip
        try:
            value = spell(call)
        except CapabilityError as error:
            raise error.at(op.span) from None
        refs = frozenset().union(*(a.refs for a in args))
        return replace(value, dims=dims, width=width, refs=refs, dtype=op.result.dtype)

    def _index_operands(self, op: Pointwise, args: list[Value]) -> tuple[list[Value], Width]:
        """Operands such that cuTile's promotion computes in a type that holds the result."""
        first = 1 if op.fn == "select" else 0
        tensors = [i for i in range(first, len(args)) if not args[i].literal]
        have = max((args[i].width for i in tensors), default=Width.SMALL)
        need = max(a.width for a in args[first:])
        if op.result.dtype.kind == "index":
            need = max(need, self.context.bounds.width(op.result))
        args = list(args)
        if not tensors:
            args[first] = self.widen(tile(args[first]), need)
        elif op.fn in _BITWISE:
            args = [self.widen(a, need) for a in args]
        elif need > have:
            args[tensors[0]] = self.widen(args[tensors[0]], need)
        return args, need

    def _renamed(self, op: Rename, value: Value) -> Value:
        if op.source not in value.dims:
            return value
        renamed = tuple(op.target if d == op.source else d for d in value.dims)
        return self.permuted(value, renamed, tuple(d for d in op.result.dims if d in renamed))

    def permuted(self, value: Value, have: tuple[Dim, ...], want: tuple[Dim, ...]) -> Value:
        """``value``, whose axes are ``have``, with its axes in the order ``want``."""
        if have == want:
            return replace(value, dims=want)
        perm = ", ".join(str(have.index(d)) for d in want)
        text = f"ct.transpose({value.text})" if len(want) == 2 else f"ct.permute({value.text}, ({perm}))"
        return replace(value, text=text, prec=Prec.ATOM, dims=want)

    def _alloc(self, buffer: Buffer, span: Span) -> None:
        """Workspace memory needs no statement, and there is no other."""
        if buffer.storage != "workspace":
            capability = f"buffers in {buffer.storage}"
            raise CapabilityError(PROVIDER, capability=capability, needed=buffer.name, span=span)

    def tiled(self, source: View | Buffer) -> str:
        """The name of the view as an array that is cut into tiles."""
        assert isinstance(source, View)
        known = self.context.tiled
        if source.name not in known:
            extents = [self.context.extents.write(e).text for e in source.shape]
            strides = [access.stride_of(self, source, axis).text for axis in range(source.rank)]
            pointer = f"{self.context.signature.view(source)}.foreign_pointer"
            text = f"ct.Array.from_foreign({pointer}, ({', '.join(extents)}), ({', '.join(strides)}))"
            known[source.name] = self.context.namer.fresh(f"{source.name}_tiles"), text
        return known[source.name][0]

    def memory(self, source: View | Buffer) -> str:
        """The name of the array's memory."""
        return (
            self.context.signature.view(source)
            if isinstance(source, View)
            else self.context.signature.buffer(source)
        )


_WRITERS: dict[type[Op], Callable[[Body, Any], None]] = {
    Load: access.load,
    Store: access.store,
    Atomic: atomics.atomic,
    Reduce: structured.reduce,
    Scan: structured.scan,
    Contract: contract.contract,
    Loop: control.loop,
    If: control.branch,
    While: control.while_loop,
}
"""Operations that have a file of their own."""
