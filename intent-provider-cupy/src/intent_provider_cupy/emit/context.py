"""What the segments of one kernel share while they are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent.physical import Dim, ScalarParam
from intent.provider.emission import Bounds, Namer
from intent_provider_cupy.emit.extents import ExtentWriter
from intent_provider_cupy.emit.scratch import Scratch
from intent_provider_cupy.emit.signature import SignatureBuilder


@dataclass
class Context:
    """What all segments of one kernel share."""

    namer: Namer
    signature: SignatureBuilder
    bounds: Bounds
    scalars: dict[str, ScalarParam]
    extents: ExtentWriter
    scratch: Scratch
    threads: int
    widest: int = 16
    stages: int = 1
    most_tiles: int = 0
    """Most bytes of all tiles at one time."""
    kept: int = 0
    """Most bytes of rows that stay in shared memory between walks."""
    tensor_cores: bool = False
    """Whether some contraction runs on tensor cores."""
    few_rows: bool = True
    """Whether those all have few rows: what counts is how many blocks a multiprocessor has."""
    program_id: str = ""
    counters: dict[Dim, str] = field(default_factory=dict)
    special: dict[tuple[Dim, str], str] = field(default_factory=dict)

    def counter(self, dim: Dim) -> str:
        """The name of the register counter of a dim."""
        if dim not in self.counters:
            self.counters[dim] = self.namer.fresh(f"{dim.name}_r")
        return self.counters[dim]

    def vector_counter(self, dim: Dim) -> str:
        """The name of the counter of a dim's vectors."""
        return self._special(dim, "v")

    def element_counter(self, dim: Dim) -> str:
        """The name of the counter of the elements of a vector along a dim."""
        return self._special(dim, "k")

    def _special(self, dim: Dim, kind: str) -> str:
        if (dim, kind) not in self.special:
            self.special[dim, kind] = self.namer.fresh(f"{dim.name}_{kind}")
        return self.special[dim, kind]


@dataclass
class Run:
    """How many neighbouring lanes a thread holds: ``length`` if all ``needs`` hold, one if not or if nobody cares."""

    length: int
    wanted: bool = False
    needs: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """The definition of the constant."""
        if not self.needs:
            return f"constexpr int {name} = {self.length if self.wanted else 1};"
        return f"constexpr int {name} = {' && '.join(self.needs)} ? {self.length} : 1;"
