"""Laws of region operations: the homomorphism, the identity, the action on states (spec: logical-program 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import BrokenLaw
from intent.reference.logical.lifted import Components
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.laws.compare import difference, shown
from intent.reference.sanitizer.laws.wide import Helper, helper

Array = NDArray[Any]

__all__ = ["fold_laws", "region_scan_laws"]

EXECUTIONS: Final = 3
SHORT: Final = 12
"""Length of the short stretch that is cut, beside one cut of the whole source."""


class Slices:
    """The helpers of one region operation, applied to slices of its actual source."""

    def __init__(self, context: Context, op: kir.RegionFold | kir.RegionScan, name: str) -> None:
        self.context, self.op, self.name = context, op, name
        self.machine = context.machine
        self.source = [self.machine[v] for v in op.source]
        self.captures = [self.machine[v] for v in op.captures]
        self.extent = self.source[0].shape[op.axis]
        self.summarizer, self.combiner = helper(op.summarize), helper(op.combine)
        shapes = [self.machine.shape(y.shape) for y in op.combine.yields]
        self.identity = tuple(
            np.array(np.broadcast_to(self.machine[v], s)) for v, s in zip(op.identity, shapes, strict=True)
        )

    def slice(self, begin: int, end: int) -> list[Array]:
        """The source's components between two positions."""
        where = (slice(None),) * self.op.axis + (slice(begin, end),)
        return [s[where] for s in self.source]

    def summarize(self, begin: int, end: int) -> Components:
        """The summary of one slice."""
        self.machine.bind_extent(self.op.slice_extent, end - begin)
        return self.summarizer.run(self.machine, [*self.slice(begin, end), *self.captures])

    def combine(self, a: Components, b: Components) -> Components:
        """Two adjacent summaries as one."""
        return self.combiner.run(self.machine, [*a, *b])

    def cuts(self) -> Iterator[tuple[int, int, int, int]]:
        """Stretches ``begin < one < two <= end``: one short, one of the whole source."""
        generator = self.context.generator
        for length in sorted({min(self.extent, SHORT), self.extent}):
            if length < 2:
                continue
            begin = int(generator.integers(0, self.extent - length + 1))
            one = int(generator.integers(1, length))
            two = int(generator.integers(one, length)) + 1
            yield begin, begin + one, begin + two, begin + length

    def test(
        self,
        law: str,
        sides: dict[str, Components],
        values: dict[str, Components],
        tolerance: float,
        note: str = "",
    ) -> None:
        """Report the first element in which the two sides differ."""
        left, right = sides.values()
        at = difference(left, right, list(values.values()), (), tolerance)
        if at is None:
            return
        text = {name: shown(value, at) for name, value in sides.items()}
        given = {name: shown(value, at) for name, value in values.items()}
        point = self.context.point
        notes = (note,) if note else ()
        self.context.found(
            self.op,
            lambda: BrokenLaw(self.name, law=law, sides=text, values=given, point=point, notes=notes),
            law,
        )


def fold_laws(context: Context, op: kir.RegionFold) -> None:
    """``summarize(A ++ B) == combine(summarize(A), summarize(B))``, the identity, and associativity."""
    if not _due(context, op):
        return
    slices = Slices(context, op, "I.region_fold")
    with context.machine.unobserved():
        _summary_laws(slices)


def region_scan_laws(context: Context, op: kir.RegionScan) -> None:
    """The summary laws, the action of summaries on states, and that emit does not see where it was cut."""
    if not _due(context, op):
        return
    slices = Slices(context, op, "I.region_scan")
    with context.machine.unobserved():
        _summary_laws(slices)
        _action_laws(slices, op)


def _due(context: Context, op: kir.Op) -> bool:
    done = context.tested.get(op.id, 0)
    context.tested[op.id] = done + 1
    return done < EXECUTIONS


def _summary_laws(slices: Slices) -> None:
    tolerance = max(slices.summarizer.tolerance, slices.combiner.tolerance)
    if slices.extent:
        _neutral(slices, slices.summarize(0, slices.extent))
    for begin, one, two, end in slices.cuts():
        a, b, whole = slices.summarize(begin, one), slices.summarize(one, two), slices.summarize(begin, two)
        joined = slices.combine(a, b)
        slices.test(
            "summarize(A ++ B) == combine(summarize(A), summarize(B))",
            {"summarize(A ++ B)": whole, "combine(summarize(A), summarize(B))": joined},
            {"summarize(A)": a, "summarize(B)": b},
            tolerance,
            f"A is [{begin}, {one}) and B is [{one}, {two}) of the source axis",
        )
        _neutral(slices, a)
        if two == end:
            continue
        c = slices.summarize(two, end)
        slices.test(
            "combine(combine(a, b), c) == combine(a, combine(b, c))",
            {
                "combine(combine(a, b), c)": slices.combine(joined, c),
                "combine(a, combine(b, c))": slices.combine(a, slices.combine(b, c)),
            },
            {"a": a, "b": b, "c": c},
            tolerance,
        )


def _neutral(slices: Slices, summary: Components) -> None:
    tolerance = slices.combiner.tolerance
    given = {"identity": slices.identity}
    left, right = slices.combine(slices.identity, summary), slices.combine(summary, slices.identity)
    slices.test("combine(identity, x) == x", {"combine(identity, x)": left, "x": summary}, given, tolerance)
    slices.test("combine(x, identity) == x", {"combine(x, identity)": right, "x": summary}, given, tolerance)


def _action_laws(slices: Slices, op: kir.RegionScan) -> None:
    machine = slices.machine
    apply, emit = helper(op.apply), helper(op.emit)
    state: Components = tuple(machine[v] for v in op.initial)

    def act(summary: Components, on: Components) -> Components:
        return apply.run(machine, [*summary, *on])

    unmoved = act(slices.identity, state)
    law = "apply(identity, state) == state"
    slices.test(
        law, {"apply(identity, state)": unmoved, "state": _whole(state, unmoved)}, {}, apply.tolerance
    )
    for begin, one, two, _ in slices.cuts():
        a, b = slices.summarize(begin, one), slices.summarize(one, two)
        middle = act(a, state)
        joined, stepped = act(slices.combine(a, b), state), act(b, middle)
        slices.test(
            "apply(combine(a, b), state) == apply(b, apply(a, state))",
            {"apply(combine(a, b), state)": joined, "apply(b, apply(a, state))": stepped},
            {"state": _whole(state, joined)},
            max(apply.tolerance, slices.combiner.tolerance, slices.summarizer.tolerance),
        )
        whole = _emit(slices, emit, (begin, two), state)
        parts = (_emit(slices, emit, (begin, one), state), _emit(slices, emit, (one, two), middle))
        pieces = tuple(np.concatenate(p, axis=op.output_axis) for p in zip(*parts, strict=True))
        slices.test(
            "emit(A ++ B, state) == concat(emit(A, state), emit(B, apply(summarize(A), state)))",
            {"emit(A ++ B, state)": whole, "concat(...)": pieces},
            {},
            max(emit.tolerance, apply.tolerance, slices.summarizer.tolerance),
            f"A is [{begin}, {one}) and B is [{one}, {two}) of the source axis",
        )


def _emit(slices: Slices, emit: Helper, part: tuple[int, int], state: Sequence[Array]) -> Components:
    begin, end = part
    slices.machine.bind_extent(slices.op.slice_extent, end - begin)
    return emit.run(slices.machine, [*slices.slice(begin, end), *state, *slices.captures])


def _whole(given: Components, like: Components) -> Components:
    return tuple(np.broadcast_to(g, w.shape) for g, w in zip(given, like, strict=True))
