"""Random legal plans: the differential tests' source of layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from intent.construct import Analysis, GroupPlan, Inner, Plan, resident, serial
from intent.physical import Guard
from intent.planning.collisions import arranged
from intent.planning.counting import bins_of
from intent.planning.legal import bound_of, divisible, legal, must_be_whole, power_of_two, size_of
from intent.planning.sharing import shareable, with_split
from intent.provider import Capabilities

_LANE_BUDGET = 1 << 15


def random_plan(
    analysis: Analysis,
    capabilities: Capabilities,
    rng: np.random.Generator,
    extents: Mapping[str, int] | None = None,
) -> Plan:
    """A random plan that fits the kernel at ``extents`` (guards included where they hold for them)."""
    known = dict(extents) if extents else None
    whole = must_be_whole(analysis)
    guards: set[Guard] = set()
    inner: list[tuple[str, Inner]] = []
    budget = _LANE_BUDGET
    for label, axis in sorted(analysis.inner.items()):
        value = bound_of(analysis, label, known, 64)
        size = power_of_two(value)
        can_be_resident = axis.extent.launch_visible and size <= min(budget, 2048)
        if label in whole or (can_be_resident and _happens(rng)):
            inner.append((label, resident(size)))
            if axis.extent.launch_visible and axis.extent.const is None and value == size and _happens(rng):
                guards.add(Guard(kind="equal", extent=axis.extent, bound=size))
            budget = max(1, budget // max(1, size))
            continue
        block = int(2 ** rng.integers(0, 6))
        block = min(block, budget)
        budget = max(1, budget // block)
        inner.append((label, serial(block)))
        guard = divisible(axis.extent, block, value)
        if guard is not None and _happens(rng):
            guards.add(guard)
    bins = bins_of(analysis)
    groups = []
    for group in arranged(analysis, capabilities):
        lanes = budget
        instance = []
        for own in group.axes:
            kept = own.owned and group.snapshot
            counts = own.label.split(".")[0] in bins
            may_stay = not own.single and not kept and (counts or len(group.axes) > 1)
            if may_stay and _happens(rng, 0.5 if counts else 0.15):
                continue  # keep this axis inside the instance
            block = 1 if own.single else min(int(2 ** rng.integers(0, 6)), lanes)
            lanes = max(1, lanes // block)
            instance.append((own.label, block))
            guard = divisible(own.extent, block, size_of(own.extent, known, 64))
            if guard is not None and _happens(rng):
                guards.add(guard)
        grouped = int(2 ** rng.integers(0, 3)) if len(instance) >= 2 else 1
        groups.append(GroupPlan(instance=tuple(instance), inner=tuple(inner), grouped=grouped))
    beside = tuple((label, int(2 ** rng.integers(0, 4))) for label in sorted(whole) if _happens(rng))
    groups = [replace(group, beside=beside) for group in groups]
    planes = bool(bins) and capabilities.planes > 0 and _happens(rng)
    plan = Plan(groups=tuple(groups), guards=tuple(sorted(guards, key=str)), planes=planes, name="random")
    return _with_splits(legal(plan, analysis, capabilities), analysis, capabilities, rng)


def _with_splits(
    plan: Plan, analysis: Analysis, capabilities: Capabilities, rng: np.random.Generator
) -> Plan:
    """Some reductions shared out among a few instances, where they can be."""
    for number, group in enumerate(arranged(analysis, capabilities)):
        labels = sorted(shareable(analysis, group, plan.groups[number]))
        if labels and _happens(rng):
            count = int(rng.integers(2, 6))
            plan = with_split(plan, number, str(rng.choice(labels)), count, analysis) or plan
    return plan


def _happens(rng: np.random.Generator, chance: float = 0.5) -> bool:
    return rng.random() < chance
