"""Reductions of few instances, shared out among more of them (spec: kir-to-gpu-program 7).

A kernel whose instances do not fill the device spends its time in each of them. Where one walks a long axis in order
and only reduces over it, several may walk parts of it, and the last one to arrive combines what they know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isqrt, prod
from typing import Final

from intent import kir
from intent.construct import Analysis, GroupPlan, Plan, construct
from intent.construct.groups import Group
from intent.diagnostics import NotSupportedYet, PlanError
from intent.physical import BufferAlloc
from intent.physical.walk import walk
from intent.planning.collisions import arranged
from intent.planning.legal import bound_of, size_of
from intent.planning.ragged import average, counted_axes
from intent.planning.tiles import of_matrices
from intent.planning.touched import contractions, producers
from intent.provider import Capabilities, PlanTable

__all__ = ["shareable", "shared_out", "with_split"]

LEAST_ELEMENTS: Final = 8192
"""What an instance should reduce, to be worth its arrival."""
LEAST_BLOCKS: Final = 2
COUNTED_A_BIN: Final = 3
"""Values that an instance counts in the time in which the last one adds one bin of another's.

The whole is done soonest with as many parts as the root of this times the values over the bins.
"""
IN_ORDER: Final = 2
"""Parts of a fold are combined one after the other: the last instance is done sooner with half as many."""
LEAST_PARTS: Final = 4
"""Below that an idle device is not idle enough: what is left goes and is read again."""


def shared_out(
    plan: Plan, analysis: Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None
) -> Plan:
    """The plan with its longest reductions shared out, if the call's extents leave most of the device idle."""
    if extents is None:
        return plan
    known, groups = dict(extents), arranged(analysis, capabilities)
    for number, group in enumerate(groups):
        plan = _dealt_out(plan, number, group, analysis, known)
    programs = sum(_programs(g, p, known) for g, p in zip(groups, plan.groups, strict=True))
    count = capabilities.plans.sharing // max(1, programs)
    if count < LEAST_PARTS:
        return plan
    for number, group in enumerate(groups):
        if plan.groups[number].split is not None:
            continue
        for label, most in _longest(analysis, group, plan.groups[number], known, count, capabilities.plans):
            if most < LEAST_PARTS:
                break
            made = with_split(plan, number, label, most, analysis)
            if made is not None and not _each_stores(made, number, label, analysis):
                plan = replace(made, peel=capabilities.plans.shared_peel)
                break
    return plan


def _dealt_out(plan: Plan, number: int, group: Group, analysis: Analysis, extents: dict[str, int]) -> Plan:
    """The plan with rows of products, of which data says how many there are, in the hands of an instance each.

    Blocks of rows that follow each other in one instance read the other matrix again, long after the others did.
    """
    laid = plan.groups[number]
    points = prod(size_of(a.extent, extents, 1) for a in group.axes if laid.block(a.label) == 1)
    for label in sorted(_rows(analysis, group) & counted_axes(analysis)):
        members = average(analysis, label, extents, points)
        if members is None:
            continue
        made = with_split(plan, number, label, -(-members // laid.traversal(label).size), analysis)
        if made is not None:
            return made
    return plan


def _rows(analysis: Analysis, group: Group) -> set[str]:
    """Labels of the axes that products of matrices leave."""
    label = analysis.classes.label
    products = contractions(analysis, group)
    return {label((op.result.id, k)) for op in products for k in range(op.result.rank)}


def with_split(plan: Plan, number: int, label: str, count: int, analysis: Analysis) -> Plan | None:
    """The plan with one more split, if construction can make it."""
    if count < 2:
        return None
    groups = list(plan.groups)
    groups[number] = replace(groups[number], split=(label, count))
    made = replace(plan, groups=tuple(groups))
    try:
        construct(analysis.kernel, made, analysis)
    except (PlanError, NotSupportedYet):
        return None
    return made


def _each_stores(plan: Plan, number: int, label: str, analysis: Analysis) -> bool:
    """Whether every instance would have storage along the axis, although only the last one to arrive fills it."""
    program = construct(analysis.kernel, plan, analysis)
    along = analysis.upper_bound(analysis.inner[label].extent)
    allocated = [op.buffer for op in walk(program.segments[number].body) if isinstance(op, BufferAlloc)]
    return any(buffer.scope != "invocation" and along in buffer.shape for buffer in allocated)


def shareable(analysis: Analysis, group: Group, plan: GroupPlan) -> set[str]:
    """Labels of axes that reductions or stores of the group walk in order, and that a split may name."""
    stored = {label for label, axis in analysis.inner.items() if "store" in axis.roles}
    walked = stored | {label for label, _ in _reduced(analysis, group)}
    return {label for label in walked if plan.traversal(label).mode == "serial"}


def _programs(group: Group, plan: GroupPlan, extents: dict[str, int]) -> int:
    sizes = {a.label: size_of(a.extent, extents, 1) for a in group.axes}
    return prod(-(-sizes.get(label, 1) // block) for label, block in plan.instance)


def _longest(
    analysis: Analysis, group: Group, plan: GroupPlan, extents: dict[str, int], count: int, table: PlanTable
) -> list[tuple[str, int]]:
    """Labels that may be split and in how many parts, of at most ``count``, the most parts first."""
    found: dict[str, int] = {}
    for label, op in _reduced(analysis, group):
        inner = plan.traversal(label)
        if label not in analysis.inner:
            continue
        members = bound_of(analysis, label, extents, 1)
        most = min(count, -(-members // inner.size) // LEAST_BLOCKS)
        if isinstance(op, kir.RegionFold):
            most = min(most, count // IN_ORDER)
        if isinstance(op, kir.Reduce):
            most = min(
                most, prod(size_of(op.operands[0].shape[k], extents, 1) for k in op.axes) // LEAST_ELEMENTS
            )
        if isinstance(op, kir.Histogram):
            values, bins = (prod(size_of(e, extents, 1) for e in v.shape) for v in (op.values, op.result))
            most = min(most, table.counting_parts, isqrt(COUNTED_A_BIN * values // max(1, bins)))
        found[label] = max(found.get(label, 0), most)
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))


def _reduced(analysis: Analysis, group: Group) -> Iterator[tuple[str, kir.Op]]:
    """The outermost axis that each reduction of the group walks. Products of matrices have better use for instances."""
    label = analysis.classes.label
    for op in producers(analysis, group):
        match op:
            case kir.Reduce():
                yield label((op.operands[0].id, min(op.axes))), op
            case kir.Histogram():
                yield label((op.values.id, 0)), op
            case kir.RegionFold():
                yield label((op.source[0].id, op.axis)), op
            case kir.Contract() if not of_matrices(op):
                yield label((op.lhs.id, op.reduce[0][0])), op
