"""Counts and sizes in words."""

from __future__ import annotations

from intent.explain.report import Quantity

__all__ = ["amount", "bytes_of", "times"]

_STEPS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def amount(value: int, unit: str = "") -> str:
    """``1.5 MB``: three digits and a decimal prefix."""
    for prefix, size in _STEPS:
        if value >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value} {unit}".rstrip()


def bytes_of(quantity: Quantity) -> str:
    """``2.1 MB``; ``4*M*N bytes`` without extents, ``?`` where data decides, ``varies`` where programs differ."""
    if quantity.value is not None:
        return amount(quantity.value, "B")
    return quantity.text if quantity.text in ("?", "varies") else f"{quantity.text} bytes"


def times(count: int) -> str:
    """``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
