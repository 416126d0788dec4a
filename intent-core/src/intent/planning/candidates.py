"""Plans worth measuring for one kernel at one call's extents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from intent.construct import Analysis, GroupPlan, Plan, serial
from intent.construct.plan import knobs
from intent.planning.default import default
from intent.planning.legal import legal
from intent.planning.random_plans import random_plan
from intent.provider import Capabilities

__all__ = ["candidates"]

_RANDOM = 64


def candidates(
    analysis: Analysis,
    capabilities: Capabilities,
    extents: Mapping[str, int],
    settings: Mapping[str, Sequence[int]],
    count: int,
) -> list[Plan]:
    """Up to ``count`` different plans, the default one first, then its neighbours, then random ones.

    ``settings``: the provider's knobs and their useful values. The same arguments give the same plans.
    """
    return list(islice(_distinct(_all(analysis, capabilities, extents, settings)), count))


def _distinct(plans: Iterator[Plan]) -> Iterator[Plan]:
    seen = set()
    for plan in plans:
        if plan not in seen:
            seen.add(plan)
            yield plan


def _all(
    analysis: Analysis,
    capabilities: Capabilities,
    extents: Mapping[str, int],
    settings: Mapping[str, Sequence[int]],
) -> Iterator[Plan]:
    first = default(analysis, capabilities, extents)
    yield first
    for near in _neighbours(first, settings):
        yield legal(near, analysis, capabilities)
    rng = np.random.default_rng(0)
    for _ in range(_RANDOM):
        drawn = random_plan(analysis, capabilities, rng, extents)
        yield replace(drawn, knobs=first.knobs, name="random")


def _neighbours(plan: Plan, settings: Mapping[str, Sequence[int]]) -> Iterator[Plan]:
    """Plans that differ in one decision: knobs one step up or down, blocks and parts halved or doubled, or no parts."""
    chosen = dict(plan.knobs)
    for name, values in settings.items():
        if name in chosen:
            at = [k for k, value in enumerate(values) if value <= chosen[name]]
            near = values[max(0, len(at) - 2) : len(at) + 1]
            for value in near:
                yield replace(plan, knobs=knobs({**chosen, name: value}), name=f"{name} {value}")
    for n, group in enumerate(plan.groups):
        for other, name in _laid_otherwise(group):
            yield _with_group(plan, n, other, name)


def _laid_otherwise(group: GroupPlan) -> Iterator[tuple[GroupPlan, str]]:
    for label, size, blocks in _resized(group.instance):
        yield replace(group, instance=blocks), f"{label} {size}"
    if group.split is not None:
        label, count = group.split
        yield replace(group, split=None), f"{label} alone"
        for parts in (count // 2, count * 2):
            if parts > 1:
                yield replace(group, split=(label, parts)), f"{label} split {parts}"
    for label, size, blocks in _resized(group.beside):
        yield replace(group, beside=blocks), f"{label} beside {size}"
    for k, (label, inner) in enumerate(group.inner):
        for size in (inner.size // 2, inner.size * 2):
            if size and inner.mode == "serial":
                walked = (*group.inner[:k], (label, serial(size)), *group.inner[k + 1 :])
                yield replace(group, inner=walked), f"{label} {size}"


def _resized(blocks: tuple[tuple[str, int], ...]) -> Iterator[tuple[str, int, tuple[tuple[str, int], ...]]]:
    """Each block halved and doubled: its label, its new size, and all blocks."""
    for k, (label, block) in enumerate(blocks):
        for size in (block // 2, block * 2):
            if size:
                yield label, size, (*blocks[:k], (label, size), *blocks[k + 1 :])


def _with_group(plan: Plan, number: int, group: GroupPlan, name: str) -> Plan:
    """Another group in its place. Guards on blocks that are gone stay: they hold for the call, and cost nothing."""
    groups = (*plan.groups[:number], group, *plan.groups[number + 1 :])
    return replace(plan, groups=groups, name=name)
