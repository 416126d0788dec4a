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

    def can_hold(self, predicate: ph.Fragment) -> Range | None:
        """Outside of the range the predicate is false on every lane. None when nothing is known."""
        return self._range(predicate, wide=True)

    def must_hold(self, predicate: ph.Fragment) -> Range | None:
        """Inside of the range the predicate is true on every lane. None when nothing is known."""
        return self._range(predicate, wide=False)

    def _range(self, predicate: ph.Fragment, *, wide: bool) -> Range | None:
        op = self.b.known.definition.get(self.b.known.plain(predicate).id)
        if not isinstance(op, ph.Pointwise):
            return None
        match op.fn:
            case "lt" | "le" | "gt" | "ge":
                return self._comparison(op.fn, op.operands, wide=wide)
            case "eq" if wide:
                sides = [self._comparison(fn, op.operands, wide=True) for fn in ("le", "ge")]
                return self._both(sides[0], sides[1])
            case "and" if wide:
                found = [self._range(f, wide=True) for f in op.operands]
                return self._both(*found) if all(found) else found[0] or found[1]
            case "or" if wide:
                found = [self._range(f, wide=True) for f in op.operands]
                return self._either(*found)
        return None

    def _both(self, a: Range | None, b: Range | None) -> Range | None:
        if a is None or b is None:
            return None
        return Range(low=self.tighter("maximum", a.low, b.low), high=self.tighter("minimum", a.high, b.high))

    def _either(self, a: Range | None, b: Range | None) -> Range | None:
        if a is None or b is None:
            return None
        low = None if a.low is None or b.low is None else self.b.pointwise("minimum", a.low, b.low)
        high = None if a.high is None or b.high is None else self.b.pointwise("maximum", a.high, b.high)
        return None if low is None and high is None else Range(low=low, high=high)

    def tighter(self, fn: str, a: ph.Fragment | None, b: ph.Fragment | None) -> ph.Fragment | None:
        """The tighter of two bounds, either of which may be missing."""
        if a is None or b is None:
            return b if a is None else a
        return a if a == b else self.b.pointwise(fn, a, b)

    # -- comparisons ---------------------------------------------------------------------------------------------

    def _comparison(self, fn: str, operands: tuple[ph.Fragment, ...], *, wide: bool) -> Range | None:
        """``a <= b`` is ``0 <= b - a``, in which the index stands once, with factor 1 or -1."""
        a, b = (self._linear(f) for f in operands)
        if a is None or b is None:
            return None
        gap = b.plus(a, -1) if fn in ("le", "lt") else a.plus(b, -1)
        if fn in ("lt", "gt"):
            gap = gap.plus(_Linear(1), -1)
        factor = gap.terms.get(self.counter.id)
        if factor not in (1, -1):
            return None
        rest = gap.plus(_Linear(0, {self.counter.id: factor}, {}), -1)
        if not wide and any(not self._tame(atom) for atom in (rest.atoms[k] for k in rest.terms)):
            return None
        if factor == -1:
            high = self._bound(rest, "most" if wide else "least")
            return None if high is None else Range(high=high)
        low = self._bound(_Linear().plus(rest, -1), "least" if wide else "most")
        return None if low is None else Range(low=low)

    def _linear(self, f: ph.Fragment) -> _Linear | None:
        """The linear form of an index value; what it is not linear in are atoms. None if one varies inside."""
        if f.dtype.name not in ("index", "i64"):
            return None
        value = self.b.known.value(f)
        if value is not None:
            return _Linear(int(value))
        f = self.b.known.plain(f)
        op = self.b.known.definition.get(f.id)
        if isinstance(op, ph.Cast) and op.value.dtype.name in ("index", "i64"):
            return self._linear(op.value)
        if isinstance(op, ph.Pointwise) and op.fn in ("add", "sub", "neg", "mul"):
            found = self._arithmetic(op)
            if found is not None:
                return found
        if f.id in self.inside and f != self.counter and not isinstance(op, ph.Lane):
            return None
        return _Linear(0, {f.id: 1}, {f.id: f})

    def _arithmetic(self, op: ph.Pointwise) -> _Linear | None:
        parts = [self._linear(f) for f in op.operands]
        if any(p is None for p in parts):
            return None
        known = [p for p in parts if p is not None]
        match op.fn:
            case "neg":
                return _Linear().plus(known[0], -1)
            case "add":
                return known[0].plus(known[1], 1)
            case "sub":
                return known[0].plus(known[1], -1)
        for k in (0, 1):
            if not known[k].terms and abs(known[k].constant) < _STEEP:
                return _Linear().plus(known[1 - k], known[k].constant)
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

    def _bound(self, form: _Linear, side: Side) -> ph.Fragment | None:
        """The least or greatest value over all lanes, as a uniform value in front of the loop."""
        total: ph.Fragment | None = None
        constant = form.constant
        opposite: Side = "most" if side == "least" else "least"
        taken: list[tuple[int, ph.Fragment]] = []
        for atom, factor in form.terms.items():
            found = self._extreme(form.atoms[atom], side if factor > 0 else opposite)
            if found is None:
                return None
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

    def _extreme(self, atom: ph.Fragment, side: Side) -> ph.Fragment | None:
        """The least or greatest value of an atom over its lanes."""
        op = self.b.known.definition.get(atom.id)
        if isinstance(op, ph.Lane):
            return self.b.index(0 if side == "least" else op.dim.size - 1)
        if not atom.dims:
            return self._loosened(atom, side)
        if isinstance(op, ph.Pointwise) and op.fn in ("maximum", "minimum"):
            sides = [self._side(f, side) for f in op.operands]
            return None if None in sides else self.b.pointwise(op.fn, *(s for s in sides if s is not None))
        if isinstance(op, ph.Pointwise) and op.fn == "floordiv":
            divisor = self.b.known.value(op.operands[1])
            inner = self._side(op.operands[0], side) if divisor is not None and divisor > 0 else None
            return None if inner is None else self.b.pointwise("floordiv", inner, op.operands[1])
        kind = "min" if side == "least" else "max"
        value = self._loosened(atom, side)
        return self.b.add(ph.Reduce, INDEX, (), operands=(value,), dims=value.dims, kind=kind)

    def _side(self, f: ph.Fragment, side: Side) -> ph.Fragment | None:
        form = self._linear(f)
        return None if form is None else self._bound(form, side)

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
