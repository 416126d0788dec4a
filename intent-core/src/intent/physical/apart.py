"""Claims about a whole program: its segments, its workspace slices and its offsets do not run into each other.

spec: kir-to-gpu-program 4.2 (segments), 5 (every workspace slice has a unique owner). Everything follows from the
program alone, so nothing is stored: whoever wants a proof asks for it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from intent.physical.fragment import Buffer, View
from intent.physical.program import Program, Segment
from intent.proof import (
    Facts,
    Outcome,
    Range,
    Unknown,
    at_least,
    both,
    disjoint,
    equal,
    fits,
    less,
    prove,
    subset,
)
from intent.types.extent import const, var

__all__ = ["OFFSET_BITS", "Claimed", "claims", "largest_offset", "offsets_fit"]

OFFSET_BITS = 32
"""Where every element offset of a launch fits so many bits, providers may compute with them."""


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """One claim about a program, in a sentence, and what can be said of it.

    ``at_launch``: what the program does not decide, every launch decides for its own numbers.
    """

    subject: str
    outcome: Outcome
    at_launch: bool = False


def claims(program: Program) -> Iterator[Claimed]:
    """Segments are apart, slices of the workspace are apart and inside it, offsets fit (at the launch)."""
    facts = launch_facts(program)
    yield from _segments(program, facts)
    yield from (_slices(program, buffer, facts) for buffer in program.workspace if buffer.scope == "program")
    yield from (_offsets(view, facts) for view in program.views)


def launch_facts(program: Program) -> Facts:
    """What holds of every launch: extents of segment axes, and the guards that this variant was built on."""
    facts = Facts()
    for segment in program.segments:
        for axis in segment.axes:
            facts = facts.given(at_least(axis.extent, 0), f"checked at the call: the axis '{axis.label}'")
    for guard in program.guards:
        if guard.kind == "at_most":
            facts = facts.given(at_least(guard.bound, guard.extent), f"guard {guard}")
        elif guard.kind == "equal":
            facts = facts.given(equal(guard.extent, guard.bound), f"guard {guard}")
    return facts


def _segments(program: Program, facts: Facts) -> Iterator[Claimed]:
    for one, other in combinations(program.segments, 2):
        claim = disjoint(_programs(one), _programs(other))
        yield Claimed(
            subject=f"programs of groups {one.group} and {other.group} are apart", outcome=prove(claim, facts)
        )


def _programs(segment: Segment) -> Range:
    return Range(segment.offset, segment.offset + segment.length)


def _slices(program: Program, buffer: Buffer, facts: Facts) -> Claimed:
    """Slice ``i`` belongs to program ``i``: two programs have two slices, both inside the buffer's memory."""
    size = const(1)
    for extent in buffer.shape:
        size = size * extent
        facts = facts.given(at_least(extent, 0), f"checked at the call: the shape of '{buffer.name}'")
    one, other = var("i"), var("j")
    known = facts.between(one, const(0), other - 1).given(less(other, program.length), "j is a program")
    mine, theirs = (Range(p * size, p * size + size) for p in (one, other))
    inside = subset(theirs, Range(const(0), program.length * size))
    return Claimed(
        subject=f"slices of '{buffer.name}' of two programs are apart",
        outcome=prove(both(disjoint(mine, theirs), inside), known),
    )


def _offsets(view: View, facts: Facts) -> Claimed:
    subject = f"offsets into '{view.name}' fit {OFFSET_BITS} bits"
    strides = [stride for stride in view.strides or (None,) * view.rank if isinstance(stride, int)]
    farthest = const(0)
    for extent, stride in zip(view.shape, strides, strict=False):
        farthest = farthest + (extent - 1) * abs(stride)
        facts = facts.given(at_least(extent, 1), "there is an element")
    claim = fits(farthest, OFFSET_BITS)
    if len(strides) < view.rank:
        outcome: Outcome = Unknown(claim=claim, why="a call brings the strides")
    else:
        outcome = prove(claim, facts, solver=False)
    return Claimed(subject=subject, outcome=outcome, at_launch=not outcome.proved)


def largest_offset(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How far the elements of an array lie apart at most, in elements; 0 where there is none."""
    return sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True) if n)


def offsets_fit(arrays: Iterable[tuple[Sequence[int], Sequence[int]]]) -> bool:
    """Whether all offsets of a launch fit: the claim of :func:`claims`, decided by shapes and strides in elements."""
    return all(largest_offset(shape, strides) < 1 << (OFFSET_BITS - 1) for shape, strides in arrays)
