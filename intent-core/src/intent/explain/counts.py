"""Counts over all programs of a launch: an expression, a number, or only one of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from intent.explain.quantity import UNKNOWN, Environment, plain, value_of
from intent.explain.report import Quantity
from intent.types import Extent
from intent.types.extent import const

__all__ = ["BY_DATA", "NONE", "Count", "total"]


@dataclass(frozen=True, kw_only=True)
class Count:
    """``extent`` is None where the count differs between programs; ``value`` is None where extents are not known.

    ``by_data``: neither exists, because data decides.
    """

    extent: Extent | None
    value: float | None = None
    by_data: bool = False

    @classmethod
    def of(cls, extent: Extent, env: Environment | None) -> Count:
        """The count of an expression."""
        return cls(extent=extent, value=value_of(extent, env))

    def times(self, factor: int) -> Count:
        """So many times as much."""
        return Count(
            extent=None if self.extent is None else self.extent * factor,
            value=None if self.value is None else self.value * factor,
            by_data=self.by_data,
        )

    @property
    def quantity(self) -> Quantity:
        """As it is reported: ``varies`` stands for an expression that programs differ in."""
        if self.by_data:
            return UNKNOWN
        value = None if self.value is None else round(self.value)
        return Quantity(text="varies" if self.extent is None else plain(str(self.extent)), value=value)


NONE: Final = Count(extent=const(0), value=0)
BY_DATA: Final = Count(extent=None, by_data=True)


def total(counts: Iterable[Count]) -> Count:
    """The sum; what data decides is left out."""
    extent: Extent | None = const(0)
    value: float | None = 0
    for count in counts:
        if not count.by_data:
            extent = None if extent is None or count.extent is None else extent + count.extent
            value = None if value is None or count.value is None else value + count.value
    return Count(extent=extent, value=value)
