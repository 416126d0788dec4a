"""Which form each colliding write takes on a target (architecture: scatter_reduce)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from intent import kir
from intent.construct import Analysis, Plan
from intent.construct.groups import Group
from intent.construct.plan import Form
from intent.kir.walk import walk
from intent.provider import Capabilities

_ATOMIC: Final[dict[str | None, str]] = {"sum": "add", "max": "max", "min": "min"}


def form_of(op: kir.ScatterReduce | kir.Atomic, capabilities: Capabilities) -> Form:
    """One atomic of the target; else a loop around its compare-and-swap; else one owner for each element.

    An atomic that the target cannot make stays native: what has no owner is an error of the provider.
    """
    dtype = op.target.dtype.name
    kind = op.kind if isinstance(op, kir.Atomic) else _ATOMIC.get(op.kind)
    if (kind, dtype) in capabilities.atomics:
        return "native"
    if ("compare_exchange", dtype) in capabilities.atomics:
        return "exchange"
    return "native" if isinstance(op, kir.Atomic) else "ordered"


def forms(analysis: Analysis, capabilities: Capabilities) -> dict[int, Form]:
    """The form of every colliding write and atomic of a kernel."""
    return {
        op.id: form_of(op, capabilities)
        for op in walk(analysis.kernel.body)
        if isinstance(op, kir.ScatterReduce | kir.Atomic)
    }


def arranged(analysis: Analysis, capabilities: Capabilities) -> list[Group]:
    """The groups with the axes that instances may have on this target."""
    found = forms(analysis, capabilities)
    return [group.in_order(_ordered(group, found)) for group in analysis.groups]


def _ordered(group: Group, found: dict[int, Form]) -> Collection[int]:
    return [op for op in group.collisions if found[op] == "ordered"]


def formed(plan: Plan, analysis: Analysis, capabilities: Capabilities) -> Plan:
    """The plan with a form for every colliding access that it says nothing about, if it is one for the kernel."""
    if len(plan.groups) != len(analysis.groups):
        return plan
    found = forms(analysis, capabilities)
    groups = []
    for group, laid in zip(analysis.groups, plan.groups, strict=True):
        mine = {op: form for op, form in found.items() if op in group.statements}
        groups.append(replace(laid, collisions=tuple(sorted((mine | dict(laid.collisions)).items()))))
    return replace(plan, groups=tuple(groups))
