"""Whether the passes of a loop touch disjoint blocks: a fact about one coordinate and one loop."""

from __future__ import annotations

from collections.abc import Mapping

from intent.physical.fragment import Fragment
from intent.physical.ops import Constant, Lane, Loop, Op, Pointwise

__all__ = ["moves_on"]


def moves_on(coordinate: Fragment, loop: Loop, defined: Mapping[int, Op]) -> bool:
    """Whether different passes of ``loop`` give the coordinate different values on all lanes.

    True for the loop's index, and for the index plus the lanes of a dim no longer than the (constant) step.
    ``defined`` maps value ids to their operations. False means not known.
    """
    step = defined.get(loop.step.id)
    if not isinstance(step, Constant) or step.value < 1:
        return False
    index = loop.body.args[0]
    if coordinate == index:
        return True
    op = defined.get(coordinate.id)
    if not isinstance(op, Pointwise) or op.fn != "add" or index not in op.operands:
        return False
    others = [value for value in op.operands if value != index]
    lane = defined.get(others[0].id) if len(others) == 1 else None
    return isinstance(lane, Lane) and lane.dim.size <= step.value
