"""Extents as people read them, with their values where these are known."""

from __future__ import annotations

from collections.abc import Mapping

from intent.explain.report import Quantity
from intent.types import Extent
from intent.types.extent import Atom

__all__ = ["TOGETHER", "UNKNOWN", "Environment", "plain", "quantity", "value_of"]

Environment = Mapping[Atom, int]

UNKNOWN = Quantity(text="?")
"""Only device data decides."""
TOGETHER = Quantity(text="until its last point is done")
"""The same of passes, where points of one program have loops of different lengths."""


def plain(text: str) -> str:
    """Expressions call a scalar ``$G`` to tell it from a symbol; people wrote ``G``."""
    return text.replace("$", "")


def value_of(extent: Extent, env: Environment | None) -> int | None:
    """The value, or None where something in it is not known (or divides by zero)."""
    if extent.const is not None:
        return extent.const
    try:
        return extent.evaluate(env or {})
    except (KeyError, ZeroDivisionError):
        return None


def quantity(extent: Extent | None, env: Environment | None) -> Quantity:
    """``ceildiv(M, 4)``, with 25 when M is known to be 100. What data decides has no expression."""
    if extent is None or not extent.launch_visible:
        return UNKNOWN
    return Quantity(text=plain(str(extent)), value=value_of(extent, env))
