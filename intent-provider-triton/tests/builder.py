"""Hand-built physical programs for the tests of this provider."""

from __future__ import annotations

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

_BOOL_FNS = {"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "not"}


class Builder:
    """Appends operations to the open region; fragments get consecutive ids."""

    def __init__(self, *dims: Dim) -> None:
        self.dims = dims
        self._next = 0
        self._stack: list[list[Op]] = [[]]
        self.line = ""

    def fragment(self, dtype: DType, dims=(), name: str = "") -> Fragment:
        self._next += 1
        ordered = tuple(d for d in self.dims if d in dims)
        return Fragment(id=self._next, dtype=dtype, dims=ordered, name=name)

    def _add(self, cls, results, **fields) -> None:
        self._next += 1
        span = Span("kernel.py", 1, source=self.line)
        self._stack[-1].append(cls(id=self._next, results=tuple(results), span=span, **fields))

    def _one(self, cls, dtype, over=(), label="", **fields) -> Fragment:
        result = self.fragment(dtype, over, label)
        self._add(cls, [result], **fields)
        return result

    def constant(self, value, dtype=INDEX) -> Fragment:
        return self._one(Constant, dtype, value=value)

    def launch(self, extent: Extent | str | int) -> Fragment:
        extent = symbol(extent) if isinstance(extent, str) else as_extent(extent)
        return self._one(LaunchValue, INDEX, extent=extent)

    def argument(self, name: str, dtype: DType) -> Fragment:
        return self._one(Argument, dtype, label=name, parameter=name)

    def lane(self, dim: Dim) -> Fragment:
        return self._one(Lane, INDEX, (dim,), dim=dim)

    def op(self, fn: str, *operands, name="", **flags) -> Fragment:
        operands = [o if isinstance(o, Fragment) else None for o in operands]
        dims = {d for o in operands for d in o.dims}
        dtype = BOOL if fn in _BOOL_FNS else operands[1 if fn == "select" else 0].dtype
        return self._one(Pointwise, dtype, dims, name, fn=fn, operands=tuple(operands), **flags)

    def cast(self, value, dtype, name="") -> Fragment:
        return self._one(Cast, dtype, value.dims, name, value=value)

    def bitcast(self, value, dtype) -> Fragment:
        return self._one(Bitcast, dtype, value.dims, value=value)

    def broadcast(self, value, *dims) -> Fragment:
        return self._one(Broadcast, value.dtype, {*value.dims, *dims}, value=value)

    def rename(self, value, source, target) -> Fragment:
        dims = {target if d == source else d for d in value.dims}
        return self._one(Rename, value.dtype, dims, value=value, source=source, target=target)

    def load(self, source, *coordinates, valid=None, fill=None, name="") -> Fragment:
        dims = {d for c in coordinates for d in c.dims} | set(valid.dims if valid else ())
        return self._one(
            Load, source.dtype, dims, name, source=source, coordinates=coordinates, valid=valid, fill=fill,
            proofs=(REGION,) * len(coordinates),
        )  # fmt: skip

    def store(self, target, coordinates, value, valid=None, dims=None) -> None:
        dims = {d for c in coordinates for d in c.dims} if dims is None else dims
        ordered = tuple(d for d in self.dims if d in dims)
        self._add(
            Store, [], target=target, coordinates=tuple(coordinates), value=value, valid=valid, dims=ordered,
            proofs=(REGION,) * len(coordinates),
        )  # fmt: skip

    def reduce(self, value, *dims, kind="sum", name="") -> Fragment:
        left = [d for d in value.dims if d not in dims]
        return self._one(Reduce, value.dtype, left, name, operands=(value,), dims=dims, kind=kind)

    def arg_reduce(self, value, position, *dims, kind="argmax"):
        left = [d for d in value.dims if d not in dims]
        results = [self.fragment(value.dtype, left), self.fragment(INDEX, left)]
        self._add(Reduce, results, operands=(value, position), dims=dims, kind=kind)
        return results

    def reduce_with(self, operands, dims, combine: Region, captures=()):
        left = [d for d in operands[0].dims if d not in dims]
        results = [self.fragment(o.dtype, left) for o in operands]
        self._add(
            Reduce,
            results,
            operands=tuple(operands),
            dims=tuple(dims),
            combine=combine,
            captures=tuple(captures),
        )
        return results

    def scan(self, value, dim, kind="sum", reverse=False) -> Fragment:
        return self._one(
            Scan, value.dtype, value.dims, operands=(value,), dim=dim, kind=kind, reverse=reverse
        )

    def scan_with(self, operands, dim, combine, reverse=False):
        results = [self.fragment(o.dtype, o.dims) for o in operands]
        self._add(Scan, results, operands=tuple(operands), dim=dim, combine=combine, reverse=reverse)
        return results

    def contract(self, lhs, rhs, *dims, dtype, accumulator=None, name="") -> Fragment:
        left = [d for d in {*lhs.dims, *rhs.dims} if d not in dims]
        return self._one(Contract, dtype, left, name, lhs=lhs, rhs=rhs, accumulator=accumulator, dims=dims)

    def fence(self, target) -> None:
        self._add(Fence, [], target=target)

    def alloc(self, buffer: Buffer) -> None:
        self._add(BufferAlloc, [], buffer=buffer)

    def atomic(self, target, coordinates, *operands, kind="add", valid=None, order="relaxed"):
        """The results: none of a store, two of a compare-exchange, otherwise the old value."""
        dims = {d for c in coordinates for d in c.dims}
        ordered = tuple(d for d in self.dims if d in dims)
        types = {"store": [], "compare_exchange": [target.dtype, BOOL]}.get(kind, [target.dtype])
        results = [self.fragment(dtype, dims) for dtype in types]
        self._add(
            Atomic, results, target=target, coordinates=tuple(coordinates), kind=kind, operands=operands,
            valid=valid, order=order, dims=ordered, proofs=(REGION,) * len(coordinates),
        )  # fmt: skip
        return results

    def region(self, args, fill) -> Region:
        """A nested region; ``fill(*args)`` adds its operations and returns what it yields."""
        self._stack.append([])
        yields = fill(*args)
        ops = tuple(self._stack.pop())
        if yields is None:
            yields = ()
        return Region(
            args=tuple(args),
            ops=ops,
            yields=tuple(yields if isinstance(yields, (tuple, list)) else (yields,)),
        )

    def loop(self, begin, end, step, inits, fill, names=()):
        names = [*names, *[""] * (len(inits) + 1 - len(names))]
        args = [self.fragment(INDEX, (), names[0])]
        args += [self.fragment(i.dtype, i.dims, n) for i, n in zip(inits, names[1:], strict=True)]
        body = self.region(args, fill)
        results = [self.fragment(i.dtype, i.dims, n) for i, n in zip(inits, names[1:], strict=True)]
        self._add(Loop, results, begin=begin, end=end, step=step, inits=tuple(inits), body=body)
        return results

    def branch(self, condition, then, orelse, like=(), names=()):
        sides = [self.region((), then), self.region((), orelse)]
        names = [*names, *[""] * (len(like) - len(names))]
        results = [self.fragment(f.dtype, f.dims, n) for f, n in zip(like, names, strict=True)]
        self._add(If, results, condition=condition, then=sides[0], orelse=sides[1])
        return results

    def while_loop(self, inits, condition, body, names=()):
        names = [*names, *[""] * (len(inits) - len(names))]
        regions = []
        for fill in (condition, body):
            args = [self.fragment(i.dtype, i.dims, n) for i, n in zip(inits, names, strict=True)]
            regions.append(self.region(args, fill))
        results = [self.fragment(i.dtype, i.dims, n) for i, n in zip(inits, names, strict=True)]
        self._add(While, results, inits=tuple(inits), condition=regions[0], body=regions[1])
        return results

    def segment(self, axes, fill, group=0, offset=None) -> Segment:
        """``axes`` are (label, extent, block); ``fill(local)`` writes the body."""
        made = tuple(SegmentAxis(label=n, extent=as_extent(e), block=b) for n, e, b in axes)
        length = const(1)
        for axis in made:
            length = length * axis.programs
        local = self.fragment(INDEX, (), "pid")
        return Segment(
            group=group, axes=made, length=length, offset=offset if offset is not None else const(0),
            body=self.region((local,), fill),
        )  # fmt: skip

    def program(self, name, params, *segments, workspace=(), knobs=()) -> Program:
        return Program(
            name=name,
            params=tuple(params),
            segments=segments,
            workspace=tuple(workspace),
            dims=self.dims,
            knobs=tuple(knobs),
        )


def view(name: str, dtype: str, shape: str, mode="in", strides=None) -> View:
    """A view whose shape is written ``"M N"``; numbers are constants."""
    extents = tuple(const(int(s)) if s.isdigit() else symbol(s) for s in shape.split())
    return View(name=name, dtype=BY_NAME[dtype], shape=extents, mode=mode, strides=strides)


__all__ = ["Builder", "ScalarParam", "view"]
