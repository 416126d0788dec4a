"""Arithmetic on program values, written as arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intent import physical as ph
from intent.physical.walk import last_id
from intent.types import DType
from intent.types.dtypes import BOOL

Number = int | float


class Writer:
    """Collects the operations that stand for one."""

    def __init__(self, program: ph.Program) -> None:
        self._last = last_id(program)
        self._order = {dim: k for k, dim in enumerate(program.dims)}
        self._ops: list[ph.Op] = []
        self._known: dict[object, ph.Fragment] = {}
        self._for: ph.Op | None = None

    def begin(self, op: ph.Op) -> None:
        """Start the operations that stand for ``op``."""
        self._ops, self._known, self._for = [], {}, op

    def term(self, fragment: ph.Fragment) -> Term:
        """A value of the program."""
        return Term(self, fragment)

    def constant(self, value: bool | Number, dtype: DType) -> Term:
        """A scalar literal."""
        return self._add(ph.Constant, dtype, (), repr(value), value=value)

    def pointwise(self, fn: str, operands: Sequence[Term], dtype: DType) -> Term:
        """One pointwise operation over the union of its operands' dims, approximate where what it stands for is."""
        fragments = tuple(t.fragment for t in operands)
        dims = sorted({d for f in fragments for d in f.dims}, key=self._order.__getitem__)
        loose = isinstance(self._for, ph.Pointwise) and self._for.approximate and fn in ("div", "exp")
        extra = {"approximate": True} if loose else {}
        return self._add(ph.Pointwise, dtype, tuple(dims), None, fn=fn, operands=fragments, **extra)

    def convert(self, node: type[ph.Cast | ph.Bitcast], value: Term, dtype: DType) -> Term:
        """A conversion."""
        return self._add(node, dtype, value.fragment.dims, None, value=value.fragment)

    def finish(self, result: Term, op: ph.Op) -> list[ph.Op]:
        """The operations made since ``begin``, the last of which now defines the result of ``op``."""
        result = result.cast(op.result.dtype)
        if not self._ops or self._ops[-1].results != (result.fragment,):
            result = self.convert(ph.Cast, result, op.result.dtype)
        self._ops[-1] = replace(self._ops[-1], results=op.results)
        return self._ops

    def _add(
        self, node: type[ph.Op], dtype: DType, dims: tuple[ph.Dim, ...], exact: object, **payload: object
    ) -> Term:
        assert self._for is not None
        key = (node, dtype, exact, tuple(payload.items()))
        if key not in self._known:
            fragment = ph.Fragment(id=self._fresh(), dtype=dtype, dims=dims, name=self._for.result.name)
            made = node(
                id=self._fresh(), results=(fragment,), origin=self._for.origin, span=self._for.span, **payload
            )
            self._ops.append(made)
            self._known[key] = fragment
        return Term(self, self._known[key])

    def _fresh(self) -> int:
        self._last += 1
        return self._last


class Term:
    """A value of a program; operators with numbers and terms append operations."""

    def __init__(self, writer: Writer, fragment: ph.Fragment) -> None:
        self.writer = writer
        self.fragment = fragment

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.fragment.dtype

    def of(self, other: Term | Number) -> Term:
        """``other`` as a term of this one's dtype."""
        if isinstance(other, Term):
            return other
        value = float(other) if self.dtype.is_float else other
        return self.writer.constant(value, self.dtype)

    def call(self, fn: str, *others: Term | Number, dtype: DType | None = None) -> Term:
        """``fn`` of this value and others."""
        return self.writer.pointwise(fn, (self, *map(self.of, others)), dtype or self.dtype)

    def cast(self, dtype: DType) -> Term:
        """The value as another dtype."""
        return self if dtype is self.dtype else self.writer.convert(ph.Cast, self, dtype)

    def bits(self, dtype: DType) -> Term:
        """The same bits as another dtype."""
        return self.writer.convert(ph.Bitcast, self, dtype)

    def __add__(self, other: Term | Number) -> Term:
        return self.call("add", other)

    def __radd__(self, other: Number) -> Term:
        return self.of(other) + self

    def __sub__(self, other: Term | Number) -> Term:
        return self.call("sub", other)

    def __rsub__(self, other: Number) -> Term:
        return self.of(other) - self

    def __mul__(self, other: Term | Number) -> Term:
        return self.call("mul", other)

    def __rmul__(self, other: Number) -> Term:
        return self.of(other) * self

    def __truediv__(self, other: Term | Number) -> Term:
        return self.call("div", other)

    def __rtruediv__(self, other: Number) -> Term:
        return self.of(other) / self

    def __neg__(self) -> Term:
        return self.call("neg")

    def __abs__(self) -> Term:
        return self.call("abs")

    def __and__(self, other: Term | Number) -> Term:
        return self.call("and", other)

    def __or__(self, other: Term | Number) -> Term:
        return self.call("or", other)

    def __lt__(self, other: Term | Number) -> Term:
        return self.call("lt", other, dtype=BOOL)

    def __le__(self, other: Term | Number) -> Term:
        return self.call("le", other, dtype=BOOL)

    def __gt__(self, other: Term | Number) -> Term:
        return self.call("gt", other, dtype=BOOL)

    def __ge__(self, other: Term | Number) -> Term:
        return self.call("ge", other, dtype=BOOL)

    def equals(self, other: Term | Number) -> Term:
        """Elementwise equality."""
        return self.call("eq", other, dtype=BOOL)

    def differs(self, other: Term | Number) -> Term:
        """Elementwise inequality."""
        return self.call("ne", other, dtype=BOOL)


def where(condition: Term, a: Term | Number, b: Term | Number) -> Term:
    """``a`` where the condition holds, else ``b``; one of them is a term."""
    like = a if isinstance(a, Term) else b
    assert isinstance(like, Term)
    return condition.writer.pointwise("select", (condition, like.of(a), like.of(b)), like.dtype)


def horner(x: Term, coefficients: Sequence[float]) -> Term:
    """A polynomial in ``x``, highest power first."""
    result: Term = x.of(coefficients[0])
    for c in coefficients[1:]:
        result = result * x + c
    return result
