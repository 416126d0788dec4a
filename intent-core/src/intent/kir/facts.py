"""The launch conditions of a kernel as facts that proofs may rest on (language decision 5)."""

from __future__ import annotations

from collections.abc import Iterable

from intent.kir.value import Condition
from intent.proof import Equal, Fact, Facts, at_least, either, equal
from intent.types.extent import const

__all__ = ["launch_facts"]


def launch_facts(conditions: Iterable[Condition]) -> Facts:
    """What every launch checks before anything is written, whatever branches it takes."""
    return Facts.of(_fact(c) for c in conditions if not c.when)


def _fact(c: Condition) -> Fact:
    because = f"checked at the call: {c.reason}"
    match c.kind:
        case "equal":
            return Fact(claim=equal(c.lhs, c.rhs), because=because)
        case "at_least":
            return Fact(claim=at_least(c.lhs, c.rhs), because=because)
        case "equal_or_one":
            one = const(1)
            choice = either(equal(c.lhs, c.rhs), Equal(c.lhs, one), Equal(c.rhs, one))
            return Fact(claim=choice, because=because)
