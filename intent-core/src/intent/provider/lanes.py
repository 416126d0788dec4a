"""Fragments that a target does not take: asked before a program is emitted, of every provider."""

from __future__ import annotations

from math import prod

from intent.diagnostics import CapabilityError
from intent.physical import Program
from intent.physical.walk import walk


def require_lanes(program: Program, provider: str, most: int) -> None:
    """Refuse fragments of more than ``most`` elements. Raises CapabilityError with the author's line."""
    for segment in program.segments:
        for op in walk(segment.body):
            size = max((prod(d.size for d in result.dims) for result in op.results), default=1)
            if size > most:
                raise CapabilityError(
                    provider, capability="fragments this large", needed=f"{size} lanes",
                    offered=f"{most} lanes", span=op.span,
                )  # fmt: skip
