"""A builder of GPU programs: operations in program order, fragments numbered as they come.

It decides nothing for the author except the lane dims of results, in the program's order of dims: the union of
the operands' for what works element by element, those left over for reductions and products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from intent.physical import (
    REGION,
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
    Fragment,
    Histogram,
    If,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Program,
    Reduce,
    Region,
    Rename,
    ScalarParam,
    Scan,
    Segment,
    SegmentAxis,
    Store,
    View,
    While,
)  # fmt: skip
from intent.types import DType, Extent, Span
from intent.types.dtypes import BOOL, BY_NAME, INDEX
from intent.types.extent import as_extent, const, symbol

Fill = Callable[..., Fragment | Sequence[Fragment] | None]
"""Adds a region's operations; takes the region's arguments and returns what it yields."""

Axis = tuple[str, Extent | int, int]
"""A segment's axis: label, extent, block."""

_BOOL_FNS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "not"})


class Builder:
    """Appends operations to the open region. ``dims`` are all lane dims of the program, in its order.

    Set :attr:`line` to the author's line that the following operations stand for.
    """

    def __init__(self, *dims: Dim) -> None:
        self.dims = dims
        self.line = ""
        self._next = 0
        self._stack: list[list[Op]] = [[]]

    def fragment(self, dtype: DType, dims: Iterable[Dim] = (), name: str = "") -> Fragment:
        """A new fragment that nothing computes: an argument of a region."""
        self._next += 1
        return Fragment(id=self._next, dtype=dtype, dims=self._ordered(dims), name=name)

    def _ordered(self, dims: Iterable[Dim]) -> tuple[Dim, ...]:
        wanted = set(dims)
        return tuple(d for d in self.dims if d in wanted)

    def _add(self, op: type[Op], results: Iterable[Fragment], **fields: Any) -> None:
        self._next += 1
        span = Span("kernel.py", 1, source=self.line)
        self._stack[-1].append(op(id=self._next, results=tuple(results), span=span, **fields))

    def _one(
        self, op: type[Op], dtype: DType, over: Iterable[Dim] = (), label: str = "", **fields: Any
    ) -> Fragment:
        result = self.fragment(dtype, over, label)
        self._add(op, [result], **fields)
        return result

    # ------------------------------------------------------------------------------------------------- values

    def constant(self, value: complex, dtype: DType = INDEX) -> Fragment:
        """A literal without lane dims."""
        return self._one(Constant, dtype, value=value)

    def launch(self, extent: Extent | str | int) -> Fragment:
        """An index value known at the launch; a string is a symbol's name."""
        extent = symbol(extent) if isinstance(extent, str) else as_extent(extent)
        return self._one(LaunchValue, INDEX, extent=extent)

    def argument(self, name: str, dtype: DType) -> Fragment:
        """A scalar parameter's value."""
        return self._one(Argument, dtype, label=name, parameter=name)

    def lane(self, dim: Dim) -> Fragment:
        """0, 1, ... along ``dim``, as index values."""
        return self._one(Lane, INDEX, (dim,), dim=dim)

    def op(self, fn: str, *operands: Fragment, name: str = "", **flags: Any) -> Fragment:
        """A pointwise function; comparisons give bool, ``select`` its second operand's dtype."""
        dims = {d for o in operands for d in o.dims}
        dtype = BOOL if fn in _BOOL_FNS else operands[1 if fn == "select" else 0].dtype
        return self._one(Pointwise, dtype, dims, name, fn=fn, operands=operands, **flags)

    def cast(self, value: Fragment, dtype: DType, name: str = "") -> Fragment:
        """The value in another dtype."""
        return self._one(Cast, dtype, value.dims, name, value=value)

    def bitcast(self, value: Fragment, dtype: DType) -> Fragment:
        """The bits in another dtype of the same width."""
        return self._one(Bitcast, dtype, value.dims, value=value)

    def broadcast(self, value: Fragment, *dims: Dim) -> Fragment:
        """The value with more lane dims."""
        return self._one(Broadcast, value.dtype, {*value.dims, *dims}, value=value)

    def rename(self, value: Fragment, source: Dim, target: Dim) -> Fragment:
        """The value with lane dim ``source`` called ``target``."""
        dims = {target if d == source else d for d in value.dims}
        return self._one(Rename, value.dtype, dims, value=value, source=source, target=target)

    # ------------------------------------------------------------------------------------------------- memory

    def load(
        self,
        source: View | Buffer,
        *coordinates: Fragment,
        valid: Fragment | None = None,
        fill: Fragment | None = None,
        name: str = "",
    ) -> Fragment:
        """Elements at coordinates, one per axis; lanes that are not ``valid`` get ``fill`` and read nothing."""
        dims = {d for c in coordinates for d in c.dims} | set(valid.dims if valid else ())
        return self._one(
            Load, source.dtype, dims, name, source=source, coordinates=coordinates, valid=valid, fill=fill,
            proofs=(REGION,) * len(coordinates),
        )  # fmt: skip

    def store(
        self,
        target: View | Buffer,
        coordinates: Iterable[Fragment],
        value: Fragment,
        valid: Fragment | None = None,
        dims: Iterable[Dim] | None = None,
    ) -> None:
        """Write over ``dims``, those of the coordinates unless they are given."""
        places = tuple(coordinates)
        over = {d for c in places for d in c.dims} if dims is None else dims
        self._add(
            Store, [], target=target, coordinates=places, value=value, valid=valid, dims=self._ordered(over),
            proofs=(REGION,) * len(places),
        )  # fmt: skip

    def atomic(
        self,
        target: View | Buffer,
        coordinates: Iterable[Fragment],
        *operands: Fragment,
        kind: str = "add",
        valid: Fragment | None = None,
        order: str = "relaxed",
        read: bool = True,
    ) -> list[Fragment]:
        """The results: none of a store or unless ``read``, two of a compare-exchange, otherwise the old value."""
        places = tuple(coordinates)
        dims = {d for c in places for d in c.dims}
        types = {"store": [], "compare_exchange": [target.dtype, BOOL]}.get(kind, [target.dtype])
        results = [self.fragment(dtype, dims) for dtype in types if read]
        self._add(
            Atomic, results, target=target, coordinates=places, kind=kind, operands=operands, valid=valid,
            order=order, dims=self._ordered(dims), proofs=(REGION,) * len(places),
        )  # fmt: skip
        return results

    def fence(self, target: View | Buffer) -> None:
        """What was written to ``target`` before is seen by what reads it after."""
        self._add(Fence, [], target=target)

    def alloc(self, buffer: Buffer) -> None:
        """A buffer's storage begins here."""
        self._add(BufferAlloc, [], buffer=buffer)

    # --------------------------------------------------------------------------------------------- structured

    def reduce(self, value: Fragment, *dims: Dim, kind: str = "sum", name: str = "") -> Fragment:
        """A reduction of a named kind over ``dims``."""
        left = [d for d in value.dims if d not in dims]
        return self._one(Reduce, value.dtype, left, name, operands=(value,), dims=dims, kind=kind)

    def arg_reduce(
        self, value: Fragment, position: Fragment, *dims: Dim, kind: str = "argmax"
    ) -> list[Fragment]:
        """The extreme value and the position where it stands."""
        left = [d for d in value.dims if d not in dims]
        results = [self.fragment(value.dtype, left), self.fragment(INDEX, left)]
        self._add(Reduce, results, operands=(value, position), dims=dims, kind=kind)
        return results

    def reduce_with(
        self,
        operands: Sequence[Fragment],
        dims: Iterable[Dim],
        combine: Region,
        captures: Iterable[Fragment] = (),
    ) -> list[Fragment]:
        """A reduction by a region; its arguments are two states and then the captures."""
        over = tuple(dims)
        left = [d for d in operands[0].dims if d not in over]
        results = [self.fragment(o.dtype, left) for o in operands]
        self._add(
            Reduce, results, operands=tuple(operands), dims=over, combine=combine, captures=tuple(captures)
        )
        return results

    def scan(self, value: Fragment, dim: Dim, kind: str = "sum", *, reverse: bool = False) -> Fragment:
        """Inclusive prefixes of a named kind along ``dim``."""
        return self._one(
            Scan, value.dtype, value.dims, operands=(value,), dim=dim, kind=kind, reverse=reverse
        )

    def scan_with(
        self, operands: Sequence[Fragment], dim: Dim, combine: Region, *, reverse: bool = False
    ) -> list[Fragment]:
        """Inclusive prefixes by a region along ``dim``."""
        results = [self.fragment(o.dtype, o.dims) for o in operands]
        self._add(Scan, results, operands=tuple(operands), dim=dim, combine=combine, reverse=reverse)
        return results

    def contract(
        self,
        lhs: Fragment,
        rhs: Fragment,
        *dims: Dim,
        dtype: DType,
        accumulator: Fragment | None = None,
        name: str = "",
    ) -> Fragment:
        """The product of ``lhs`` and ``rhs`` summed over ``dims``."""
        left = {*lhs.dims, *rhs.dims} - set(dims)
        return self._one(Contract, dtype, left, name, lhs=lhs, rhs=rhs, accumulator=accumulator, dims=dims)

    def histogram(
        self,
        values: Fragment,
        *dims: Dim,
        bins: Dim,
        dtype: DType,
        valid: Fragment | None = None,
        accumulator: Fragment | None = None,
        name: str = "",
    ) -> Fragment:
        """How many lanes of ``dims`` hold each bin's number."""
        given = {*values.dims, *(valid.dims if valid is not None else ())}
        return self._one(
            Histogram, dtype, {*given - set(dims), bins}, name,
            values=values, valid=valid, accumulator=accumulator, dims=dims, bins=bins,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ control

    def region(self, args: Iterable[Fragment], fill: Fill) -> Region:
        """A nested region; ``fill(*args)`` adds its operations and returns what it yields."""
        given = tuple(args)
        self._stack.append([])
        yields = fill(*given)
        ops = tuple(self._stack.pop())
        if yields is None:
            yields = ()
        elif isinstance(yields, Fragment):
            yields = (yields,)
        return Region(args=given, ops=ops, yields=tuple(yields))

    def _like(self, fragments: Sequence[Fragment], names: Sequence[str]) -> list[Fragment]:
        """New fragments of the same dtypes and dims; missing names are empty."""
        padded = [*names, *[""] * (len(fragments) - len(names))]
        return [self.fragment(f.dtype, f.dims, n) for f, n in zip(fragments, padded, strict=True)]

    def loop(
        self,
        begin: Fragment,
        end: Fragment,
        step: Fragment,
        inits: Sequence[Fragment],
        fill: Fill,
        names: Sequence[str] = (),
    ) -> list[Fragment]:
        """A counted loop; the body takes the index and the carries, whose names follow the index's."""
        index = self.fragment(INDEX, (), names[0] if names else "")
        body = self.region([index, *self._like(inits, names[1:])], fill)
        results = self._like(inits, names[1:])
        self._add(Loop, results, begin=begin, end=end, step=step, inits=tuple(inits), body=body)
        return results

    def branch(
        self,
        condition: Fragment,
        then: Fill,
        orelse: Fill,
        like: Sequence[Fragment] = (),
        names: Sequence[str] = (),
    ) -> list[Fragment]:
        """A uniform branch whose results have the dtypes and dims of ``like``."""
        sides = [self.region((), then), self.region((), orelse)]
        results = self._like(like, names)
        self._add(If, results, condition=condition, then=sides[0], orelse=sides[1])
        return results

    def while_loop(
        self, inits: Sequence[Fragment], condition: Fill, body: Fill, names: Sequence[str] = ()
    ) -> list[Fragment]:
        """A loop while ``condition(*carries)`` holds; ``body(*carries)`` yields the next ones."""
        test, step = (self.region(self._like(inits, names), fill) for fill in (condition, body))
        results = self._like(inits, names)
        self._add(While, results, inits=tuple(inits), condition=test, body=step)
        return results

    # ------------------------------------------------------------------------------------------------ program

    def segment(
        self, axes: Iterable[Axis], fill: Fill, group: int = 0, offset: Extent | None = None
    ) -> Segment:
        """A group's share of the launch; ``fill(local)`` writes the body for program ``local`` of it."""
        made = tuple(SegmentAxis(label=n, extent=as_extent(e), block=b) for n, e, b in axes)
        length = const(1)
        for axis in made:
            length = length * axis.programs
        local = self.fragment(INDEX, (), "pid")
        return Segment(
            group=group, axes=made, length=length, offset=offset if offset is not None else const(0),
            body=self.region((local,), fill),
        )  # fmt: skip

    def program(
        self,
        name: str,
        params: Iterable[View | ScalarParam],
        *segments: Segment,
        workspace: Iterable[Buffer] = (),
        knobs: Iterable[tuple[str, int]] = (),
    ) -> Program:
        """The program of these segments."""
        return Program(
            name=name, params=tuple(params), segments=segments, workspace=tuple(workspace), dims=self.dims,
            knobs=tuple(knobs),
        )  # fmt: skip


def view(
    name: str,
    dtype: str,
    shape: str,
    mode: Literal["in", "out", "inout"] = "in",
    strides: tuple[int | str | None, ...] | None = None,
) -> View:
    """A view whose shape is written ``"M N"``; numbers are constants."""
    extents = tuple(const(int(s)) if s.isdigit() else symbol(s) for s in shape.split())
    return View(name=name, dtype=BY_NAME[dtype], shape=extents, mode=mode, strides=strides)
