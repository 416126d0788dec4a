"""Counts and sizes in words."""

from __future__ import annotations

from typing import Final

from intent.explain.quantity import UNKNOWN
from intent.explain.report import Quantity

__all__ = ["amount", "bytes_of", "requested", "times", "words"]

BY_DATA: Final = "data decides"

_STEPS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def amount(value: int, unit: str = "") -> str:
    """``1.5 MB``: three digits and a decimal prefix."""
    for prefix, size in _STEPS:
        if value >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value} {unit}".rstrip()


def bytes_of(quantity: Quantity) -> str:
    """``2.1 MB``; ``4*M*N bytes`` without extents, ``data decides``, ``varies`` where programs differ."""
    if quantity.value is not None:
        return amount(quantity.value, "B")
    text = words(quantity)
    return text if text in (BY_DATA, "varies") else f"{text} bytes"


def words(quantity: Quantity) -> str:
    """The expression as people read it."""
    return BY_DATA if quantity == UNKNOWN else quantity.text


def requested(quantity: Quantity) -> str:
    """``3 MB as requested``, behind how much that is once."""
    return "as often as data decides" if quantity == UNKNOWN else f"{bytes_of(quantity)} as requested"


def times(count: int) -> str:
    """``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
