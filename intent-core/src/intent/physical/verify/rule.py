"""What a rule is, the sentences that rules cite, and the walk that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from intent.physical.ops import Op
from intent.physical.program import Program
from intent.physical.walk import walk

__all__ = [
    "ACCESS", "ATOMIC", "BOUNDS", "BUFFER", "COORDINATES", "EXTENT", "FIRST_WRITE", "ORDERED", "OWNERSHIP",
    "SELF_CONTAINED", "STRUCTURED", "TYPES", "Problem", "Rule", "operations",
]  # fmt: skip

OWNERSHIP: Final = (
    "Ownership of every logical result/member is complete without overlap undefined by the semantics."
)
ORDERED: Final = "Ordered dependencies are not broken across independent program instances."
ACCESS: Final = "Coordinates, validity, and fill/effect are complete for every access."
FIRST_WRITE: Final = (
    "Every buffer preserves its initial value or the author's first-write obligation, "
    "with complete ordered read/write dependencies."
)
STRUCTURED: Final = "Every structured operation has complete operands, results, regions, and accumulator."
TYPES: Final = "All physical values have legal scalar/fragment types."
EXTENT: Final = (
    "Every runtime program-space extent depends only on launch-visible values; "
    "data-derived member domains still have complete traversal inside the program."
)
BUFFER: Final = (
    "Every buffer has complete allocation scope, instance identity, initialization mode/coverage, "
    "ownership, and visibility."
)
BOUNDS: Final = (
    "Every dynamic/indexed access is proven to be within the target resource by an explicit guard, "
    "a verified relation, or canonical assume_in_bounds."
)
COORDINATES: Final = (
    "Every physical coordinate expression has source identity/rank and complete SSA provenance; "
    "slice/broadcast/reshape/transpose/helper-call composition is equivalent to the KIR relation."
)
ATOMIC: Final = (
    "Every atomic operation preserves order, logical sharing domain, and result semantics, "
    "and a legal provider scope can be obtained from physical mapping."
)
SELF_CONTAINED: Final = "The physical program needs neither KIR nor side records to interpret execution."


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One violation: what is wrong, and the operation at fault if there is one."""

    text: str
    op: Op | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A named check. ``sentence`` is the sentence of the spec's construction verifier that it implements."""

    name: str
    sentence: str
    check: Callable[[Program], Iterator[Problem]]


def operations(program: Program) -> Iterator[Op]:
    """Every operation of every segment, nested regions included, outer before inner."""
    for segment in program.segments:
        yield from walk(segment.body)
