"""Rules on order and conflicts: between instances, between lanes, and between the writes of one instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.physical.ops import Atomic, Store
from intent.physical.verify.comparison import Comparison, Write
from intent.physical.verify.rule import CONFLICT, FIRST_WRITE, ORDERED, Problem, Rule

__all__ = ["RULES"]

_ATOMIC_OF: Final = {"sum": "add", "max": "max", "min": "min"}


def conflicts_resolved(comparison: Comparison) -> Iterator[Problem]:
    """A unique write is a store, an atomic an atomic, and a collision an atomic of its kind or an owner's update."""
    for op in comparison.writes:
        for _, made in comparison.placed.get(op.id, ()):
            text = _unresolved(op, made)
            if text:
                yield Problem(text=text, op=made)


def _unresolved(op: Write, made: Store | Atomic) -> str:
    match op:
        case kir.Store() if not isinstance(made, Store):
            return f"the unique write of '{op.target.name}' became an atomic"
        case kir.Atomic() if not isinstance(made, Atomic):
            return f"the atomic of '{op.target.name}' became a plain write"
        case kir.ScatterReduce() if (
            isinstance(made, Atomic)
            and made.kind != "compare_exchange"
            and _ATOMIC_OF.get(op.kind or "") != made.kind
        ):
            return f"a collision by {op.kind or 'a helper'} became an atomic {made.kind}"
    return ""


RULES: Final = (
    Rule(
        name="conflicts-resolved",
        sentence=CONFLICT,
        compare=conflicts_resolved,
        trial="two instances write one element, or one writes what another changes atomically",
    ),
    Rule(name="ordered-instances", sentence=ORDERED, trial="an instance reads what another one writes"),
    Rule(name="effect-order", sentence=FIRST_WRITE, trial="the same writes leave other contents behind"),
)
