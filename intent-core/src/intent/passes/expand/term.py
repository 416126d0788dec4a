"""Arithmetic on program values, written as arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.types import DType
from intent.types.dtypes import BOOL

Number = int | float


class Writer:
    """Makes the operations that stand for one: they have its line, its origin and its name."""

    def __init__(self, program: ph.Program) -> None:
        self._build = Builder(program)
        self._name = ""
        self._loose = False

    def stand_in(self, op: ph.Pointwise, rewrite: Callable[..., Term], wide: DType) -> list[ph.Op]:
        """The operations of ``rewrite`` of the operands as ``wide``; the last one defines the result of ``op``."""
        self._build.span, self._build.origin = op.span, op.origin
        self._name, self._loose = op.result.name, op.approximate
        with self._build.region(alone=True) as made:
            operands = [Term(self, f).cast(wide) for f in op.operands]
            result = rewrite(*operands).cast(op.result.dtype)
            last = made[-1].results if made else ()
            if last != (result.fragment,):  # it is an operand, or was made before
                self.convert(ph.Cast, result, op.result.dtype)
        made[-1] = replace(made[-1], results=op.results)
        return made

    def in_place(self, op: ph.Op, rewrite: Callable[[Builder], ph.Fragment]) -> list[ph.Op]:
        """The operations that ``rewrite`` makes; the last one, which it makes anew, defines the result of ``op``."""
        self._build.span, self._build.origin = op.span, op.origin
        with self._build.region(alone=True) as made:
            result = rewrite(self._build)
            assert made[-1].results == (result,)
        made[-1] = replace(made[-1], results=op.results)
        return made

    def constant(self, value: bool | Number, dtype: DType) -> Term:
        """A scalar literal."""
        return Term(self, self._build.constant(value, dtype))

    def pointwise(self, fn: str, operands: Sequence[Term], dtype: DType) -> Term:
        """One pointwise operation over the union of its operands' dims, approximate where what it stands for is."""
        fragments = (t.fragment for t in operands)
        loose = self._loose and fn in ("div", "exp")
        return Term(
            self, self._build.pointwise(fn, *fragments, dtype=dtype, name=self._name, approximate=loose)
        )

    def convert(self, node: type[ph.Cast | ph.Bitcast], value: Term, dtype: DType) -> Term:
        """A conversion."""
        made = self._build.add(node, dtype, value.fragment.dims, name=self._name, value=value.fragment)
        return Term(self, made)


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
