"""Factors that are exponentials: ``exp(a - b) * exp(b - c)`` is ``exp(a - c)``."""

from __future__ import annotations

import math
from itertools import product

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.forms import finite_instead, function, nothing, positive_constant, same_value


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
        known = self.b.known
        match known.definition.get(value.id):
            case ph.Cast(value=wide) if wide.dtype.is_float:
                inner = self.times(wide, factor)
                return None if inner is None else self.b.add(ph.Cast, value.dtype, inner.dims, value=inner)
            case ph.Broadcast(value=less):
                inner = self.times(less, factor)
                return None if inner is None else self.b.broadcast(inner, value.dims)
            case ph.Pointwise(fn="select", operands=(test, kept, other)) if known.value(other) == 0:
                self._masks.append(known.plain(test))
                inner = self.times(kept, factor)
                self._masks.pop()
                return (
                    None if inner is None else self.b.pointwise("select", test, inner, other, name=value.name)
                )
            case ph.Pointwise(fn="exp" | "exp2") as op:
                return self._exponential(op, factor)
        return None

    def _exponential(self, op: ph.Pointwise, factor: ph.Fragment) -> ph.Fragment | None:
        other, empty = self._factor(factor)
        self.b.span, self.b.origin = op.span, op.origin
        match other:
            case ph.Pointwise(operands=(second,)) if function(other) == function(op):
                exponent = self._joined(op.operands[0], second, empty)
                if exponent is not None:
                    return self.b.pointwise(
                        op.fn,
                        exponent,
                        name=op.result.name,
                        approximate=op.approximate,
                        flush_to_zero=op.flush_to_zero,
                    )
        return None

    def _factor(self, factor: ph.Fragment) -> tuple[ph.Op | None, ph.Fragment | None]:
        """The exponential that a factor is, and the maximum for which it is 0 where that is -inf, if it says so."""
        known = self.b.known
        op = known.definition.get(known.plain(factor).id)
        match op:
            case ph.Pointwise(fn="select", operands=(test, zero, other)) if known.value(zero) == 0:
                empty = nothing(known, test)
                return (None if empty is None else known.definition.get(known.plain(other).id)), empty
        return op, None

    def _joined(
        self, first: ph.Fragment, second: ph.Fragment, empty: ph.Fragment | None
    ) -> ph.Fragment | None:
        """``(a - b) + (b - c)``, or both times the same factor, as ``a - c``.

        ``empty``: the maximum for which the second exponential gives way to 0. Then ``a`` is -inf throughout, and
        ``a - c`` has to be, also where ``c`` is.
        """
        known = self.b.known
        match known.definition.get(first.id), known.definition.get(second.id):
            case ph.Pointwise(fn="mul", operands=left), ph.Pointwise(fn="mul", operands=right):
                return self._scaled(left, right, empty)
            case ph.Pointwise(fn="sub", operands=(a, taken)), ph.Pointwise(fn="sub", operands=(b, c)):
                if not self._cancels(taken, b, a):
                    return None
                if empty is None:
                    return self.b.pointwise("sub", a, c)
                if self._maximum_of(empty, a):
                    return self.b.pointwise("sub", a, self._finite(c))
        return None

    def _scaled(
        self, left: tuple[ph.Fragment, ...], right: tuple[ph.Fragment, ...], empty: ph.Fragment | None
    ) -> ph.Fragment | None:
        """The same where both are products with one factor; -inf stays what it is if the factor is positive."""
        for j, k in product((0, 1), (0, 1)):
            if not same_value(self.b.known, left[j], right[k]):
                continue
            if empty is None or positive_constant(self.b.known, left[j]) is not None:
                inner = self._joined(left[1 - j], right[1 - k], empty)
                if inner is not None:
                    return self.b.pointwise("mul", inner, left[j])
        return None

    def _finite(self, c: ph.Fragment) -> ph.Fragment:
        """The maximum, 0 where it is that of nothing; unchanged where the author has that already."""
        if finite_instead(self.b.known, c) is not None:
            return c
        empty = self.b.compare("eq", c, self.b.constant(-math.inf, c.dtype))
        return self.b.pointwise("select", empty, self.b.constant(0.0, c.dtype), c)

    def _cancels(self, taken: ph.Fragment, given: ph.Fragment, exponent: ph.Fragment) -> bool:
        """Whether ``taken`` is ``given``, or is it but for 0 in place of -inf where all of ``exponent`` is -inf."""
        taken, given = self.b.known.plain(taken), self.b.known.plain(given)
        if taken == given:
            return True
        return finite_instead(self.b.known, taken) == given and self._maximum_of(given, exponent)

    def _maximum_of(self, peak: ph.Fragment, exponent: ph.Fragment) -> bool:
        """Whether ``peak`` is the maximum of ``exponent`` over the lanes that count."""
        known = self.b.known
        match known.definition.get(peak.id):
            case ph.Reduce(kind="max", operands=(of,)):
                found = known.plain(of)
            case _:
                return False
        while found != known.plain(exponent):
            match known.definition.get(found.id):
                case ph.Pointwise(fn="select", operands=(test, kept, other)) if self._left_out(test, other):
                    found = known.plain(kept)
                case _:
                    return False
        return True

    def _left_out(self, test: ph.Fragment, other: ph.Fragment) -> bool:
        """Whether a choice has -inf in place of what does not count anyway."""
        return self.b.known.plain(test) in self._masks and self.b.known.value(other) == -math.inf
