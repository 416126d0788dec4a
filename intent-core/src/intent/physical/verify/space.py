"""Rules on program space: segments lie one after the other and their lengths follow from their axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.physical.program import Program
from intent.physical.verify.rule import EXTENT, OWNERSHIP, Problem, Rule
from intent.types.dtypes import INDEX
from intent.types.extent import const

__all__ = ["RULES"]


def segment_offsets(program: Program) -> Iterator[Problem]:
    """The offset of a segment is the sum of the lengths before it: segments are disjoint, without holes."""
    offset = const(0)
    for segment in program.segments:
        if segment.offset != offset:
            yield Problem(text=f"segment {segment.group} begins at {segment.offset}, not at {offset}")
        offset = offset + segment.length
    groups = [segment.group for segment in program.segments]
    for group in sorted({g for g in groups if groups.count(g) > 1}):
        yield Problem(text=f"two segments carry group {group}")


def segment_lengths(program: Program) -> Iterator[Problem]:
    """The length of a segment is the product of its axes' program counts; the body takes the local id."""
    for segment in program.segments:
        length = const(1)
        for axis in segment.axes:
            if axis.block < 1:
                yield Problem(text=f"axis '{axis.label}' of segment {segment.group} has block {axis.block}")
                return
            length = length * axis.programs
        if segment.length != length:
            yield Problem(text=f"segment {segment.group} has length {segment.length}, its axes {length}")
        arguments = segment.body.args
        if len(arguments) != 1 or arguments[0].dtype != INDEX or arguments[0].dims:
            yield Problem(text=f"the body of segment {segment.group} must take the local id, an index scalar")
        if segment.body.yields:
            yield Problem(text=f"the body of segment {segment.group} yields values that nothing receives")


RULES: Final = (
    Rule(name="segment-offsets", sentence=OWNERSHIP, check=segment_offsets),
    Rule(name="segment-lengths", sentence=EXTENT, check=segment_lengths),
)
