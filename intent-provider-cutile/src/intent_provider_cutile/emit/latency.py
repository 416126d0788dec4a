"""How far ahead the compiler loads what a loop's products use.

A plan's ``latency`` is the hint (1 to 10) of the loads that the first product of a loop waits for; the second product,
which waits for the first, gets twice as much, and so on: with one number for all, the compiler fetches both operands of
a step at once, and the first product starts late.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent.physical import Broadcast, Cast, Contract, Fragment, Load, Loop, Op, Program, Rename
from intent.physical.walk import walk

MOST = 10
"""The greatest hint that the language takes."""


def latencies(program: Program, base: int | None) -> dict[int, int]:
    """The hint of each load by its Python identity; nothing without ``base``."""
    found: dict[int, int] = {}
    if base is None:
        return found
    for segment in program.segments:
        for loop in (op for op in walk(segment.body) if isinstance(op, Loop)):
            products = [op for op in loop.body.ops if isinstance(op, Contract)]
            made = {r.id: op for op in loop.body.ops for r in op.results}
            for number, product in enumerate(products, start=1):
                for load in _loads(made, (product.lhs, product.rhs)):
                    found.setdefault(id(load), min(MOST, base * number))
    return found


def _loads(made: dict[int, Op], operands: tuple[Fragment, ...]) -> Iterator[Load]:
    """Loads in the loop whose values are the operands, in another order or dtype at most."""
    for operand in operands:
        op = made.get(operand.id)
        while isinstance(op, Rename | Broadcast | Cast):
            op = made.get(op.value.id)
        if isinstance(op, Load):
            yield op
