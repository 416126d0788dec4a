"""Why a coordinate is inside its resource, in words."""

from __future__ import annotations

from typing import Final

from intent.physical import Proof

__all__ = ["kind", "why"]

_WORDS: Final = {
    "region": "runs over the axis itself",
    "static": "is a constant inside it",
    "interval": "is bounded by extents",
    "assumed": "is promised by assume_in_bounds",
    "guard": "is tested by the mask",
}


def kind(proof: Proof) -> str:
    """The proof's kind, one word."""
    return str(proof)


def why(proof: Proof) -> str:
    """What follows "it", "every axis" or "axis 1" in a sentence."""
    said = getattr(proof, "why", None)
    return said if isinstance(said, str) else _WORDS[kind(proof)]
