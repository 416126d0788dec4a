"""Rules on accesses against the kernel's relations: coordinates, validity, fill, and members that are taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.physical.ops import Constant
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import (
    ACCESS,
    BOUNDS,
    COORDINATES,
    EXTENT,
    NARROWING,
    Problem,
    Rule,
    operations,
)

__all__ = ["RULES"]


def access_fill(comparison: Comparison) -> Iterator[Problem]:
    """A read whose invalid lanes have a literal for a fill in the kernel has the same one here."""
    made = {r.id: op for op in operations(comparison.program) if isinstance(op, Constant) for r in op.results}
    literals: dict[int, kir.Constant] = {
        r.id: op for op in comparison.operations.values() if isinstance(op, kir.Constant) for r in op.results
    }
    for origin, loads in comparison.reads.items():
        op = comparison.operations.get(origin)
        if not isinstance(op, kir.Load) or op.valid is None:
            continue
        wanted = _literal(op.fill, literals)
        for load in loads:
            if load.source.name != op.source.name or load.valid is None or wanted is None:
                continue
            if load.fill is not None and load.fill.id not in made:
                continue
            given = _zero(op.result) if load.fill is None else made[load.fill.id].value
            if repr(given) != repr(wanted):
                yield Problem(
                    text=f"invalid lanes of this read give {given}, in the kernel {wanted}", op=load
                )


def _literal(fill: kir.Value | None, literals: dict[int, kir.Constant]) -> bool | int | float | None:
    """What the invalid lanes give in the kernel, if it is a literal."""
    if fill is None:
        return None
    return literals[fill.id].value if fill.id in literals else None


def _zero(value: kir.Value) -> bool | int | float:
    """What invalid lanes give where nothing is said."""
    return 0.0 if value.dtype.is_float else 0 if value.dtype.is_integer else False


RULES: Final = (
    Rule(name="access-fill", sentence=ACCESS, compare=access_fill),
    Rule(name="access-validity", sentence=ACCESS, trial="an effect happens where the kernel's is invalid"),
    Rule(name="access-inside", sentence=BOUNDS, trial="an active lane is outside of the resource"),
    Rule(
        name="coordinate-relation",
        sentence=COORDINATES,
        trial="an access takes other elements than the kernel's relation, or pairs them otherwise",
    ),
    Rule(
        name="narrowing-subset", sentence=NARROWING, trial="a mask or a bound leaves out members that count"
    ),
    Rule(name="member-traversal", sentence=EXTENT, trial="the steps of a traversal leave out members"),
)
