"""The verifier of physical programs (spec: kir-to-gpu-program 9).

Every rule is named, cites the sentence that it implements, and yields the problems that it finds. Some need nothing
but the program. Others look at the program beside the frozen kernel: first operation by operation, through origins;
then both are executed on small inputs, and where they part first decides which rule is broken. Nothing here is shared
with construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.diagnostics import VerificationError
from intent.kir import Kernel
from intent.physical.program import Program
from intent.physical.text import print_op
from intent.physical.verify import (
    access,
    atomics,
    buffers,
    computation,
    control,
    effects,
    fences,
    interface,
    order,
    ranges,
    relations,
    shared,
    space,
    storage,
    structured,
    values,
)
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import SENTENCES, Problem, Rule
from intent.physical.verify.trial import Meanings

__all__ = ["RULES", "SENTENCES", "Comparison", "Meanings", "Problem", "Rule", "problems", "verify"]

_ALONE: Final = (values, interface, space, control, structured, access, buffers, fences, shared, ranges)
_BESIDE: Final = (effects, order, relations, computation, atomics, storage)

RULES: Final[dict[str, Rule]] = {rule.name: rule for module in (*_ALONE, *_BESIDE) for rule in module.RULES}
"""Every rule by name, in the order in which they run: later rules rely on what earlier ones ensure."""


def problems(program: Program, kernel: Kernel | None = None) -> dict[str, list[Problem]]:
    """Every problem by rule; rules without a problem are left out. Empty for a legal program.

    With ``kernel`` a program that is legal by itself is compared with it, and executed beside it if nothing else is
    wrong: then one rule at most is named.
    """
    found: dict[str, list[Problem]] = {}
    for name, problem in _found(program, kernel):
        found.setdefault(name, []).append(problem)
    return found


def verify(program: Program, kernel: Kernel | None = None, meanings: Meanings | None = None) -> None:
    """Raise for the first violated rule; with ``kernel``, also of those that compare the program with it.

    ``meanings``: of the kernel, for who verifies several of its programs: what it does is computed once.

    Raises:
        VerificationError: Names the rule, the operation and its author's line, and the sentence of the spec.
    """
    for name, problem in _found(program, kernel, meanings):
        op = problem.op
        raise VerificationError(
            name,
            problem.text,
            subject=None if op is None else print_op(op).split("\n", 1)[0],
            span=program.span if op is None else op.span,
            notes=[f"spec, kir-to-gpu-program 9: {RULES[name].sentence}"],
        )


def _found(
    program: Program, kernel: Kernel | None, meanings: Meanings | None = None
) -> Iterator[tuple[str, Problem]]:
    """Problems in the order of the rules; each stage runs only if the ones before it found nothing."""
    legal = True
    for name, rule in RULES.items():
        for problem in rule.check(program):
            legal = False
            yield name, problem
    if kernel is None or not legal:
        return
    comparison = Comparison(program, kernel, meanings)
    for name, rule in RULES.items():
        for problem in rule.compare(comparison):
            legal = False
            yield name, problem
    difference = comparison.trial.difference if legal else None
    if difference is not None:
        yield difference.rule, Problem(text=f"{difference.text}; {comparison.where}", op=difference.op)
