"""Whether a loop adds up something proportional to ``exp(-m)``: the part of online normalisation that is analysis.

A value has degree 1 if it is ``exp(x - m)`` times something that does not depend on ``m``, degree 0 if it does not
depend on ``m`` at all. Sums and contractions keep the degree. A factor without the summed lanes that is known only
after all passes (one over the total) is taken out of the sum and applied behind the loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.forms import Running, positive_constant, running
from intent.physical.walk import reads_of, walk

After = tuple[tuple[str, ph.Fragment], ...]
"""Factors (``mul`` or ``div``, value) that are applied behind the loop, in order."""


@dataclass(frozen=True, kw_only=True)
class Degree:
    """How often ``exp(-m)`` divides a value, and what is left for behind the loop."""

    power: int
    after: After = ()


FREE: Final = Degree(power=0)
"""That of a value that does not depend on ``m``."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one loop adds to its carry on every pass."""

    loop: ph.Loop
    last: ph.Op
    added: ph.Fragment | None
    after: After


@dataclass
class Shares:
    """Degrees of one loop's values.

    ``peaks``: ids of ``m`` and of what stands for it; ``late``: these, and all that follows from ``m`` outside.
    """

    b: Builder
    loop: ph.Loop
    peaks: Collection[int]
    late: Collection[int]
    taken_out: dict[int, ph.Fragment] = field(default_factory=dict)
    """Operations (by id) that only apply a late factor, and what they apply it to."""
    exponents: list[ph.Pointwise] = field(default_factory=list)
    """The differences ``x - m`` under exponentials."""
    exponentials: list[ph.Pointwise] = field(default_factory=list)
    masks: list[ph.Fragment] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    """The positive constants that the differences are multiplied by."""

    def __post_init__(self) -> None:
        self._inside = {r.id for op in walk(self.loop.body) for r in op.results}
        self._inside |= {a.id for a in self.loop.body.args}
        self._known: dict[int, Degree | None] = {}

    def share(self) -> Share | None:
        """What the loop adds to its only carry, if that has degree 1."""
        match running(self.b.known, self.loop):
            case Running(update=ph.Pointwise(fn="add") as last, added=ph.Fragment() as added, init=init):
                found = self.degree(added)
            case Running(update=ph.Contract(lhs=lhs, rhs=rhs) as last, added=added, init=init):
                found = self._product(last, "contract", (lhs, rhs))
            case _:
                return None
        if found is None or self.b.known.value(init) != 0:
            return None
        return Share(loop=self.loop, last=last, added=added, after=found.after)

    def degree(self, f: ph.Fragment) -> Degree | None:
        """The degree of a value, or None where it has none."""
        if f.id in self.late:
            return None
        if f.id not in self._inside:
            return FREE
        if f.id not in self._known:
            self._known[f.id] = self._degree(f)
        return self._known[f.id]

    def _degree(self, f: ph.Fragment) -> Degree | None:
        op = self.b.known.definition.get(f.id)
        match op:
            case None:
                return FREE if f == self.loop.body.args[0] else None
            case ph.Pointwise(fn="exp" | "exp2") if self._difference(op):
                return Degree(power=1)
            case ph.Pointwise(fn="mul" | "div"):
                return self._product(op, op.fn, op.operands)
            case ph.Pointwise(fn="add" | "sub"):
                return self._alike(op.operands)
            case ph.Pointwise(fn="select", operands=(test, kept, other)) if self.b.known.value(other) == 0:
                inner = self.degree(kept)
                if inner != FREE:
                    self.masks.append(test)
                return inner if self.degree(test) == FREE else None
            case ph.Cast() if op.result.dtype.is_float:
                return self.degree(op.value)
            case ph.Broadcast():
                return self.degree(op.value)
            case ph.Reduce(kind="sum"):
                return self.degree(op.operands[0])
            case ph.Contract(accumulator=None):
                return self._product(op, "contract", (op.lhs, op.rhs))
        return self._free(op)

    def _free(self, op: ph.Op) -> Degree | None:
        """Any other operation must not see ``m`` at all, in its regions neither."""
        return FREE if all(self.degree(f) == FREE for f in reads_of(op)) else None

    def _alike(self, operands: tuple[ph.Fragment, ...]) -> Degree | None:
        found = [self.degree(f) for f in operands]
        return found[0] if all(d == found[0] for d in found) else None

    def _product(self, op: ph.Op, fn: str, operands: tuple[ph.Fragment, ...]) -> Degree | None:
        """Degrees add up; a late factor of a value of degree 1 waits for the end."""
        found = [self.degree(f) for f in operands]
        for k in _MAY_WAIT.get(fn, ()):
            one, factor = found[1 - k], operands[k]
            if one is not None and one.power and factor.id in self.late and factor.id not in self.peaks:
                self.taken_out[op.id] = operands[1 - k]
                return Degree(power=1, after=(*one.after, (fn, factor)))
        match found:
            case [Degree() as a, Degree() as b] if (a.power, b.power) in _POWERS[fn]:
                return Degree(power=a.power + b.power, after=(*a.after, *b.after))
        return None

    def _difference(self, op: ph.Pointwise) -> bool:
        """Whether the exponential is of ``x - m`` or a positive constant times that."""
        (exponent,), scale = op.operands, 1.0
        match self.b.known.definition.get(exponent.id):
            case ph.Pointwise(fn="mul", operands=(a, b)):
                for rest, factor in ((a, b), (b, a)):
                    constant = positive_constant(self.b.known, factor)
                    if constant is not None:
                        exponent, scale = rest, constant
        match self.b.known.definition.get(exponent.id):
            case ph.Pointwise(fn="sub", operands=(x, m)) as gap if m.id in self.peaks:
                if self.degree(x) == FREE:
                    self.exponents.append(gap)
                    self.exponentials.append(op)
                    self.scales.append(scale)
                    return True
        return False


_MAY_WAIT: Final = {"mul": (1, 0), "div": (1,)}
"""Operands that may be late: factors and divisors."""
_ANY: Final = ((0, 0), (0, 1), (1, 0))
_POWERS: Final = {"mul": _ANY, "contract": _ANY, "div": ((0, 0), (1, 0))}
"""Powers of operands that a product may have: one exponential, above the line."""
