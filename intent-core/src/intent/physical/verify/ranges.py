"""Rules on narrowed ranges: an explicit subset of the relation's own, by tests that stand in the body."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from intent.physical.fragment import Fragment
from intent.physical.ops import Broadcast, Cast, Constant, Loop, Narrowed, Op, Pointwise
from intent.physical.program import Program
from intent.physical.verify.rule import NARROWING, Problem, Rule, operations
from intent.types.dtypes import BOOL

__all__ = ["RULES"]

_COMPARISONS: Final = ("lt", "le", "gt", "ge", "eq", "or")


def narrowed_range(program: Program) -> Iterator[Problem]:
    """A narrowed loop begins at or after, ends at or before, its relation's bound; comparisons inside say why."""
    made = {r.id: op for op in operations(program) for r in op.results}
    for op in operations(program):
        if isinstance(op, Loop):
            for narrowed in op.narrowed:
                yield from _problems(op, narrowed, made)


def _problems(loop: Loop, narrowed: Narrowed, made: dict[int, Op]) -> Iterator[Problem]:
    if not narrowed.tests:
        yield Problem(text=f"nothing says why the {narrowed.side} of the loop is narrower", op=loop)
    own = {r.id for op in loop.body.ops for r in op.results}
    index = {loop.body.args[0].id}
    for test in narrowed.tests:
        op = made.get(test.id)
        if (
            test.id not in own
            or not isinstance(op, Pointwise)
            or op.fn not in _COMPARISONS
            or test.dtype != BOOL
        ):
            yield Problem(text=f"%{test.id} is no comparison of the loop's body", op=loop)
        elif not _reaches(test, index, made):
            yield Problem(text=f"%{test.id} does not depend on the loop's index", op=loop)
    side = loop.begin if narrowed.side == "begin" else loop.end
    if not _within(side, narrowed, made):
        yield Problem(
            text=f"the {narrowed.side} %{side.id} is not within the bound %{narrowed.bound.id}", op=loop
        )


def _within(value: Fragment, narrowed: Narrowed, made: dict[int, Op]) -> bool:
    """Whether the value is never outside of the bound, read off its definition."""
    if value == narrowed.bound:
        return True
    number, bound = _constant(value, made), _constant(narrowed.bound, made)
    if number is not None and bound is not None:
        return number >= bound if narrowed.side == "begin" else number <= bound
    op = made.get(value.id)
    if not isinstance(op, Pointwise):
        return False
    if op.fn == ("maximum" if narrowed.side == "begin" else "minimum"):
        return any(_within(f, narrowed, made) for f in op.operands)
    if narrowed.side == "end":
        return False
    if op.fn == "add":
        return any(
            _within(op.operands[k], narrowed, made) and _not_negative(op.operands[1 - k], made)
            for k in (0, 1)
        )
    return bound == 0 and _not_negative(value, made)


def _not_negative(value: Fragment, made: dict[int, Op]) -> bool:
    """Whether the value is at least 0, read off its definition."""
    number = _constant(value, made)
    if number is not None:
        return number >= 0
    op = made.get(value.id)
    if not isinstance(op, Pointwise):
        return False
    if op.fn == "maximum":
        return any(_not_negative(f, made) for f in op.operands)
    return op.fn in ("add", "mul", "floordiv") and all(_not_negative(f, made) for f in op.operands)


def _constant(value: Fragment, made: dict[int, Op]) -> bool | int | float | None:
    op = made.get(value.id)
    return op.value if isinstance(op, Constant) else None


def _reaches(value: Fragment, targets: Collection[int], made: dict[int, Op]) -> bool:
    """Whether a value is computed from one of the targets, pointwise."""
    if value.id in targets:
        return True
    op = made.get(value.id)
    match op:
        case Pointwise():
            return any(_reaches(f, targets, made) for f in op.operands)
        case Broadcast() | Cast():
            return _reaches(op.value, targets, made)
    return False


RULES: Final = (Rule(name="narrowed-range", sentence=NARROWING, check=narrowed_range),)
