"""Rules on structured operations against the kernel's: what they give is what the kernel's operation gives."""

from __future__ import annotations

from typing import Final

from intent.physical.verify.rule import REGION, STRUCTURED, Rule

__all__ = ["RULES"]

RULES: Final = (
    Rule(
        name="structured-faithful",
        sentence=STRUCTURED,
        trial="a reduction, scan, contraction, histogram or loop gives none of the kernel's values",
    ),
    Rule(
        name="region-segments",
        sentence=REGION,
        trial="a region fold or scan gives none of the kernel's values",
    ),
)
