"""Rules on effects: every write of the kernel happens, once, to the right elements, with the right values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import EFFECT, OWNERSHIP, Problem, Rule

__all__ = ["RULES"]


def effect_covered(comparison: Comparison) -> Iterator[Problem]:
    """Every write of a view stands in exactly one segment, and nothing else writes a view."""
    for op in comparison.observable:
        segments = {number for number, _ in comparison.placed.get(op.id, ())}
        if not segments:
            yield Problem(text=f"the write of '{op.target.name}' in {_line(op)} is missing")
        elif len(segments) > 1:
            found = comparison.placed[op.id][-1][1]
            yield Problem(
                text=f"the write of '{op.target.name}' stands in {len(segments)} segments", op=found
            )
    for made in comparison.strangers:
        yield Problem(text=f"'{made.target.name}' is written here, but not by the kernel", op=made)


def _line(op: kir.Op) -> str:
    return f"line {op.span.line}" if op.span.line else "the kernel"


RULES: Final = (
    Rule(name="effect-covered", sentence=EFFECT, compare=effect_covered),
    Rule(
        name="ownership-complete",
        sentence=OWNERSHIP,
        trial="an effect leaves elements out, or meets one twice",
    ),
    Rule(name="effect-values", sentence=EFFECT, trial="an effect writes what another function computes"),
)
