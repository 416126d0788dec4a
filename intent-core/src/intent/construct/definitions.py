"""Where every value of a kernel is defined, and the symbolic value of its index scalars."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir
from intent.kir.walk import regions_of
from intent.types import Extent, extent


@dataclass
class Definitions:
    """``op``: defining operation per value id; ``region``: owning region per value id; ``argument``: position.

    ``equal``: pairs of extents that the launch requires to be equal.
    """

    kernel: kir.Kernel
    op: dict[int, kir.Op] = field(default_factory=dict)
    region: dict[int, int] = field(default_factory=dict)
    parent: dict[int, int | None] = field(default_factory=dict)
    owner: dict[int, kir.Op] = field(default_factory=dict)
    equal: frozenset[frozenset[Extent]] = frozenset()
    conditional: bool = False
    """Whether some conditions of the launch hold only where a branch is taken: bounds may rest on them."""
    _symbols: dict[int, Extent] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: kir.Kernel) -> Definitions:
        """Index ``kernel``."""
        found = cls(kernel)
        found.equal = frozenset(
            frozenset((c.lhs, c.rhs)) for c in kernel.conditions if c.kind == "equal" and not c.when
        )
        found.conditional = any(c.when for c in kernel.conditions)
        found._visit(kernel.body, None)
        for scalar in kernel.scalars:
            if scalar.value.dtype.is_integer:
                found._symbols[scalar.value.id] = extent.scalar(scalar.name)
        return found

    def _visit(self, region: kir.Region, parent: int | None) -> None:
        self.parent[region.id] = parent
        for arg in region.args:
            self.region[arg.id] = region.id
        for op in region.ops:
            for value in op.results:
                self.op[value.id] = op
                self.region[value.id] = region.id
            for inner in regions_of(op):
                self.owner[inner.id] = op
                self._visit(inner, region.id)

    def same(self, a: Extent, b: Extent) -> bool:
        """Whether two extents are equal by identity or by a condition of the launch."""
        return a is b or frozenset((a, b)) in self.equal

    def symbol(self, value: kir.Value) -> Extent:
        """The symbolic value of an integer scalar: an expression over symbols, scalars and Dyn atoms."""
        known = self._symbols.get(value.id)
        if known is None:
            known = self._symbols[value.id] = self._derive(value)
        return known

    def _derive(self, value: kir.Value) -> Extent:
        op = self.op.get(value.id)
        if isinstance(op, kir.Constant):
            return extent.const(int(op.value))
        if isinstance(op, kir.ExtentValue):
            return op.extent
        if isinstance(op, kir.Cast) and op.value.dtype.is_integer and value.dtype.bits == 64:
            return self.symbol(op.value)
        if isinstance(op, kir.Pointwise) and value.dtype.name == "index" and len(op.operands) == 2:
            a, b = (self.symbol(x) for x in op.operands)
            combined = _combine(op.fn, a, b)
            if combined is not None:
                return combined
        return extent.dyn(value.id)


def _combine(fn: str, a: Extent, b: Extent) -> Extent | None:
    if fn == "add":
        return a + b
    if fn == "sub":
        return a - b
    if fn == "mul":
        return a * b
    if fn in ("maximum", "minimum"):
        return extent.call(fn[:3], a, b)
    if fn in ("floordiv", "mod") and b.const is not None and b.const > 0:
        return a // b if fn == "floordiv" else a % b
    return None
