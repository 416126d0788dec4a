"""Keeping every fragment of a plan within the registers of one program instance.

The rules of the default plan look at one axis at a time; lanes of several axes multiply where a value has them
all. What construction makes of a plan shows which do, so a plan that could be too wide is tried, and its widest
fragment narrowed along its longest axis until it fits. An axis that must be resident, and meets its own class in a
reduction, is walked in blocks there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import Final

from intent.construct import Analysis, GroupPlan, Plan, construct, serial
from intent.diagnostics import PlanError
from intent.physical import Dim, Guard, Program
from intent.physical.walk import walk
from intent.provider import PlanTable

LANES: Final = 32768
"""Lanes of one fragment: 128 registers a thread of 8 warps, as in a matrix tile of 128 x 256."""
LANES_A_WARP: Final = 4096


def fitted(plan: Plan, analysis: Analysis, whole: Iterable[str], table: PlanTable) -> Plan:
    """The plan with blocks narrowed until no fragment has more lanes than fit, where that is possible.

    That is ``LANES``, or as many as the largest matrix tile of the provider has. Axes in ``whole`` stay resident. The
    number of warps grows with the widest fragment.
    """
    fixed = frozenset(whole)
    most = max([LANES, *(t.rows * t.columns for t in table.matrix if t.knobs == plan.knobs)])
    room = LANES_A_WARP * table.warps_of(plan.knobs)
    times = _times(analysis)
    while any(_bound(group, times) > room for group in plan.groups):
        try:
            program = construct(analysis.kernel, plan, analysis)
        except PlanError:
            return plan
        number, dims = _widest(program)
        if prod(d.size for d in dims) <= most:
            return _with_warps(plan, dims, table)
        narrowed = _beside(plan, number, dims, analysis) or _narrowed(plan, number, dims, fixed, analysis)
        if narrowed is None:
            return plan
        plan = narrowed
    return plan


def _times(analysis: Analysis) -> Counter[str]:
    """How many axes of one class a single value has at most, by label."""
    found: Counter[str] = Counter()
    for value in analysis.values.values():
        found |= Counter(analysis.classes.label((value.id, k)) for k in range(value.rank))
    return found


def _bound(group: GroupPlan, times: Counter[str]) -> int:
    """Lanes that no fragment exceeds: of every axis an instance has, as often as one value has it."""
    sizes = (*group.instance, *((label, inner.size) for label, inner in group.inner))
    return prod(size ** max(1, times[label]) for label, size in sizes)


def _widest(program: Program) -> tuple[int, tuple[Dim, ...]]:
    """The number of a segment and the dims of its widest fragment; the widest of all segments."""
    found: tuple[int, tuple[Dim, ...]] = (0, ())
    most = 0
    for number, segment in enumerate(program.segments):
        for op in walk(segment.body):
            for result in op.results:
                lanes = prod(d.size for d in result.dims)
                if lanes > most:
                    most, found = lanes, (number, result.dims)
    return found


def _beside(plan: Plan, number: int, dims: tuple[Dim, ...], analysis: Analysis) -> Plan | None:
    """The plan that walks an axis in blocks where it meets its own class in ``dims``, if these are reduced there.

    A carried vector that is combined with a matrix keeps all its lanes, and goes through the matrix in blocks.
    """
    group, lanes = plan.groups[number], prod(d.size for d in dims)
    met = Counter(d.axis for d in dims)
    for label, inner in group.inner:
        if met[label] < 2 or inner.mode != "resident" or label in dict(group.beside):
            continue
        least = min(d.size for d in dims if d.axis == label)
        block = max(1, LANES * least // lanes)
        laid = replace(group, beside=(*group.beside, (label, block)))
        made = replace(plan, groups=(*plan.groups[:number], laid, *plan.groups[number + 1 :]))
        try:
            _, left = _widest(construct(analysis.kernel, made, analysis))
        except PlanError:
            continue
        if prod(d.size for d in left) < lanes:
            return made
    return None


def _narrowed(
    plan: Plan, number: int, dims: tuple[Dim, ...], fixed: frozenset[str], analysis: Analysis
) -> Plan | None:
    """The plan with the longest narrowable axis of ``dims`` halved in group ``number``; None where all are fixed."""
    group = plan.groups[number]
    for dim in sorted(dims, key=lambda d: -d.size):
        half = dim.size // 2
        if half == 0:
            continue
        inner, instance = dict(group.inner), dict(group.instance)
        if dim.axis in inner and inner[dim.axis].size == dim.size and dim.axis not in fixed:
            inner[dim.axis] = serial(half)
        elif dim.axis in instance and instance[dim.axis] == dim.size:
            instance[dim.axis] = half
        else:
            continue
        groups = list(plan.groups)
        groups[number] = replace(group, inner=tuple(inner.items()), instance=tuple(instance.items()))
        guards = {*plan.guards, *_halved(plan.guards, dim.size)}
        return replace(plan, groups=tuple(groups), guards=tuple(sorted(guards, key=str)))
    return None


def _halved(guards: Iterable[Guard], size: int) -> Iterator[Guard]:
    """What guards on blocks of ``size`` say of blocks of half the size."""
    for guard in guards:
        if guard.bound == size:
            yield Guard(kind="divisible", extent=guard.extent, bound=size // 2)


def _with_warps(plan: Plan, dims: tuple[Dim, ...], table: PlanTable) -> Plan:
    """The plan with at least one warp for every ``LANES_A_WARP`` lanes of the widest fragment."""
    return replace(plan, knobs=table.with_warps(plan.knobs, prod(d.size for d in dims) // LANES_A_WARP))
