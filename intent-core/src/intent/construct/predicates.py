"""What predicates of a program say about its integers, as claims.

Fragments become expressions by their definitions; what has no expression is a variable of its own. Lanes need no
name: a predicate and a coordinate are compared lane by lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent import physical as ph
from intent.construct.emission import Emitter
from intent.proof import Claim, Equal, Fact, at_least, both, either, less, negation
from intent.types import Extent
from intent.types.extent import Atom, Var, const, maximum, minimum

_BECAUSE = "the access's own predicate"


class Predicates:
    """Expressions of the index fragments of one segment."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._known: dict[int, Extent] = {}
        self.names: dict[Atom, str] = {}
        """The author's or the lane's name of each variable, for people."""

    def facts(self, tested: Iterable[ph.Fragment]) -> tuple[Fact, ...]:
        """What holds on the lanes where every fragment of ``tested`` is true."""
        ordered = sorted(tested, key=lambda f: f.id)
        return tuple(Fact(claim=c, because=_BECAUSE) for f in ordered for c in self._conjuncts(f))

    def value(self, fragment: ph.Fragment) -> Extent:
        """The expression of an index fragment."""
        known = self._known.get(fragment.id)
        if known is None:
            known = self._known[fragment.id] = self._expression(fragment)
        return known

    def _expression(self, fragment: ph.Fragment) -> Extent:
        op = self._emitter.definition.get(fragment.id)
        match op:
            case ph.Constant() if not isinstance(op.value, float):
                return const(int(op.value))
            case ph.LaunchValue():
                return op.extent
            case ph.Broadcast():
                return self.value(op.value)
            case ph.Cast() if _wide(fragment) and op.value.dtype.is_integer and not _unsigned_wide(op.value):
                return self.value(op.value)
            case ph.Pointwise() if _wide(fragment):
                found = self._pointwise(op)
                if found is not None:
                    return found
        atom = Var(f"%{fragment.id}")
        name = f"lane of {op.dim.name}" if isinstance(op, ph.Lane) else fragment.name
        if name:
            self.names[atom] = name
        return Extent((((atom,), 1),))

    def _pointwise(self, op: ph.Pointwise) -> Extent | None:
        if op.fn not in _FUNCTIONS:
            return None
        a, *rest = map(self.value, op.operands)
        if op.fn == "neg":
            return -a
        (b,) = rest
        match op.fn:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "minimum":
                return minimum(a, b)
            case "maximum":
                return maximum(a, b)
            case _ if b.const is None or b.const <= 0:
                return None
            case "floordiv":
                return a // b
            case _:
                return a % b

    def _conjuncts(self, fragment: ph.Fragment) -> Iterator[Claim]:
        op = self._emitter.definition.get(fragment.id)
        if isinstance(op, ph.Pointwise) and op.fn == "and":
            for operand in op.operands:
                yield from self._conjuncts(operand)
            return
        claim = self._claim(fragment)
        if claim is not None:
            yield claim

    def _claim(self, fragment: ph.Fragment) -> Claim | None:
        """What a predicate says exactly, or None."""
        op = self._emitter.definition.get(fragment.id)
        if isinstance(op, ph.Broadcast):
            return self._claim(op.value)
        if not isinstance(op, ph.Pointwise):
            return None
        if op.fn in ("and", "or", "not"):
            parts = [p for p in map(self._claim, op.operands) if p is not None]
            if len(parts) != len(op.operands):
                return None
            return negation(*parts) if op.fn == "not" else (both if op.fn == "and" else either)(*parts)
        if not _whole(op.operands[0]):
            return None
        a, b = map(self.value, op.operands)
        match op.fn:
            case "lt":
                return less(a, b)
            case "le":
                return at_least(b, a)
            case "gt":
                return less(b, a)
            case "ge":
                return at_least(a, b)
            case "eq":
                return Equal(a, b)
            case "ne":
                return negation(Equal(a, b))
            case _:
                return None


_FUNCTIONS = ("add", "sub", "mul", "neg", "minimum", "maximum", "floordiv", "mod")


def _wide(fragment: ph.Fragment) -> bool:
    """Whether arithmetic on the fragment does not wrap: index values are as wide as any address."""
    return fragment.dtype.is_integer and fragment.dtype.bits == 64 and fragment.dtype.minimum < 0


def _whole(fragment: ph.Fragment) -> bool:
    return fragment.dtype.is_integer and not _unsigned_wide(fragment)


def _unsigned_wide(fragment: ph.Fragment) -> bool:
    return fragment.dtype.bits == 64 and fragment.dtype.minimum == 0
