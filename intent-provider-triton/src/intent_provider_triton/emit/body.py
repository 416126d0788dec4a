"""Walks a region and writes its operations as Triton statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

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
    Histogram,
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
from intent.provider.emission import Bounds, Namer, Width, folded, python
from intent.provider.emission.python import (
    Prec,
    Value,
    control,
    expanded,
    index_literal,
    shape_text,
    union_dims,
)
from intent.types import Span
from intent_provider_triton.casts import cast
from intent_provider_triton.emit import access, atomics, histogram, structured
from intent_provider_triton.emit.extents import ExtentWriter
from intent_provider_triton.emit.literals import INDEX_TYPES, TYPES, literal, typed
from intent_provider_triton.emit.signature import SignatureBuilder
from intent_provider_triton.spelling import PROVIDER, Call, spell

BARRIER: Final = "tl.debug_barrier()"


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
    combine: Callable[[str, Region, Sequence[Width]], str]
    program_id: Value | None = None


class Body(python.Body[Context]):
    """Writes the operations of one region tree in Triton."""

    def typed(self, value: Value) -> Value:
        """``value`` with a dtype of its own."""
        return typed(value)

    def full(self, value: Value, dims: Sequence[Dim]) -> Value:
        """``value`` as a tensor that really has all of ``dims``."""
        if value.literal:
            if not dims:
                return typed(value)
            dtype = INDEX_TYPES[value.width] if value.dtype.kind == "index" else TYPES[value.dtype.name]
            text = f"tl.full({shape_text(dims)}, {value.text}, {dtype})"
            return replace(value, text=text, prec=Prec.ATOM, dims=tuple(dims), literal=False)
        if value.dims == tuple(dims):
            return value
        text = f"tl.broadcast_to({expanded(value, dims).text}, {shape_text(dims)})"
        return replace(value, text=text, prec=Prec.ATOM, dims=tuple(dims))

    def widen(self, value: Value, width: Width) -> Value:
        """An index value in at least the integer type ``width``."""
        if value.literal or value.width >= width:
            return value
        return replace(value, text=f"{value.atom}.to({INDEX_TYPES[width]})", prec=Prec.ATOM, width=width)

    # ---------------------------------------------------------------------------------------------- operations

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
            self._barrier(op)
        elif (write := _WRITERS.get(type(op))) is not None:
            write(self, op)
        else:
            raise CapabilityError(
                PROVIDER, capability=type(op).__name__, needed=type(op).__name__, span=op.span
            )

    def _barrier(self, op: Fence) -> None:
        """A barrier orders accesses to all memory: one does for fences in a row."""
        lines = self.writer.lines
        if not lines or lines[-1].strip() != BARRIER:
            self.writer.statement(BARRIER, op.span)

    def _leaf(self, op: Constant | LaunchValue | Argument | Lane) -> None:
        """Values without operands."""
        if isinstance(op, Constant):
            self.define(op.result, literal(op.value, op.result.dtype), op.span)
        elif isinstance(op, LaunchValue):
            self.define(op.result, self.context.extents.write(op.extent), op.span)
        elif isinstance(op, Argument):
            self.define(op.result, self._argument(op), op.span)
        else:
            text = f"tl.arange(0, {op.dim.size})"
            value = Value(text=text, prec=Prec.ATOM, dtype=op.result.dtype, dims=(op.dim,), width=Width.SMALL)
            self.define(op.result, value, op.span, hint=op.dim.name, leaf=True)

    def _reshaped(self, op: Cast | Bitcast | Broadcast | Rename) -> None:
        """Operations on one value; a broadcast stays implicit until a full shape is needed."""
        value = self.use(op.value)
        if isinstance(op, Cast):
            value = cast(value, op.result.dtype, self.context.need)
        elif isinstance(op, Bitcast):
            value = typed(value)
            text = f"{value.atom}.to({TYPES[op.result.dtype.name]}, bitcast=True)"
            value = replace(value, text=text, prec=Prec.ATOM, dtype=op.result.dtype)
        elif isinstance(op, Rename):
            value = self._renamed(op, value)
        self.define(op.result, value, op.span)

    def _argument(self, op: Argument) -> Value:
        param = self.context.scalars[op.parameter]
        name = self.context.signature.scalar(param)
        width = self.context.bounds.width(op.result) if param.dtype.kind == "index" else Width.LONG
        return Value(text=name, prec=Prec.ATOM, dtype=param.dtype, width=width)

    def _pointwise(self, op: Pointwise) -> None:
        args = [self.use(o) for o in op.operands]
        dims = union_dims(op.result.dims, args)
        branches = args[1:] if op.fn == "select" else args
        dtype = branches[0].dtype
        if op.fn == "mul" and structured.would_become_dot(args[0].dims, args[1].dims, dims):
            args.reverse()
        args = [expanded(a, dims) if a.dims else a for a in args]
        width = Width.LONG
        if dtype.kind == "index":
            if (simple := folded(op.fn, args, _number, index_literal)) is not None:
                self.define(op.result, simple, op.span)
                return
            args, width = self._index_operands(op, args)
        call = Call(
            fn=op.fn, args=tuple(args), dtype=dtype, need=self.context.need, approximate=op.approximate,
            flush_to_zero=op.flush_to_zero, non_negative=self.context.bounds.unsigned(op.operands),
            non_negative_small=self.context.bounds.floors_by_fact(op),
        )  # fmt: skip
        try:
            value = spell(call)
        except CapabilityError as error:
            raise error.at(op.span) from None
        refs = frozenset().union(*(a.refs for a in args))
        value = replace(value, dims=dims, width=width, refs=refs, dtype=op.result.dtype)
        self.define(op.result, value, op.span)

    def _index_operands(self, op: Pointwise, args: list[Value]) -> tuple[list[Value], Width]:
        """Operands such that Triton's promotion computes in a type that holds the result."""
        first = 1 if op.fn == "select" else 0
        tensors = [i for i in range(first, len(args)) if not args[i].literal]
        have = max((args[i].width for i in tensors), default=Width.SMALL)
        need = max(a.width for a in args[first:])
        if op.result.dtype.kind == "index":
            need = max(need, self.context.bounds.width(op.result))
        args = list(args)
        if not tensors:
            args[first] = self.widen(typed(args[first]), need)
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
        text = f"tl.trans({value.text})" if len(want) == 2 else f"tl.permute({value.text}, ({perm}))"
        return replace(value, text=text, prec=Prec.ATOM, dims=want)

    def _alloc(self, buffer: Buffer, span: Span) -> None:
        """Workspace memory needs no statement, and there is no other."""
        if buffer.storage != "workspace":
            capability = f"buffers in {buffer.storage}"
            raise CapabilityError(PROVIDER, capability=capability, needed=buffer.name, span=span)

    def view_pointer(self, source: View | Buffer) -> str:
        return (
            self.context.signature.view(source)
            if isinstance(source, View)
            else self.context.signature.buffer(source)
        )


def _number(value: Value) -> int | None:
    return int(value.text) if value.literal else None


_WRITERS: dict[type[Op], Callable[[Body, Any], None]] = {
    Load: access.load,
    Store: access.store,
    Atomic: atomics.atomic,
    Reduce: structured.reduce,
    Scan: structured.scan,
    Contract: structured.contract,
    Histogram: histogram.histogram,
    Loop: control.loop,
    If: control.branch,
    While: control.while_loop,
}
"""Operations that have a file of their own."""
