"""Factors that are exponentials: ``exp(a - b) * exp(b - c)`` is ``exp(a - c)``."""

from __future__ import annotations

import math

from intent import physical as ph
from intent.passes.building import Builder


class Exponents:
    """Multiplying a value that is an exponential under masks, casts and broadcasts."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self._masks: list[ph.Fragment] = []
        """What must hold for the exponential at hand to count at all."""

    def times(self, value: ph.Fragment, factor: ph.Fragment) -> ph.Fragment | None:
        """``value * factor`` with the factor merged into value's exponential, or None where it cannot be.

        Masks that put 0 in place of the exponential stay outside: ``0 * factor`` is 0 for a finite factor, and an
        exponential of a difference to the greater of two maxima is at most 1.
        """
        op = self.b.known.definition.get(value.id)
        match op:
            case ph.Cast() if op.value.dtype.is_float and value.dtype.is_float:
                inner = self.times(op.value, factor)
                made = None if inner is None else self.b.add(ph.Cast, value.dtype, inner.dims, value=inner)
            case ph.Broadcast():
                inner = self.times(op.value, factor)
                made = None if inner is None else self.b.broadcast(inner, value.dims)
            case ph.Pointwise(fn="select") if self.b.known.value(op.operands[2]) == 0:
                self._masks.append(self.b.known.plain(op.operands[0]))
                inner = self.times(op.operands[1], factor)
                self._masks.pop()
                made = None if inner is None else self._select(op, inner, value)
            case ph.Pointwise(fn="exp" | "exp2"):
                made = self._exponential(op, factor)
            case _:
                made = None
        return made

    def _select(self, op: ph.Pointwise, inner: ph.Fragment, value: ph.Fragment) -> ph.Fragment:
        return self.b.pointwise("select", op.operands[0], inner, op.operands[2], name=value.name)

    def _exponential(self, op: ph.Pointwise, factor: ph.Fragment) -> ph.Fragment | None:
        other, empty = self._factor(factor)
        self.b.span, self.b.origin = op.span, op.origin
        if other is None or other.fn != op.fn:
            return None
        if (op.approximate, op.flush_to_zero) != (other.approximate, other.flush_to_zero):
            return None
        exponent = self._joined(op.operands[0], other.operands[0], empty)
        if exponent is None:
            return None
        return self.b.pointwise(
            op.fn,
            exponent,
            name=op.result.name,
            approximate=op.approximate,
            flush_to_zero=op.flush_to_zero,
        )

    def _factor(self, factor: ph.Fragment) -> tuple[ph.Pointwise | None, ph.Fragment | None]:
        """The exponential that a factor is, and the maximum for which it is 0 where that is -inf, if it says so."""
        op = self.b.known.definition.get(self.b.known.plain(factor).id)
        if isinstance(op, ph.Pointwise) and op.fn == "select" and self.b.known.value(op.operands[1]) == 0:
            test = self.b.known.definition.get(self.b.known.plain(op.operands[0]).id)
            inner = self.b.known.definition.get(self.b.known.plain(op.operands[2]).id)
            if isinstance(test, ph.Pointwise) and isinstance(inner, ph.Pointwise):
                for k in (0, 1):
                    if self._is_nothing(test, self.b.known.plain(test.operands[k])):
                        return inner, self.b.known.plain(test.operands[k])
        return (op, None) if isinstance(op, ph.Pointwise) else (None, None)

    def _joined(
        self, first: ph.Fragment, second: ph.Fragment, empty: ph.Fragment | None
    ) -> ph.Fragment | None:
        """``(a - b) + (b - c)``, or both times the same factor, as ``a - c``.

        ``empty``: the maximum for which the second exponential gives way to 0. Then ``a`` is -inf throughout, and
        ``a - c`` has to be, also where ``c`` is.
        """
        x, y = (self.b.known.definition.get(f.id) for f in (first, second))
        if not isinstance(x, ph.Pointwise) or not isinstance(y, ph.Pointwise) or x.fn != y.fn:
            return None
        if x.fn == "mul":
            for j in (0, 1):
                for k in (0, 1):
                    if x.operands[j] == y.operands[k] or self._equal(x.operands[j], y.operands[k]):
                        scale = self.b.known.value(x.operands[j])
                        if empty is not None and (scale is None or not scale > 0):
                            continue
                        inner = self._joined(x.operands[1 - j], y.operands[1 - k], empty)
                        if inner is not None:
                            return self.b.pointwise("mul", inner, x.operands[j])
            return None
        a, b, c = x.operands[0], y.operands[0], y.operands[1]
        if x.fn != "sub" or not self._cancels(x.operands[1], b, a):
            return None
        if empty is not None:
            if self.b.known.plain(b) != empty or not self._maximum_of(empty, a):
                return None
            c = self._finite(c)
        return self.b.pointwise("sub", a, c)

    def _finite(self, c: ph.Fragment) -> ph.Fragment:
        """The maximum, 0 where it is that of nothing; unchanged where the author has that already."""
        op = self.b.known.definition.get(self.b.known.plain(c).id)
        if isinstance(op, ph.Pointwise) and op.fn == "select":
            test = self.b.known.definition.get(self.b.known.plain(op.operands[0]).id)
            if self._is_nothing(test, self.b.known.plain(op.operands[2])):
                return c
        nothing = self.b.constant(-math.inf, c.dtype)
        return self.b.pointwise("select", self.b.compare("eq", c, nothing), self.b.constant(0.0, c.dtype), c)

    def _equal(self, a: ph.Fragment, b: ph.Fragment) -> bool:
        value = self.b.known.value(a)
        return value is not None and value == self.b.known.value(b)

    def _cancels(self, taken: ph.Fragment, given: ph.Fragment, exponent: ph.Fragment) -> bool:
        """Whether ``taken`` is ``given``, or is it but for 0 in place of -inf where all of ``exponent`` is -inf."""
        taken, given = self.b.known.plain(taken), self.b.known.plain(given)
        if taken == given:
            return True
        op = self.b.known.definition.get(taken.id)
        if (
            not isinstance(op, ph.Pointwise)
            or op.fn != "select"
            or self.b.known.plain(op.operands[2]) != given
        ):
            return False
        instead = self.b.known.value(op.operands[1])
        if instead is None or not math.isfinite(instead):
            return False
        test = self.b.known.definition.get(self.b.known.plain(op.operands[0]).id)
        return self._is_nothing(test, given) and self._maximum_of(given, exponent)

    def _is_nothing(self, test: ph.Op | None, given: ph.Fragment) -> bool:
        """Whether the test is ``given == -inf``."""
        if not isinstance(test, ph.Pointwise) or test.fn != "eq":
            return False
        sides = [self.b.known.plain(f) for f in test.operands]
        return given in sides and any(self.b.known.value(f) == -math.inf for f in test.operands)

    def _maximum_of(self, peak: ph.Fragment, exponent: ph.Fragment) -> bool:
        """Whether ``peak`` is the maximum of ``exponent`` over the lanes that count."""
        op = self.b.known.definition.get(peak.id)
        if not isinstance(op, ph.Reduce) or op.kind != "max":
            return False
        found = self.b.known.plain(op.operands[0])
        while True:
            if found == self.b.known.plain(exponent):
                return True
            inner = self.b.known.definition.get(found.id)
            if not isinstance(inner, ph.Pointwise) or inner.fn != "select":
                return False
            counted = self.b.known.plain(inner.operands[0]) in self._masks
            if not counted or self.b.known.value(inner.operands[2]) != -math.inf:
                return False
            found = self.b.known.plain(inner.operands[1])
