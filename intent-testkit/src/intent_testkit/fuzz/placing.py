"""Arguments in memory: views in some layout between guard bytes, or two parameters over one array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from intent_testkit.cases.case import ViewSpec
from intent_testkit.fuzz.kinds import Program, overlaid
from intent_testkit.memory import CONTIGUOUS, FLIPPED, STRIDED, TRANSPOSED, Allocation, allocate


@dataclass(kw_only=True)
class Placed:
    """The views of one call in one layout. ``arrays`` are what is passed."""

    program: Program
    variant: str
    allocations: dict[str, Allocation]

    @classmethod
    def random(cls, program: Program, values: dict[str, Any], rng: np.random.Generator) -> Placed:
        """Copies of the values, half of the time not contiguous."""
        variant = str(rng.choice([CONTIGUOUS] * 3 + [FLIPPED, STRIDED, TRANSPOSED]))
        allocations = {}
        for p in program.views:
            spec = ViewSpec(name=p.name, dtype=p.dtype, shape=p.shape, role=p.role)  # type: ignore[arg-type]
            allocations[p.name] = allocate(spec, values[p.name], variant)
        return cls(program=program, variant=variant, allocations=allocations)

    @property
    def arrays(self) -> dict[str, Any]:
        """Every view by name."""
        return overlaid(self.program, {name: a.view for name, a in self.allocations.items()})

    def check(self) -> None:
        """Raises when bytes outside of the views, or inputs, changed."""
        for allocation in self.allocations.values():
            allocation.check_surroundings()


def shared_pair(program: Program, rng: np.random.Generator) -> tuple[str, str] | None:
    """An In and a written view of one dtype and shape."""
    if any(p.alias for p in program.views):
        return None
    pairs = [
        (a.name, b.name)
        for a in program.views
        for b in program.views
        if a.role == "in"
        and b.role != "in"
        and (a.dtype, a.shape) == (b.dtype, b.shape)
        and a.draw != "index"
    ]
    return pairs[int(rng.integers(len(pairs)))] if pairs else None
