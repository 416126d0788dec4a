"""For which values of a loop's index a predicate can hold, and for which it must.

A comparison of index expressions is linear in the index: ``index + lane <= row`` holds on some lane only if
``index <= max(row) - min(lane)``, and on all of them if ``index <= min(row) - max(lane)``. What does not move with
the index is bounded over its lanes: a lane by its size, a loaded position by a reduction in front of the loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.forms import positive_constant
from intent.types.dtypes import INDEX
from intent.types.extent import Scalar

Side = Literal["least", "most"]


@dataclass(frozen=True, kw_only=True)
class Range:
    """Inclusive bounds, uniform index values made in front of the loop; None is no bound."""

    low: ph.Fragment | None = None
    high: ph.Fragment | None = None


@dataclass
class _Linear:
    """``constant + sum(factor * atom)``."""

    constant: int = 0
    terms: dict[int, int] = field(default_factory=dict)
    atoms: dict[int, ph.Fragment] = field(default_factory=dict)

    def plus(self, other: _Linear, factor: int) -> _Linear:
        terms = dict(self.terms)
        for atom, k in other.terms.items():
            terms[atom] = terms.get(atom, 0) + k * factor
        kept = {atom: k for atom, k in terms.items() if k}
        return _Linear(self.constant + other.constant * factor, kept, {**self.atoms, **other.atoms})


class Ranges:
    """Ranges of predicates in the body of one loop. New values go to the builder's current region."""

    def __init__(self, builder: Builder, loop: ph.Loop, inside: Collection[int]) -> None:
        self.b = builder
        self.counter = loop.body.args[0]
        self.inside = inside

    def can_hold(self, predicate: ph.Fragment) -> Range:
        """Outside of the range the predicate is false on every lane."""
        return self._range(predicate, wide=True)

    def must_hold(self, predicate: ph.Fragment) -> Range:
        """Inside of the range, if it has a bound, the predicate is true on every lane."""
        return self._range(predicate, wide=False)

    def _range(self, predicate: ph.Fragment, *, wide: bool) -> Range:
        match self.b.known.definition.get(self.b.known.plain(predicate).id):
            case ph.Pointwise(fn="lt" | "le" | "gt" | "ge" as fn, operands=operands):
                return self._comparison(fn, operands, wide=wide)
            case ph.Pointwise(fn="eq", operands=operands) if wide:
                return self._both(*(self._comparison(fn, operands, wide=True) for fn in ("le", "ge")))
            case ph.Pointwise(fn="and", operands=operands) if wide:
                return self._both(*(self._range(f, wide=True) for f in operands))
            case ph.Pointwise(fn="or", operands=operands) if wide:
                return self._either(*(self._range(f, wide=True) for f in operands))
        return Range()

    def _both(self, a: Range, b: Range) -> Range:
        return Range(low=self.tighter("maximum", a.low, b.low), high=self.tighter("minimum", a.high, b.high))

    def _either(self, a: Range, b: Range) -> Range:
        low = None if a.low is None or b.low is None else self.b.pointwise("minimum", a.low, b.low)
        high = None if a.high is None or b.high is None else self.b.pointwise("maximum", a.high, b.high)
        return Range(low=low, high=high)

    def tighter(self, fn: str, a: ph.Fragment | None, b: ph.Fragment | None) -> ph.Fragment | None:
        """The tighter of two bounds, either of which may be missing."""
        if a is None or b is None:
            return b if a is None else a
        return a if a == b else self.b.pointwise(fn, a, b)

    # -- comparisons ---------------------------------------------------------------------------------------------

    def _comparison(self, fn: str, operands: tuple[ph.Fragment, ...], *, wide: bool) -> Range:
        """``a <= b`` is ``0 <= b - a``, in which the index stands once, with factor 1 or -1."""
        forms = self._forms(operands)
        if forms is None:
            return Range()
        a, b = forms
        gap = b.plus(a, -1) if fn in ("le", "lt") else a.plus(b, -1)
        if fn in ("lt", "gt"):
            gap = gap.plus(_Linear(1), -1)
        factor = gap.terms.get(self.counter.id)
        if factor not in (1, -1):
            return Range()
        rest = gap.plus(_Linear(0, {self.counter.id: factor}, {}), -1)
        if not wide and any(not self._tame(atom) for atom in (rest.atoms[k] for k in rest.terms)):
            return Range()
        if factor == -1:
            return Range(high=self._bound(rest, "most" if wide else "least"))
        return Range(low=self._bound(_Linear().plus(rest, -1), "least" if wide else "most"))

    def _forms(self, values: tuple[ph.Fragment, ...]) -> list[_Linear] | None:
        """The linear forms of values, if all have one."""
        found = [form for f in values if (form := self._linear(f)) is not None]
        return found if len(found) == len(values) else None

    def _linear(self, f: ph.Fragment) -> _Linear | None:
        """The linear form of an index value; what it is not linear in are atoms. None if one varies inside."""
        if f.dtype.name not in ("index", "i64"):
            return None
        value = self.b.known.value(f)
        if value is not None:
            return _Linear(int(value))
        f = self.b.known.plain(f)
        match self.b.known.definition.get(f.id):
            case ph.Cast(value=inner) if inner.dtype.name in ("index", "i64"):
                return self._linear(inner)
            case ph.Pointwise(fn="add" | "sub" | "neg" | "mul") as op:
                found = self._arithmetic(op)
                if found is not None:
                    return found
        if f.id in self.inside and f != self.counter:
            return None
        return _Linear(0, {f.id: 1}, {f.id: f})

    def _arithmetic(self, op: ph.Pointwise) -> _Linear | None:
        forms = self._forms(op.operands)
        match op.fn, forms:
            case "neg", [a]:
                return _Linear().plus(a, -1)
            case "add", [a, b]:
                return a.plus(b, 1)
            case "sub", [a, b]:
                return a.plus(b, -1)
            case "mul", [a, b]:
                for factor, rest in ((a, b), (b, a)):
                    if not factor.terms and abs(factor.constant) < _STEEP:
                        return _Linear().plus(rest, factor.constant)
        return None

    def _tame(self, atom: ph.Fragment) -> bool:
        """Whether sums with the value cannot wrap: places and sizes, and data of at most 32 bits, not any integer.

        A range in which a predicate can hold may be too wide: there ``_loosened`` meets wrapping instead.
        """
        op = self.b.known.definition.get(atom.id)
        match op:
            case ph.Cast():
                return op.value.dtype.bits <= 32
            case ph.LaunchValue():
                return not any(isinstance(a, Scalar) for a in op.extent.atoms())
            case ph.Argument() | ph.Load():
                return False
            case ph.Pointwise():
                return all(self._tame(f) for f in op.operands)
            case ph.Loop() | ph.While() | ph.If() | ph.Reduce() | ph.Scan():
                return atom.dtype.bits <= 32
        return True

    # -- bounds over lanes ---------------------------------------------------------------------------------------

    def _bound(self, form: _Linear, side: Side) -> ph.Fragment:
        """The least or greatest value over all lanes, as a uniform value in front of the loop."""
        total: ph.Fragment | None = None
        constant = form.constant
        opposite: Side = "most" if side == "least" else "least"
        taken: list[tuple[int, ph.Fragment]] = []
        for atom, factor in form.terms.items():
            found = self._extreme(form.atoms[atom], side if factor > 0 else opposite)
            number = self.b.known.value(found)
            if number is not None:
                constant += factor * int(number)
            else:
                taken.append((factor, found))
        for factor, value in sorted(taken, key=lambda t: -t[0]):
            term = value if abs(factor) == 1 else self.b.pointwise("mul", value, self.b.index(abs(factor)))
            if total is None:
                total = term if factor > 0 else self.b.pointwise("neg", term)
            else:
                total = self.b.pointwise("add" if factor > 0 else "sub", total, term)
        return self.shifted(total, constant)

    def shifted(self, value: ph.Fragment | None, by: int) -> ph.Fragment:
        """``value + by``; a constant for None. Shifts add up."""
        if value is None:
            return self.b.index(by)
        number = self.b.known.value(value)
        if number is not None:
            return self.b.index(int(number) + by)
        op = self.b.known.definition.get(value.id)
        if isinstance(op, ph.Pointwise) and op.fn in ("add", "sub"):
            step = self.b.known.value(op.operands[1])
            if step is not None:
                return self.shifted(op.operands[0], by + (int(step) if op.fn == "add" else -int(step)))
        if by == 0:
            return value
        if isinstance(op, ph.Pointwise) and op.fn in ("minimum", "maximum"):
            return self.b.pointwise(op.fn, *(self.shifted(f, by) for f in op.operands))
        return self.b.pointwise("add" if by > 0 else "sub", value, self.b.index(abs(by)))

    def _extreme(self, atom: ph.Fragment, side: Side) -> ph.Fragment:
        """The least or greatest value of an atom over its lanes."""
        op = self.b.known.definition.get(atom.id)
        if isinstance(op, ph.Lane):
            return self.b.index(0 if side == "least" else op.dim.size - 1)
        if not atom.dims:
            return self._loosened(atom, side)
        match op:
            case ph.Pointwise(fn="maximum" | "minimum" as fn):
                return self.b.pointwise(fn, *(self._side(f, side) for f in op.operands))
            case ph.Pointwise(fn="floordiv", operands=(whole, divisor)):
                if positive_constant(self.b.known, divisor) is not None:
                    return self.b.pointwise("floordiv", self._side(whole, side), divisor)
        kind = "min" if side == "least" else "max"
        value = self._loosened(atom, side)
        return self.b.add(ph.Reduce, INDEX, (), operands=(value,), dims=value.dims, kind=kind)

    def _side(self, f: ph.Fragment, side: Side) -> ph.Fragment:
        form = self._linear(f)
        assert form is not None  # only what varies inside has none
        return self._bound(form, side)

    def _loosened(self, value: ph.Fragment, side: Side) -> ph.Fragment:
        """The value; what is beyond every place, with which sums could wrap, becomes the loosest bound."""
        tame = self._tame(value)
        if value.dtype != INDEX:
            value = self.b.add(ph.Cast, INDEX, value.dims, value=value)
        if tame:
            return value
        far, near = (self.b.index(n if side == "most" else -n) for n in (_FAR, -_FAR))
        bounded = self.b.pointwise("minimum" if side == "most" else "maximum", value, far)
        wild = self.b.compare("lt" if side == "most" else "gt", value, near)
        return self.b.pointwise("select", wild, far, bounded)


_STEEP: Final = 1 << 15
_FAR: Final = 1 << 44
"""No domain reaches here: the elements of a view would not fit an address space."""
