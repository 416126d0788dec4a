"""Integer facts about extents and index expressions: proved, refuted by numbers, or unknown.

``prove(claim, facts)`` answers :class:`Proved` (with the facts it rests on), :class:`Refuted` (with numbers) or
:class:`Unknown`. Unknown is not proved.
"""

from intent.proof.claims import (
    AtLeast,
    Claim,
    Equal,
    Every,
    Some,
    at_least,
    both,
    either,
    equal,
    fits,
    holds,
    less,
    negation,
    within,
)
from intent.proof.collide import Collision
from intent.proof.decide import CLAIMS, prove
from intent.proof.facts import Fact, Facts
from intent.proof.injective import DESTINATIONS, injective
from intent.proof.outcome import Outcome, Proved, Refuted, Unknown
from intent.proof.points import Axis, Distinct
from intent.proof.ranges import Range, disjoint, subset


def forget() -> None:
    """Drop all kept answers (tests and measurements)."""
    CLAIMS.clear()
    DESTINATIONS.clear()


__all__ = [
    "AtLeast", "Axis", "Claim", "Collision", "Distinct", "Equal", "Every", "Fact", "Facts", "Outcome", "Proved",
    "Range", "Refuted", "Some", "Unknown", "at_least", "both", "disjoint", "either", "equal", "fits", "forget", "holds",
    "injective", "less", "negation", "prove", "subset", "within",
]  # fmt: skip
