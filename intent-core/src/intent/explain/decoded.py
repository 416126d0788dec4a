"""Names for what a program's id is decoded into: the point or the first coordinate of its block along each axis."""

from __future__ import annotations

from collections.abc import Iterator

from intent.explain.activity import Activity
from intent.physical import Fragment, Lane, Pointwise, Segment
from intent.types.extent import const

__all__ = ["decoded"]


def decoded(segment: Segment, activity: Activity) -> dict[int, str]:
    """Names by value. With one axis the id says it all, and there are none."""
    if len(segment.axes) < 2:
        return {}
    names: dict[int, str] = {}
    for value, label in _starts(segment, activity):
        names.setdefault(value.id, f"{label}_start")
    for value, label in _points(segment, activity):
        names.setdefault(value.id, label)
    return names


def _starts(segment: Segment, activity: Activity) -> Iterator[tuple[Fragment, str]]:
    """What the lanes of a block are added to."""
    blocks = {axis.label.replace(".", "_"): axis.block for axis in segment.axes if axis.block > 1}
    for op in activity.defined.values():
        if isinstance(op, Pointwise) and op.fn == "add" and op.result.name in blocks:
            start, lanes = op.operands
            lane = activity.defined.get(lanes.id)
            if isinstance(lane, Lane) and lane.dim.size == blocks[op.result.name] and not start.dims:
                yield start, op.result.name


def _points(segment: Segment, activity: Activity) -> Iterator[tuple[Fragment, str]]:
    """The row-major digits of the id, of axes in blocks of 1."""
    rest: Fragment | None = segment.body.args[0]
    for k, axis in enumerate(segment.axes):
        inner = const(1)
        for other in segment.axes[k + 1 :]:
            inner = inner * other.programs
        if rest is None:
            return
        digit = rest if inner.const == 1 else _divided(activity, "floordiv", rest, inner)
        if digit is not None and axis.block == 1 and digit.id != segment.body.args[0].id:
            yield digit, axis.label.replace(".", "_")
        rest = None if inner.const == 1 else _divided(activity, "mod", rest, inner)


def _divided(activity: Activity, fn: str, value: Fragment, by: object) -> Fragment | None:
    for op in activity.defined.values():
        if not (isinstance(op, Pointwise) and op.fn == fn and op.operands[0].id == value.id):
            continue
        if activity.symbol(op.operands[1]) is by:
            return op.result
    return None
