"""What a rule is, the sentences that rules cite, and the walk that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from intent.physical.ops import Op
from intent.physical.program import Program
from intent.physical.walk import walk

if TYPE_CHECKING:
    from intent.physical.verify.comparison import Comparison

__all__ = [
    "ACCESS", "ATOMIC", "BOUNDS", "BUFFER", "CONFLICT", "COORDINATES", "EFFECT", "EXTENT", "FIRST_WRITE", "NARROWING",
    "ORDERED", "OWNERSHIP", "REGION", "SELF_CONTAINED", "SENTENCES", "STRUCTURED", "TYPES", "Problem", "Rule",
    "operations",
]  # fmt: skip

EFFECT: Final = "Each KIR-observable effect is covered by exactly one physical execution slice."
CONFLICT: Final = "Unordered conflicts are resolved by unique, reduction, or atomic semantics."
REGION: Final = (
    "Every region fold/scan has complete segment source relations, summarizer, identity, combine, and scan "
    "apply/emit/result assembly, without segment identity/extent leaking into a KIR-observable value."
)
NARROWING: Final = (
    "Every active-member/range narrowing is an explicit subset of the original relation with a typed "
    "predicate/range proof. It must not be reconstructed from shape, operation name, or an origin side record."
)
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


def _nothing(_: Program | Comparison) -> Iterator[Problem]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A named check. ``sentence`` is the sentence of the spec's construction verifier that it implements.

    ``check`` looks at the program alone. ``compare`` looks at the program beside the frozen kernel it was made from,
    operation by operation. ``trial`` says what breaks the rule when both are executed on small inputs.
    """

    name: str
    sentence: str
    check: Callable[[Program], Iterator[Problem]] = _nothing
    compare: Callable[[Comparison], Iterator[Problem]] = _nothing
    trial: str = ""

    @property
    def needs_kernel(self) -> bool:
        """Whether the rule has nothing to say about a program alone."""
        return self.check is _nothing

    @property
    def compares(self) -> bool:
        """Whether the rule compares operations of program and kernel."""
        return self.compare is not _nothing


SENTENCES: Final = (
    EFFECT, OWNERSHIP, ORDERED, CONFLICT, ACCESS, FIRST_WRITE, STRUCTURED, REGION, TYPES, EXTENT, BUFFER, BOUNDS,
    COORDINATES, NARROWING, ATOMIC, SELF_CONTAINED,
)  # fmt: skip
"""What the construction verifier has to check, in the order of the specification."""


def operations(program: Program) -> Iterator[Op]:
    """Every operation of every segment, nested regions included, outer before inner."""
    for segment in program.segments:
        yield from walk(segment.body)
