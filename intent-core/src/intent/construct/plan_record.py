"""Plans as plain data that JSON can hold, and back."""

from __future__ import annotations

from typing import Any

from intent.construct.plan import GroupPlan, Inner, Plan
from intent.kir.parse import parse_extent
from intent.physical import Guard

__all__ = ["plan_of_record", "record_of_plan"]

Record = dict[str, Any]


def record_of_plan(plan: Plan) -> Record:
    """Lists, strings and integers that say what the plan says."""
    return {
        "name": plan.name,
        "groups": [
            {
                "instance": [[label, block] for label, block in group.instance],
                "inner": [[label, inner.mode, inner.size] for label, inner in group.inner],
                "grouped": group.grouped,
                "collisions": [[op, form] for op, form in group.collisions],
                "split": None if group.split is None else list(group.split),
            }
            for group in plan.groups
        ],
        "guards": [[guard.kind, str(guard.extent), guard.bound] for guard in plan.guards],
        "knobs": [[name, value] for name, value in plan.knobs],
        "online": plan.online,
        "peel": plan.peel,
    }


def plan_of_record(record: Record) -> Plan:
    """The plan of a record. Raises TextError, KeyError, TypeError or ValueError when it is none."""
    return Plan(
        name=record["name"],
        groups=tuple(
            GroupPlan(
                instance=tuple((label, block) for label, block in group["instance"]),
                inner=tuple((label, Inner(mode=mode, size=size)) for label, mode, size in group["inner"]),
                grouped=group["grouped"],
                collisions=tuple((op, form) for op, form in group["collisions"]),
                split=None if group["split"] is None else (group["split"][0], group["split"][1]),
            )
            for group in record["groups"]
        ),
        guards=tuple(
            Guard(kind=kind, extent=parse_extent(extent), bound=bound)
            for kind, extent, bound in record["guards"]
        ),
        knobs=tuple((name, value) for name, value in record["knobs"]),
        online=bool(record["online"]),
        peel=bool(record["peel"]),
    )
