"""The verifier of physical programs: what can be checked with the program alone (spec: kir-to-gpu-program 9).

Every rule is named, cites the sentence that it implements, and yields the problems that it finds. The rules
that compare a program with its frozen KIR stand elsewhere; these need nothing but the program.
"""

from __future__ import annotations

from typing import Final

from intent.diagnostics import VerificationError
from intent.physical.program import Program
from intent.physical.text import print_op
from intent.physical.verify import (
    access,
    buffers,
    control,
    fences,
    interface,
    space,
    structured,
    values,
)
from intent.physical.verify.rule import Problem, Rule

__all__ = ["RULES", "Problem", "Rule", "problems", "verify"]

RULES: Final[dict[str, Rule]] = {
    rule.name: rule
    for module in (values, interface, space, control, structured, access, buffers, fences)
    for rule in module.RULES
}
"""Every rule by name, in the order in which they run: later rules rely on what earlier ones ensure."""


def problems(program: Program) -> dict[str, list[Problem]]:
    """Every problem by rule; rules without a problem are left out. Empty for a legal program."""
    found = {name: list(rule.check(program)) for name, rule in RULES.items()}
    return {name: listed for name, listed in found.items() if listed}


def verify(program: Program) -> None:
    """Raise for the first violated rule.

    Raises:
        VerificationError: Names the rule, the operation and its author's line, and the sentence of the spec.
    """
    for name, rule in RULES.items():
        for problem in rule.check(program):
            op = problem.op
            raise VerificationError(
                name,
                problem.text,
                subject=None if op is None else print_op(op).split("\n", 1)[0],
                span=program.span if op is None else op.span,
                notes=[f"spec, kir-to-gpu-program 9: {rule.sentence}"],
            )
