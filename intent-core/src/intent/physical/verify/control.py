"""Rules on control: conditions and bounds are uniform; region arguments, yields and results agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from intent.physical.fragment import Fragment
from intent.physical.ops import If, Loop, Op, While
from intent.physical.program import Program
from intent.physical.verify.rule import ORDERED, STRUCTURED, Problem, Rule, operations
from intent.physical.verify.values import same_type
from intent.types.dtypes import BOOL, INDEX

__all__ = ["RULES", "matching"]


def uniform_control(program: Program) -> Iterator[Problem]:
    """Conditions are one bool and bounds one index for the whole instance: lanes are predicated instead."""
    for op in operations(program):
        match op:
            case If():
                yield from _scalar(op, op.condition, "the condition")
            case Loop():
                for value, what in ((op.begin, "begin"), (op.end, "end"), (op.step, "step")):
                    if value.dtype != INDEX or value.dims:
                        yield Problem(text=f"the {what} of a loop must be one index", op=op)
            case While():
                if len(op.condition.yields) != 1:
                    yield Problem(text="the condition region must yield one value", op=op)
                else:
                    yield from _scalar(op, op.condition.yields[0], "the condition")


def _scalar(op: Op, value: Fragment, what: str) -> Iterator[Problem]:
    if value.dtype != BOOL or value.dims:
        yield Problem(text=f"{what} must be one bool", op=op)


def region_schema(program: Program) -> Iterator[Problem]:
    """Arguments, yields, initial values and results of loops and branches agree in number, dtype and dims."""
    for op in operations(program):
        match op:
            case If():
                if op.then.args or op.orelse.args:
                    yield Problem(text="a branch takes no arguments", op=op)
                yield from matching(op, op.then.yields, op.results, "yields of 'then' and results")
                yield from matching(op, op.orelse.yields, op.results, "yields of 'orelse' and results")
            case Loop():
                if not op.body.args or op.body.args[0].dtype != INDEX or op.body.args[0].dims:
                    yield Problem(text="the first argument of a loop body is its index scalar", op=op)
                yield from matching(op, op.body.args[1:], op.inits, "arguments and initial values")
                yield from matching(op, op.body.yields, op.inits, "yields and initial values")
                yield from matching(op, op.results, op.inits, "results and initial values")
            case While():
                yield from matching(op, op.condition.args, op.inits, "condition arguments and initial values")
                yield from matching(op, op.body.args, op.inits, "body arguments and initial values")
                yield from matching(op, op.body.yields, op.inits, "yields and initial values")
                yield from matching(op, op.results, op.inits, "results and initial values")


def matching(
    op: Op, values: Sequence[Fragment], expected: Sequence[Fragment], what: str
) -> Iterator[Problem]:
    """Problems unless the two lists have equal length and types."""
    if len(values) != len(expected):
        yield Problem(text=f"{what} differ in number: {len(values)} and {len(expected)}", op=op)
    elif not all(map(same_type, values, expected)):
        yield Problem(text=f"{what} differ in type", op=op)


RULES: Final = (
    Rule(name="uniform-control", sentence=ORDERED, check=uniform_control),
    Rule(name="region-schema", sentence=STRUCTURED, check=region_schema),
)
