"""Points with numbers of members of their own, such as the rows of a compressed matrix."""

from __future__ import annotations

from typing import Final

from intent import kir
from intent.construct import Analysis
from intent.kir.walk import walk
from intent.planning.legal import bound_of

LEAST: Final = 8
"""Lanes of a point that has few members."""


def counted_axes(analysis: Analysis) -> set[str]:
    """Labels of the axes inside instances whose length only data says."""
    return {label for label, axis in analysis.inner.items() if not axis.extent.launch_visible}


def average(analysis: Analysis, label: str, extents: dict[str, int] | None, points: int) -> int | None:
    """How many members each of ``points`` points has on average, if they share out the axis ``label``.

    They do where the first member, too, is the point's own: data says where it is. None where nothing says how many
    there are together, or every point may have all of them.
    """
    regions = [
        op
        for op in walk(analysis.kernel.body)
        if isinstance(op, kir.Iota) and analysis.classes.label((op.result.id, 0)) == label
    ]
    own = (not analysis.definitions.symbol(op.begin).launch_visible for op in regions)
    if extents is None or not regions or not all(own):
        return None
    members = bound_of(analysis, label, extents, 0)
    return -(-members // max(1, points)) if members else None
