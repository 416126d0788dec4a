"""Why an access is inside its resource, and why a store writes every element once: an object of the program.

spec: kir-to-gpu-program 9 ("proven to be within the target resource by an explicit guard, a verified relation, or
canonical assume_in_bounds"). A proof names the claim that was shown and the facts that it rests on, so that it can be
shown again with :func:`intent.proof.prove`; without one of the facts the access needs its guard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from intent.proof import Claim, Fact

ProofKind = Literal["region", "static", "interval", "predicate", "assumed", "guard"]

_WORDS: Final[dict[ProofKind, str]] = {
    "region": "runs over the axis itself",
    "static": "is a constant inside it",
    "interval": "is bounded by extents",
    "predicate": "is bounded where the access's own predicate holds",
    "assumed": "is promised by the author",
    "guard": "is tested by the mask",
}


@dataclass(frozen=True, kw_only=True)
class Proof:
    """One proof.

    ``region``: the coordinate runs over a region of the axis itself. ``static``: it is a constant. ``interval``: its
    bounds are inside by ``facts``. ``predicate``: also by what the access's ``valid`` says. ``assumed``: a promise of
    the author. ``guard``: ``valid`` tests it. ``claim`` is what was shown, about the bounds that the coordinate has on
    active lanes; None where nothing had to be. ``text`` says claim and facts with the author's names.
    """

    kind: ProofKind
    claim: Claim | None = None
    facts: tuple[Fact, ...] = ()
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        """The kind: how a program prints it."""
        return self.kind

    @property
    def why(self) -> str:
        """What follows "the coordinate" in a sentence: ``is bounded by extents: N - 1 >= i + K because ...``."""
        return f"{_WORDS[self.kind]}: {self.text}" if self.text else _WORDS[self.kind]

    @property
    def once(self) -> str:
        """What is said of a store whose ``unique`` this is; nothing of one element."""
        match self.kind:
            case "static":
                return ""
            case "assumed":
                return "each element once by the author's promise"
            case _:
                reasons = ", ".join(fact.because or str(fact) for fact in self.facts)
                return f"each element once because {reasons}" if reasons else "each element once"


REGION: Final = Proof(kind="region")
STATIC: Final = Proof(kind="static")
ASSUMED: Final = Proof(kind="assumed")
GUARD: Final = Proof(kind="guard")
