"""The three answers: proved, refuted by numbers, or unknown. Unknown is not proved: what it asked for stays guarded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from intent.proof.claims import Claim
from intent.proof.facts import Fact
from intent.proof.points import Distinct
from intent.types.extent import Atom

Method = Literal["constants", "polynomial", "z3"]
"""How a claim was proven: by evaluating it; by adding up facts; by the solver."""


@dataclass(frozen=True, kw_only=True)
class Proved:
    """The claim follows from ``facts``, those that the proof used."""

    claim: Claim | Distinct
    facts: tuple[Fact, ...] = ()
    method: Method = "constants"

    @property
    def proved(self) -> bool:
        return True

    def __str__(self) -> str:
        """``N - 1 >= i because i < N (loop over i)``."""
        reasons = ", ".join(map(str, self.facts))
        return f"{self.claim} because {reasons}" if reasons else str(self.claim)


@dataclass(frozen=True, kw_only=True)
class Refuted:
    """``model`` satisfies every fact and makes the claim false."""

    claim: Claim
    model: Mapping[Atom, int] = field(compare=False)

    @property
    def proved(self) -> bool:
        return False

    def __str__(self) -> str:
        values = ", ".join(f"{atom} = {value}" for atom, value in self.model.items())
        return f"{self.claim} is false for {values or 'every value'}"


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Neither was shown within the limits."""

    claim: Claim | Distinct
    why: str = ""

    @property
    def proved(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{self.claim} is not decided{': ' + self.why if self.why else ''}"


Outcome = Proved | Refuted | Unknown
