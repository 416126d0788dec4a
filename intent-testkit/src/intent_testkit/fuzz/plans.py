"""Plans that nobody would choose: odd sizes, every axis kept or every axis owned, guards everywhere, all shared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from intent.construct import Analysis, GroupPlan, Inner, Plan, resident, serial
from intent.planning.legal import legal, must_be_whole, power_of_two, size_of
from intent.planning.sharing import shareable, with_split
from intent.provider import Capabilities


def hostile_plan(
    analysis: Analysis, capabilities: Capabilities, rng: np.random.Generator, extents: Mapping[str, int]
) -> Plan:
    """A plan drawn to provoke: blocks larger than extents, blocks of 2 and 3, axes left inside, order shuffled."""
    known = dict(extents)
    whole = must_be_whole(analysis)
    style = rng.integers(4)
    inner: list[tuple[str, Inner]] = []
    budget = 1 << 12
    for label, axis in sorted(analysis.inner.items()):
        size = power_of_two(size_of(axis.extent, known, 64))
        if label in whole or (axis.extent.launch_visible and size <= min(budget, 64) and style == 1):
            inner.append((label, resident(size)))
            budget = max(1, budget // size)
        else:
            block = min(int(rng.choice((1, 2, 4, 2 * size))), budget)
            inner.append((label, serial(block)))
            budget = max(1, budget // block)
    groups = []
    for group in analysis.groups:
        lanes, instance = budget, []
        for own in group.axes:
            kept = own.owned and group.snapshot
            if not own.single and not kept and rng.random() < (0.0, 0.1, 0.5, 1.0)[style]:
                continue
            size = power_of_two(size_of(own.extent, known, 64))
            block = 1 if own.single else min(int(rng.choice((1, 2, 4, 2 * size))), lanes)
            lanes = max(1, lanes // block)
            instance.append((own.label, block))
        grouped = int(rng.choice((1, 2, 3, 8))) if len(instance) >= 2 else 1
        groups.append(GroupPlan(instance=tuple(instance), inner=tuple(inner), grouped=grouped))
    return legal(Plan(groups=tuple(groups), name="hostile"), analysis, capabilities)


def sharing_plan(plan: Plan, analysis: Analysis, rng: np.random.Generator) -> Plan:
    """The plan with one axis of every group in parts, where any can be: few of them, or more than it has members."""
    for number, group in enumerate(analysis.groups):
        labels = sorted(shareable(analysis, group, plan.groups[number]))
        for label in rng.permutation(labels).tolist():
            made = with_split(plan, number, label, int(rng.choice((2, 3, 5, 33))), analysis)
            if made is not None:
                plan = made
                break
    return plan
