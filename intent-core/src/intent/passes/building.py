"""Making new operations for a program: fresh ids, constants folded, equal pure operations made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import count
from typing import Any, Final

from intent import physical as ph
from intent.passes.constants import Known, fold
from intent.passes.outline import outline
from intent.physical.walk import last_id, walk
from intent.types import DType, Span
from intent.types.dtypes import BOOL, INDEX
from intent.types.span import UNKNOWN

Value = bool | int | float

_SEGMENT: Final = 2
"""Regions under construction while the operations of a segment's body are made: all and the body."""


class Builder:
    """Appends operations to the region under construction; one per rewrite of a segment.

    ``known`` says what every fragment of the program is where it is one constant on all lanes.
    """

    def __init__(self, program: ph.Program) -> None:
        self.dims = program.dims
        self._order = {dim: k for k, dim in enumerate(program.dims)}
        self._ids = count(1 + last_id(program))
        self.known = Known()
        for segment in program.segments:
            for op in walk(segment.body):
                self.known.define(op)
        self.ops: list[ph.Op] = []
        self._memo: list[dict[object, tuple[ph.Fragment, ...]]] = [{}]
        self.span: Span = UNKNOWN
        self.origin: int | None = None

    # -- regions ---------------------------------------------------------------------------------------------

    @contextmanager
    def region(self, *, alone: bool = False) -> Iterator[list[ph.Op]]:
        """A region under construction: what is made inside goes to the list that this gives.

        ``alone``: it sees nothing that was made outside.
        """
        outer, self.ops = self.ops, []
        memo, self._memo = self._memo, [{}] if alone else [*self._memo, {}]
        try:
            yield self.ops
        finally:
            self.ops, self._memo = outer, memo

    @property
    def nested(self) -> bool:
        """Whether what is made now is inside an operation of the segment's body."""
        return len(self._memo) > _SEGMENT

    # -- fragments and operations --------------------------------------------------------------------------------

    def fresh(self) -> int:
        """An id that nothing in the program has."""
        return next(self._ids)

    def fragment(self, dtype: DType, dims: Iterable[ph.Dim] = (), name: str = "") -> ph.Fragment:
        """A new value; its dims stand in the program's order."""
        return ph.Fragment(id=self.fresh(), dtype=dtype, dims=self.sort(dims), name=name)

    def renewed(self, old: ph.Fragment) -> ph.Fragment:
        """A new value of the same type and name."""
        return replace(old, id=self.fresh())

    def sort(self, dims: Iterable[ph.Dim]) -> tuple[ph.Dim, ...]:
        """Dims in the program's order, each once."""
        return tuple(sorted(set(dims), key=self._order.__getitem__))

    def part(self, dim: ph.Dim, count: int) -> ph.Dim:
        """A lane dim for one of ``count`` equal parts of another one, next to it in the program's order."""
        return self.beside(dim, replace(dim, name=f"{dim.name}_{count}", size=dim.size // count))

    def beside(self, dim: ph.Dim, made: ph.Dim) -> ph.Dim:
        """A lane dim of its own, next to ``dim`` in the program's order."""
        if made not in self._order:
            at = self.dims.index(dim) + 1
            self.dims = (*self.dims[:at], made, *self.dims[at:])
            self._order = {d: k for k, d in enumerate(self.dims)}
        return made

    def union(self, fragments: Iterable[ph.Fragment]) -> tuple[ph.Dim, ...]:
        """The dims of a pointwise result."""
        return self.sort(d for f in fragments for d in f.dims)

    def append(self, op: ph.Op) -> None:
        """An operation that is complete, results included."""
        self.ops.append(op)
        self.known.define(op)

    def _key(
        self, node: type[ph.Op], dtype: DType, dims: tuple[ph.Dim, ...], payload: dict[str, Any]
    ) -> object:
        """What equal operations have in common: operands in any order where it does not matter, masks as sets."""
        frozen = {name: _plain(value) for name, value in payload.items()}
        if node is ph.Pointwise and payload["fn"] in _COMMUTATIVE:
            operands = payload["operands"]
            if payload["fn"] == "and" and dtype is BOOL:
                operands = [c for f in operands for c in self.conjuncts(f)]
                frozen["operands"] = frozenset(f.id for f in operands)
            else:
                frozen["operands"] = tuple(sorted(f.id for f in operands))
        return (node, dtype, dims, frozenset(frozen.items()))

    def conjuncts(self, f: ph.Fragment) -> Iterator[ph.Fragment]:
        """What must all hold for ``f`` to hold."""
        op = self.known.definition.get(f.id)
        if isinstance(op, ph.Pointwise) and op.fn == "and":
            for operand in op.operands:
                yield from self.conjuncts(operand)
        else:
            yield f

    def keep(self, op: ph.Op) -> None:
        """An operation of the program as it stands; an equal one that is asked for later is this one."""
        self.append(op)
        if isinstance(op, _PURE) and len(op.results) == 1:
            payload = {
                f.name: value
                for f in fields(op)
                if f.name not in _IDENTITY and (value := getattr(op, f.name)) is not False
            }
            key = self._key(type(op), op.result.dtype, op.result.dims, payload)
            if isinstance(op, ph.Constant):
                key = (ph.Constant, op.result.dtype, repr(op.value))
            self._memo[-1].setdefault(key, op.results)

    def add(
        self,
        node: type[ph.Op],
        dtype: DType,
        dims: Iterable[ph.Dim] = (),
        /,
        *,
        name: str = "",
        **payload: Any,
    ) -> ph.Fragment:
        """A pure operation of one result; an equal one that is visible here is used again."""
        wanted = self.sort(dims)
        key = self._key(node, dtype, wanted, payload)
        for memo in reversed(self._memo):
            if key in memo:
                return memo[key][0]
        result = self.fragment(dtype, wanted, name)
        self.append(node(id=self.fresh(), results=(result,), origin=self.origin, span=self.span, **payload))
        self._memo[-1][key] = (result,)
        return result

    def share(self, op: ph.Op) -> tuple[ph.Fragment, ...]:
        """Append a pure operation with regions, unless an equal one is visible here; the results to use."""
        key = outline(op)
        for memo in reversed(self._memo):
            if key in memo:
                return memo[key]
        self.append(op)
        self._memo[-1][key] = op.results
        return op.results

    def constant(self, value: Value, dtype: DType, dims: Iterable[ph.Dim] = ()) -> ph.Fragment:
        """One value, repeated over ``dims``."""
        # repr separates 0.0 from -0.0 and True from 1; the extra key never reaches the operation.
        wanted = self.sort(dims)
        key = (ph.Constant, dtype, repr(value))
        for memo in reversed(self._memo):
            if key in memo:
                return self.broadcast(memo[key][0], wanted)
        result = self.fragment(dtype)
        self.append(
            ph.Constant(id=self.fresh(), results=(result,), origin=self.origin, span=self.span, value=value)
        )
        self._memo[-1][key] = (result,)
        return self.broadcast(result, wanted)

    def index(self, value: int) -> ph.Fragment:
        """An index constant."""
        return self.constant(value, INDEX)

    def pointwise(
        self,
        fn: str,
        *operands: ph.Fragment,
        dtype: DType | None = None,
        name: str = "",
        approximate: bool = False,
        flush_to_zero: bool = False,
    ) -> ph.Fragment:
        """A pointwise operation; a constant where all operands are known constants."""
        if dtype is None:
            dtype = operands[1].dtype if fn == "select" else operands[0].dtype
        dims = self.union(operands)
        values = [self.known.value(f) for f in operands]
        if all(v is not None for v in values):
            folded = fold(fn, [v for v in values if v is not None], operands[0].dtype)
            if folded is not None:
                return self.constant(folded, dtype, dims)
        payload: dict[str, Any] = {"fn": fn, "operands": operands}
        payload |= {"approximate": True} if approximate else {}
        payload |= {"flush_to_zero": True} if flush_to_zero else {}
        return self.add(ph.Pointwise, dtype, dims, name=name, **payload)

    def compare(self, fn: str, a: ph.Fragment, b: ph.Fragment) -> ph.Fragment:
        """A comparison."""
        return self.pointwise(fn, a, b, dtype=BOOL)

    def broadcast(self, value: ph.Fragment, dims: Iterable[ph.Dim]) -> ph.Fragment:
        """``value`` over its own dims and ``dims``."""
        wanted = self.sort((*value.dims, *dims))
        if wanted == value.dims:
            return value
        return self.add(ph.Broadcast, value.dtype, wanted, name=value.name, value=value)


_IDENTITY: Final = ("id", "results", "origin", "span")
_COMMUTATIVE: Final = ("add", "mul", "and", "or", "xor", "maximum", "minimum", "eq", "ne")
_PURE: Final = (ph.Constant, ph.LaunchValue, ph.Lane, ph.Pointwise, ph.Cast, ph.Broadcast, ph.Reduce)


def _plain(value: Any) -> Any:
    if isinstance(value, ph.Fragment):
        return ("%", value.id)
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value
