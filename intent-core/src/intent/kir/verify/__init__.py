"""The verifier of the logical IR: named rules, one file per family, checked in a fixed order.

The structure comes first, then types, so that later rules may look up what earlier ones established.
"""

from __future__ import annotations

from intent.diagnostics import VerificationError
from intent.kir.kernel import Kernel
from intent.kir.verify.rule import FAMILIES, RULES, Problem, Subject

# Importing a family registers its rules; RULES keeps this order.
# isort: off
from intent.kir.verify import structure as structure
from intent.kir.verify import interface as interface
from intent.kir.verify import values as values
from intent.kir.verify import layout as layout
from intent.kir.verify import memory as memory
from intent.kir.verify import structured as structured
from intent.kir.verify import regions as regions
from intent.kir.verify import control as control
# isort: on

__all__ = ["FAMILIES", "RULES", "Problem", "verify"]


def verify(kernel: Kernel) -> None:
    """Check every rule. Raises VerificationError: the first violated rule's name, its detail, the place."""
    whole = Subject(kernel)
    for name, check in RULES.items():
        for problem in check(whole):
            subject = (
                None
                if problem.op is None
                else f"{type(problem.op).__name__} #{problem.op.id} of {kernel.name}"
            )
            span = kernel.span if problem.op is None else problem.op.span
            raise VerificationError(name, problem.text, subject=subject, span=span)
