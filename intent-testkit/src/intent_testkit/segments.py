"""The expected program space of a case against a program (spec: kir-to-gpu-program 2 and 4)."""

from __future__ import annotations

from typing import Any

from intent_testkit.cases.case import Case


class WrongProgramSpace(AssertionError):
    """The segments of a program are not the ones that the case expects."""


def segments_of(program: Any) -> list[tuple[tuple[str, ...], str]]:
    """Extents of the axes (spaces removed) and length of each segment, as text."""
    return [
        (tuple(str(axis.extent).replace(" ", "") for axis in segment.axes), str(segment.length))
        for segment in program.segments
    ]


def check_segments(case: Case, program: Any) -> None:
    """Raise WrongProgramSpace unless the program's segments are the case's, in any order.

    Groups over equal axes may be one segment or several (section 6: merging compatible groups is a matter of
    profit), so equal segments count once.
    """
    found = segments_of(program)
    wanted = [(spec.axes, spec.length) for spec in case.segments]
    if set(found) != set(wanted):
        lines = [f"'{case.name}': segments under the minimal plan"]
        lines += [f"  expected axes ({', '.join(axes)}), length {length}" for axes, length in wanted]
        lines += [f"  found    axes ({', '.join(axes)}), length {length}" for axes, length in found]
        raise WrongProgramSpace("\n".join(lines))
