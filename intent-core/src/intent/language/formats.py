"""Closed data formats of scaled contractions (spec: logical-program 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ScaledFormat", "e2m1", "e4m3", "e8m0"]


@dataclass(frozen=True, kw_only=True)
class ScaledFormat:
    """How one element or one scale of a microscaled operand is encoded.

    ``bits`` is the width of one logical element, ``carrier`` the dtype of the stored array and
    ``per_carrier`` how many elements one stored item holds, lowest bits first.
    """

    name: str
    role: Literal["element", "scale"]
    bits: int
    carrier: str
    per_carrier: int = 1

    def __repr__(self) -> str:
        return f"I.{self.name}"


e2m1: Final = ScaledFormat(name="e2m1", role="element", bits=4, carrier="u8", per_carrier=2)
"""4-bit floats, two in one u8, the low nibble first."""

e4m3: Final = ScaledFormat(name="e4m3", role="element", bits=8, carrier="f8e4m3fn")
"""8-bit floats, one in each element."""

e8m0: Final = ScaledFormat(name="e8m0", role="scale", bits=8, carrier="u8")
"""Power-of-two scales in u8: ``2 ** (bits - 127)``; 255 is NaN."""
