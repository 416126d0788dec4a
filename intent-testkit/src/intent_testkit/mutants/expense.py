"""What a program costs, counted in its text: a compiler that is right, but dearer, is no wrong compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from intent import physical as ph
from intent.physical.walk import walk

Expense = Counter[str]


def expense(program: ph.Program) -> Expense:
    """Fences, loads and loops, masked and tested accesses, and axes that instances are not spread over."""
    found: Expense = Counter()
    for segment in program.segments:
        found["axes spread over instances"] -= len(segment.axes)
        for op in walk(segment.body):
            if isinstance(op, ph.Fence | ph.Load | ph.Loop):  # more arithmetic may be wrong arithmetic
                found[f"{type(op).__name__.lower()}s"] += 1
            if isinstance(op, ph.Load | ph.Store | ph.Atomic):
                found["masks"] += op.valid is not None
                found["tests of bounds"] += sum(proof.kind == "guard" for proof in op.proofs)
    found["guards of the launch"] = len(program.guards)
    return found


def together(expenses: Iterable[Expense]) -> Expense:
    """The sum; negative counts stay."""
    total: Expense = Counter()
    for each in expenses:
        total.update(each)
    return total


def dearer(made: Expense, right: Expense) -> list[str]:
    """What there is more of than the right compiler makes."""
    return sorted(kind for kind in {*made, *right} if made[kind] > right[kind])
