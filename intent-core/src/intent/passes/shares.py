"""Whether a loop adds up something proportional to ``exp(-m)``: the part of online normalisation that is analysis.

A value has degree 1 if it is ``exp(x - m)`` times something that does not depend on ``m``, degree 0 if it does not
depend on ``m`` at all. Sums and contractions keep the degree. A factor without the summed lanes that is known only
after all passes (one over the total) is taken out of the sum and applied behind the loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from intent import physical as ph
from intent.passes.building import Builder
from intent.physical.walk import operands_of, walk

After = tuple[tuple[str, ph.Fragment], ...]
"""Factors (``mul`` or ``div``, value) that are applied behind the loop, in order."""


@dataclass(frozen=True, kw_only=True)
class Degree:
    """How often ``exp(-m)`` divides a value, and what is left for behind the loop."""

    power: int
    after: After = ()


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

    ``peaks``: ids of ``m`` and of what stands for it; ``late``: ids of values that the passes of other loops make.
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
    scales: list[ph.Fragment | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._inside = {r.id for op in walk(self.loop.body) for r in op.results}
        self._inside |= {a.id for a in self.loop.body.args}
        self._known: dict[int, Degree | None] = {}

    def share(self) -> Share | None:
        """What the loop adds to its only carry, if that has degree 1."""
        if len(self.loop.results) != 1 or self.loop.summary or self.b.known.value(self.loop.inits[0]) != 0.0:
            return None
        arg, y = self.loop.body.args[1], self.loop.body.yields[0]
        op = self.b.known.definition.get(y.id)
        if any(arg in operands_of(o) for o in walk(self.loop.body) if o is not op):
            return None
        if isinstance(op, ph.Pointwise) and op.fn == "add" and arg in op.operands:
            added = op.operands[1] if op.operands[0] == arg else op.operands[0]
            found = self.degree(added)
        elif isinstance(op, ph.Contract) and op.accumulator == arg:
            added, found = None, self._product(op, (op.lhs, op.rhs))
        else:
            return None
        if found is None or found.power != 1:
            return None
        return Share(loop=self.loop, last=op, added=added, after=found.after)

    def degree(self, f: ph.Fragment) -> Degree | None:
        """The degree of a value, or None where it has none."""
        if f.id in self.peaks or (f.id not in self._inside and self.b.known.reaches(f, self.late)):
            return None
        if f.id not in self._inside:
            return Degree(power=0)
        if f.id not in self._known:
            self._known[f.id] = self._degree(f)
        return self._known[f.id]

    def _degree(self, f: ph.Fragment) -> Degree | None:
        op = self.b.known.definition.get(f.id)
        if op is None:
            return Degree(power=0) if f == self.loop.body.args[0] else None
        match op:
            case ph.Pointwise(fn="exp" | "exp2") if self._difference(op):
                return Degree(power=1)
            case ph.Pointwise(fn="mul" | "div"):
                return self._product(op, op.operands)
            case ph.Pointwise(fn="add" | "sub"):
                return self._alike(op.operands)
            case ph.Pointwise(fn="select") if self.b.known.value(op.operands[2]) == 0:
                inner = self.degree(op.operands[1])
                if inner is not None and inner.power:
                    self.masks.append(op.operands[0])
                return inner if self.degree(op.operands[0]) == Degree(power=0) else None
            case ph.Cast() if op.value.dtype.is_float and op.result.dtype.is_float:
                return self.degree(op.value)
            case ph.Broadcast():
                return self.degree(op.value)
            case ph.Reduce(kind="sum"):
                return self.degree(op.operands[0])
            case ph.Contract(accumulator=None):
                return self._product(op, (op.lhs, op.rhs))
        return self._free(op)

    def _free(self, op: ph.Op) -> Degree | None:
        """Any other operation must not see ``m`` at all, in its regions neither."""
        seen = {f for o in walk(ph.Region(args=(), ops=(op,))) for f in operands_of(o)}
        own = {r.id for o in walk(ph.Region(args=(), ops=(op,))) for r in o.results}
        outside = [f for f in seen if f.id not in own and not self._argument(op, f)]
        degrees = [self.degree(f) for f in outside]
        return Degree(power=0) if all(d == Degree(power=0) for d in degrees) else None

    def _argument(self, op: ph.Op, f: ph.Fragment) -> bool:
        """Whether the value is an argument of a region inside the operation."""
        return f.id in self._inside and f.id not in self.b.known.definition and f != self.loop.body.args[0]

    def _alike(self, operands: tuple[ph.Fragment, ...]) -> Degree | None:
        found = [self.degree(f) for f in operands]
        return found[0] if all(d == found[0] for d in found) else None

    def _product(self, op: ph.Op, operands: tuple[ph.Fragment, ...]) -> Degree | None:
        """Degrees add up; a late factor of a value of degree 1 waits for the end."""
        a, b = (self.degree(f) for f in operands)
        fn = op.fn if isinstance(op, ph.Pointwise) else "contract"
        for one, other, k in ((a, b, 1), (b, a, 0)):
            late = other is None and operands[k].id not in self._inside and operands[k].id not in self.peaks
            if one is not None and one.power == 1 and late and (fn == "mul" or (fn == "div" and k == 1)):
                self.taken_out[op.id] = operands[1 - k]
                return Degree(power=1, after=(*one.after, (fn, operands[k])))
        if a is None or b is None or a.power + b.power > 1 or (fn == "div" and b.power):
            return None
        return Degree(power=a.power + b.power, after=(*a.after, *b.after))

    def _difference(self, op: ph.Pointwise) -> bool:
        """Whether the exponential is of ``x - m`` or a positive constant times that."""
        inner = self.b.known.definition.get(op.operands[0].id)
        scale: ph.Fragment | None = None
        if isinstance(inner, ph.Pointwise) and inner.fn == "mul":
            for k in (0, 1):
                value = self.b.known.value(inner.operands[k])
                if value is not None and value > 0:
                    scale = inner.operands[k]
                    inner = self.b.known.definition.get(inner.operands[1 - k].id)
                    break
        if not isinstance(inner, ph.Pointwise) or inner.fn != "sub" or inner.operands[1].id not in self.peaks:
            return False
        if self.degree(inner.operands[0]) != Degree(power=0):
            return False
        self.exponents.append(inner)
        self.exponentials.append(op)
        self.scales.append(scale)
        return True
