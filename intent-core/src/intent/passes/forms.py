"""Forms of values that several passes look for, each known in one place.

A pass that asks for a form gets its parts, or None. Broadcasts between the parts are looked through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from intent import physical as ph
from intent.passes.constants import Known
from intent.passes.uses import users_in


@dataclass(frozen=True, kw_only=True)
class Running:
    """A loop with one carry that only its own update reads.

    ``added``: what the update merges with the carry by a function of two operands; None for a contraction, which
    accumulates on the carry.
    """

    init: ph.Fragment
    update: ph.Pointwise | ph.Contract
    added: ph.Fragment | None


def running(known: Known, loop: ph.Loop) -> Running | None:
    """How a loop goes on with its only carry; None for folds, which have a summary, and for loops with more carries."""
    match loop:
        case ph.Loop(summary=(), inits=(init,), body=ph.Region(args=(_, carry), yields=(y,))):
            if len(users_in(loop.body)[carry.id]) != 1:
                return None
            match known.definition.get(y.id):
                case ph.Pointwise(operands=(a, b)) as op if carry in (a, b):
                    return Running(init=init, update=op, added=b if a == carry else a)
                case ph.Contract(accumulator=start) as op if start == carry:
                    return Running(init=init, update=op, added=None)
    return None


def nothing(known: Known, test: ph.Fragment) -> ph.Fragment | None:
    """``m`` of a test ``m == -inf``: whether a maximum is that of nothing."""
    match known.definition.get(known.plain(test).id):
        case ph.Pointwise(fn="eq", operands=(a, b)):
            for m, bound in ((a, b), (b, a)):
                if known.value(bound) == -math.inf:
                    return known.plain(m)
    return None


def finite_instead(known: Known, value: ph.Fragment) -> ph.Fragment | None:
    """``m`` of ``select(m == -inf, c, m)`` with a finite constant ``c``: a maximum as exponents may take it."""
    match known.definition.get(known.plain(value).id):
        case ph.Pointwise(fn="select", operands=(test, instead, m)):
            constant = known.value(instead)
            if constant is not None and math.isfinite(constant) and nothing(known, test) == known.plain(m):
                return known.plain(m)
    return None


def same_value(known: Known, a: ph.Fragment, b: ph.Fragment) -> bool:
    """Whether two values are one, or one constant."""
    constant = known.value(a)
    return a == b or (constant is not None and constant == known.value(b))


def positive_constant(known: Known, value: ph.Fragment) -> float | None:
    """The constant that a value is on all lanes, if it is greater than 0."""
    constant = known.value(value)
    return float(constant) if constant is not None and constant > 0 else None


def function(op: ph.Op | None) -> tuple[str, bool, bool] | None:
    """What a pointwise operation computes of its operands: equal ones have equal results for equal operands."""
    return (op.fn, op.approximate, op.flush_to_zero) if isinstance(op, ph.Pointwise) else None
