"""Plans as plain data that JSON can hold, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from intent.construct.plan import GroupPlan, Inner, Plan
from intent.diagnostics import TextError
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
                "beside": [[label, block] for label, block in group.beside],
            }
            for group in plan.groups
        ],
        "guards": [[guard.kind, str(guard.extent), guard.bound] for guard in plan.guards],
        "knobs": [[name, value] for name, value in plan.knobs],
        "online": plan.online,
        "peel": plan.peel,
        "planes": plan.planes,
    }


def plan_of_record(record: Record) -> Plan:
    """The plan of a record.

    A plan's field that the record lacks is younger than the record: its default is what plans meant without it. A
    field that plans lack would be ignored, so it is refused.

    Raises:
        TextError: The record says what no plan of this version says.
        LookupError, TypeError, ValueError, AttributeError: It is no record of a plan.
    """
    _require_known(record, Plan)
    for group in record["groups"]:
        _require_known(group, GroupPlan)
    return Plan(
        groups=tuple(map(_group, record["groups"])),
        guards=tuple(
            Guard(kind=kind, extent=parse_extent(extent), bound=bound)
            for kind, extent, bound in record["guards"]
        ),
        knobs=tuple((name, value) for name, value in record["knobs"]),
        name=record["name"],
        **{name: _truth(record, name) for name in ("online", "peel", "planes") if name in record},
    )


def _group(record: Record) -> GroupPlan:
    split = record.get("split")
    if split is not None:
        label, count = split
        split = (label, count)
    return GroupPlan(
        instance=tuple((label, block) for label, block in record["instance"]),
        inner=tuple((label, Inner(mode=mode, size=size)) for label, mode, size in record["inner"]),
        grouped=record["grouped"],
        collisions=tuple((op, form) for op, form in record["collisions"]),
        split=split,
        beside=tuple((label, block) for label, block in record.get("beside", ())),
    )


def _require_known(record: Record, kind: type[Plan | GroupPlan]) -> None:
    strange = sorted(record.keys() - {field.name for field in fields(kind)})
    if strange:
        raise TextError(f"its plan has '{strange[0]}', which this version does not know")


def _truth(record: Record, name: str) -> bool:
    value = record[name]
    if not isinstance(value, bool):
        raise TextError(f"'{name}' of its plan is {value!r}, neither true nor false")
    return value
