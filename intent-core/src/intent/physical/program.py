"""A physical program: one launch, its segments, interface and conditions (spec: kir-to-gpu-program 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from intent.kir.value import Condition
from intent.physical.fragment import Buffer, Dim, Region, View
from intent.types import DType, Extent, Span
from intent.types.span import UNKNOWN


@dataclass(frozen=True, kw_only=True)
class SegmentAxis:
    """One axis of program space: ``ceildiv(extent, block)`` programs, each owning ``block`` coordinates."""

    label: str
    extent: Extent
    block: int

    @property
    def programs(self) -> Extent:
        from intent.types.extent import ceildiv

        return ceildiv(self.extent, self.block)


@dataclass(frozen=True, kw_only=True)
class Segment:
    """The programs ``offset <= id < offset + length`` of one execution group.

    ``body.args`` is (local id,), the index scalar ``id - offset``; the decode into coordinates is in
    the body. ``parts``: so many neighbours share the reductions of one instance; their last axis counts them.
    """

    group: int
    axes: tuple[SegmentAxis, ...]
    length: Extent
    offset: Extent
    body: Region
    parts: int = 1


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A launch-visible fact this program was built on; a launch that violates it must use another variant.

    ``at_most``: extent <= bound; ``divisible``: extent % bound == 0; ``equal``: extent == bound.
    """

    kind: Literal["at_most", "divisible", "equal"]
    extent: Extent
    bound: int

    def holds(self, value: int) -> bool:
        """Whether the fact is true when the extent has ``value``."""
        match self.kind:
            case "at_most":
                return value <= self.bound
            case "divisible":
                return value % self.bound == 0
            case "equal":
                return value == self.bound

    def __str__(self) -> str:
        test = {
            "at_most": f"<= {self.bound}",
            "divisible": f"% {self.bound} == 0",
            "equal": f"== {self.bound}",
        }
        return f"{self.extent} {test[self.kind]}"


@dataclass(frozen=True, kw_only=True)
class ScalarParam:
    """A runtime scalar of the ABI."""

    name: str
    dtype: DType


@dataclass(frozen=True, kw_only=True)
class Program:
    """A complete, self-contained GPU program.

    ``params`` in the author's order. ``workspace`` lists the buffers that live in the hidden workspace
    argument: slice i of a ``program`` scoped buffer belongs to global program id i. ``dims`` is the global
    dim order. ``knobs`` are provider settings (``num_warps``, ``num_stages``, ...), never meaning.
    """

    name: str
    params: tuple[View | ScalarParam, ...]
    segments: tuple[Segment, ...]
    workspace: tuple[Buffer, ...] = ()
    guards: tuple[Guard, ...] = ()
    conditions: tuple[Condition, ...] = ()
    dims: tuple[Dim, ...] = ()
    knobs: tuple[tuple[str, int], ...] = ()
    span: Span = field(default=UNKNOWN, compare=False)

    def __str__(self) -> str:
        from intent.physical.text import print_program

        return print_program(self)

    @property
    def views(self) -> Iterator[View]:
        return (p for p in self.params if isinstance(p, View))

    @property
    def scalars(self) -> Iterator[ScalarParam]:
        return (p for p in self.params if isinstance(p, ScalarParam))

    @property
    def length(self) -> Extent:
        """Number of programs to launch: the sum of all segment lengths."""
        from intent.types.extent import const

        total = const(0)
        for segment in self.segments:
            total = total + segment.length
        return total
