"""The minimal plan: the spec's initial program (spec: kir-to-gpu-program 4)."""

from __future__ import annotations

from collections.abc import Mapping

from intent.construct import Analysis, GroupPlan, Plan, resident
from intent.planning.collisions import arranged
from intent.planning.legal import bound_of, legal, must_be_whole, power_of_two
from intent.provider import Capabilities


def minimal(analysis: Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None = None) -> Plan:
    """Every axis that instances can own without sharing work in blocks of 1, every inner axis element by element.

    Axes of carried tensors are resident, guarded by the extents of the call (4096 when they are not known).
    """
    whole = must_be_whole(analysis)
    inner = tuple(
        (label, resident(power_of_two(bound_of(analysis, label, dict(extents) if extents else None, 4096))))
        for label in sorted(whole)
        if label in analysis.inner
    )
    groups = tuple(
        GroupPlan(instance=tuple((a.label, 1) for a in g.axes if a.owned), inner=inner)
        for g in arranged(analysis, capabilities)
    )
    return legal(Plan(groups=groups, name="minimal"), analysis, capabilities)
