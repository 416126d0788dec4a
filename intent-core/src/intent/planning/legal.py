"""Making a plan legal for a kernel and a provider, before construction."""

from __future__ import annotations

from dataclasses import replace

from intent import kir
from intent.construct import Analysis, GroupPlan, Inner, Plan
from intent.construct.copied import steers_itself
from intent.construct.groups import Group
from intent.physical import Guard
from intent.planning.collisions import arranged, formed
from intent.provider import Capabilities
from intent.types import Extent
from intent.types.extent import Atom, Scalar, Symbol


def power_of_two(n: int) -> int:
    """The least power of two that is at least ``n`` (1 for n <= 1)."""
    return 1 << max(0, n - 1).bit_length()


def lanes(size: int, capabilities: Capabilities) -> int:
    """A lane count the provider can have."""
    return power_of_two(size) if capabilities.power_of_two else max(1, size)


def legal(plan: Plan, analysis: Analysis, capabilities: Capabilities) -> Plan:
    """The plan with blocks rounded to what the provider can have, single points kept single, collisions formed.

    Axes that a group must keep whole (:func:`must_be_whole`) are the plan's own business.
    """
    groups = tuple(
        _legal_group(g, p, capabilities)
        for g, p in zip(arranged(analysis, capabilities), plan.groups, strict=True)
    )
    return formed(replace(plan, groups=groups), analysis, capabilities)


def _legal_group(group: Group, plan: GroupPlan, capabilities: Capabilities) -> GroupPlan:
    axes = {a.label: a for a in group.axes}
    instance = tuple(
        (label, 1 if axes[label].single else lanes(block, capabilities))
        for label, block in plan.instance
        if label in axes
    )
    inner = tuple((label, Inner(mode=i.mode, size=lanes(i.size, capabilities))) for label, i in plan.inner)
    beside = tuple((label, lanes(block, capabilities)) for label, block in plan.beside)
    return replace(plan, instance=instance, inner=inner, beside=beside)


def must_be_whole(analysis: Analysis) -> set[str]:
    """Labels of inner axes that need to be resident: carried tensors and reads held at their position."""
    return {
        label for label, axis in analysis.inner.items() if axis.roles & {"carried", "held"}
    } | overwritten(analysis)


def overwritten(analysis: Analysis) -> set[str]:
    """Axes of stores whose destinations depend on what they overwrite, where they stay inside an instance."""
    found = set()
    for group in analysis.groups:
        owned = {axis.label for axis in group.axes if axis.owned}
        for unit in group.units:
            for op, _ in unit.writes:
                match op:
                    case kir.Store() if op.id in group.snapshot and steers_itself(op, analysis.definitions):
                        for k in range(op.value.rank):
                            if group.keys.get(("store", op.id, k)) not in owned:
                                found.add(analysis.classes.label((op.value.id, k)))
    return found


def bound_of(analysis: Analysis, label: str, extents: dict[str, int] | None, otherwise: int) -> int:
    """How many members an inner axis has at most, under the call's extents."""
    e = analysis.inner[label].extent
    bound = analysis.upper_bound(e)
    return otherwise if bound is None else size_of(bound, extents, otherwise)


def size_of(e: Extent, extents: dict[str, int] | None, otherwise: int) -> int:
    """The value of an extent under the call's extents, or a guess."""
    if e.const is not None:
        return e.const
    if extents is None:
        return otherwise
    binding: dict[Atom, int] = {}
    for name, value in extents.items():
        binding[Symbol(name)] = binding[Scalar(name)] = value
    try:
        return e.evaluate(binding)
    except KeyError:
        return otherwise


def divisible(e: Extent, block: int, value: int) -> Guard | None:
    """The guard that blocks cover the extent exactly, when it holds for ``value`` and is not trivially true."""
    if block == 1 or e.const is not None or not e.launch_visible or value % block:
        return None
    return Guard(kind="divisible", extent=e, bound=block)
