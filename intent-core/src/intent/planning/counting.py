"""Histograms in a plan: all bins in lanes of one instance, values in blocks (spec: kir-to-gpu-program 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from intent import kir
from intent.construct import Analysis
from intent.construct.groups import Group
from intent.kir.walk import walk
from intent.provider import Capabilities
from intent.types import Extent

__all__ = ["bins_in_lanes", "bins_of", "histograms_of", "most_bins", "values_of"]

COUNTED = 4096
"""Most bins of a histogram that is counted by atomics in storage of an instance."""
IN_PLANES = 1 << 22
"""Values in a row from which on bit planes are worth it: adding up the lanes costs as much as thousands of them."""


def most_bins(capabilities: Capabilities) -> int:
    """How many bins the target counts at once: natively, or by atomics."""
    return max(capabilities.histogram, COUNTED if ("add", "i32") in capabilities.atomics else 0)


def bins_of(analysis: Analysis) -> set[str]:
    """Labels of the axes that are bins of some histogram."""
    return {analysis.classes.label((op.result.id, 0)) for op in histograms_of(walk(analysis.kernel.body))}


def histograms_of(producers: Iterable[kir.Op]) -> list[kir.Histogram]:
    """The histograms among the operations that a group needs."""
    return [op for op in producers if isinstance(op, kir.Histogram)]


def bins_in_lanes(
    ops: Iterable[kir.Histogram],
    group: Group,
    analysis: Analysis,
    size: Callable[[Extent], int | None],
    most: int,
) -> dict[str, Extent]:
    """The axes of bins, by label, if every histogram has at most ``most`` bins; else none.

    ``size`` gives the members of an axis, or None where they are not known.
    """
    found: dict[str, Extent] = {}
    for op in ops:
        label = analysis.classes.label((op.result.id, 0))
        taken = {analysis.classes.label((op.values.id, k)) for k in range(op.values.rank)}
        bins = size(op.result.shape[0])
        known = label in analysis.inner or any(a.label.split(".")[0] == label for a in group.axes)
        if bins is None or bins > most or not known or label in taken:
            return {}
        found[label] = op.result.shape[0]
    return found


def values_of(ops: Iterable[kir.Histogram], analysis: Analysis) -> list[str]:
    """Labels of the axes that are counted, the last axis of each histogram first."""
    return list(
        dict.fromkeys(
            analysis.classes.label((op.values.id, k)) for op in ops for k in reversed(range(op.values.rank))
        )
    )
