"""The rule on atomics against the kernel's: kind, memory order and operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.physical.ops import Atomic
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import ATOMIC, Problem, Rule

__all__ = ["RULES"]


def atomic_faithful(comparison: Comparison) -> Iterator[Problem]:
    """Kind, memory order and number of operands of an atomic are the kernel's, unless compare-and-swap performs it."""
    for op in comparison.writes:
        if not isinstance(op, kir.Atomic):
            continue
        for _, made in comparison.placed.get(op.id, ()):
            if not isinstance(made, Atomic):
                continue
            swapped = made.kind == "compare_exchange" and made.kind != op.kind
            if made.kind != op.kind and not swapped:
                yield Problem(text=f"the kernel's atomic is '{op.kind}', not '{made.kind}'", op=made)
            if made.order != op.order:
                yield Problem(text=f"the kernel orders this atomic '{op.order}', not '{made.order}'", op=made)
            if len(made.operands) != len(op.operands) and not swapped:
                yield Problem(text="the atomic has another number of operands than the kernel's", op=made)


RULES: Final = (Rule(name="atomic-faithful", sentence=ATOMIC, compare=atomic_faithful),)
