"""Between which numbers the rows of a run lie, where the same numbers hold for every pass of its loop.

Then a loop makes passes only where there are rows, and the first and the last row of a pass are found among scalars.
The compiler reads such slices by bulk copies; of bounds that sums across lanes find it dies, and under a condition it
waits for each product before it starts the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from intent.physical import Broadcast, Constant, Fragment, Lane, Loop, Op, Pointwise
from intent.physical.walk import walk
from intent_provider_cutile.emit.lanes import constant, origin
from intent_provider_cutile.emit.runs import COMPARISONS, Run


@dataclass(frozen=True, kw_only=True)
class Sum:
    """``number`` plus scalars, each so many times; ``lanes`` times the lane."""

    lanes: int = 0
    number: int = 0
    terms: tuple[tuple[Fragment, int], ...] = ()

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """This sum and ``times`` the other one."""
        counts = {f.id: (f, n) for f, n in self.terms}
        for f, n in other.terms:
            counts[f.id] = f, counts.get(f.id, (f, 0))[1] + times * n
        return Sum(
            lanes=self.lanes + times * other.lanes,
            number=self.number + times * other.number,
            terms=tuple((f, n) for f, n in counts.values() if n),
        )


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Rows are ``row >= low`` for every ``low`` and ``row < high`` for every ``high``.

    Lane 0 of a pass has the row loop index plus ``shift``.
    """

    shift: Sum
    low: tuple[Sum, ...]
    high: tuple[Sum, ...]

    @property
    def fragments(self) -> Iterator[Fragment]:
        """The scalars that the ends are made of."""
        for made in (self.shift, *self.low, *self.high):
            yield from (f for f, _ in made.terms)


def ends_of(loop: Loop, run: Run, defined: Mapping[int, Op]) -> Ends | None:
    """The ends of a run whose loop steps from pass to pass by all lanes; None where each pass has its own."""
    if constant(defined, loop.step) != run.dim.size:
        return None
    inside = {r.id for op in walk(loop.body) for r in op.results} | {loop.body.args[0].id}
    sums = _Sums(defined=defined, inside=inside)
    row = sums.of(run.coordinate)
    low: list[Sum] = []
    high: list[Sum] = []
    for test in sums.tests(run.valid):
        below = sums.below_zero(test)
        if below is None or abs(below.lanes) != 1:
            return None
        # Of x < lane, rows begin behind row - lane + x; of lane + x < 0, they end at row - lane - x.
        (low if below.lanes < 0 else high).append(row.plus(below, -below.lanes))
    low = [end.plus(Sum(number=1)) for end in low]
    shift = row.plus(Sum(lanes=1, terms=((loop.body.args[0], 1),)), -1)
    if any(s.lanes or any(f.id in inside for f, _ in s.terms) for s in (shift, *low, *high)):
        return None
    return Ends(shift=shift, low=tuple(low), high=tuple(high))


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Reads numbers of a loop as sums; ``inside``: the ids of what changes from pass to pass."""

    defined: Mapping[int, Op]
    inside: AbstractSet[int]

    def tests(self, valid: Fragment) -> Iterator[Fragment]:
        """The conditions that ``valid`` is made of."""
        op = origin(self.defined, valid)
        if isinstance(op, Pointwise) and op.fn == "and":
            for operand in op.operands:
                yield from self.tests(operand)
        else:
            yield valid

    def below_zero(self, test: Fragment) -> Sum | None:
        """What is below zero where a comparison of numbers holds, and nowhere else."""
        op = origin(self.defined, test)
        if not isinstance(op, Pointwise) or op.fn not in COMPARISONS:
            return None
        first, second = (self.of(o) for o in op.operands)
        net = first.plus(second, -1) if op.fn in ("lt", "le") else second.plus(first, -1)
        return net.plus(Sum(number=-1)) if op.fn in ("le", "ge") else net

    def of(self, value: Fragment) -> Sum:
        """A number as a sum of lanes, constants and scalars; scalars of before the loop are not taken apart."""
        op = self.defined.get(value.id)
        if isinstance(op, Broadcast):
            return self.of(op.value)
        if isinstance(op, Lane):
            return Sum(lanes=1)
        if isinstance(op, Constant):
            return Sum(number=int(op.value))
        if isinstance(op, Pointwise) and op.fn in ("add", "sub") and (value.dims or value.id in self.inside):
            first, second = (self.of(o) for o in op.operands)
            return first.plus(second, 1 if op.fn == "add" else -1)
        return Sum(terms=((value, 1),))
