"""Whether the passes of a loop touch disjoint blocks: a fact about one coordinate and one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from intent.physical.fragment import Fragment
from intent.physical.ops import Constant, Lane, Loop, Op, Pointwise
from intent.physical.walk import regions_of, walk
from intent.types.dtypes import INDEX

__all__ = ["advances", "moves_on"]


def moves_on(coordinate: Fragment, loop: Loop, defined: Mapping[int, Op]) -> bool:
    """:func:`advances` for a loop that is complete."""
    inside: set[int] = set()

    def varies(value: Fragment) -> bool:
        if not inside:
            inside.update(a.id for a in loop.body.args)
            for op in walk(loop.body):
                inside.update(r.id for r in op.results)
                inside.update(a.id for region in regions_of(op) for a in region.args)
        return value.id in inside

    return advances(coordinate, loop.body.args[0], loop.step, varies, defined)


def advances(
    coordinate: Fragment,
    index: Fragment,
    step: Fragment,
    varies: Callable[[Fragment], bool],
    defined: Mapping[int, Op],
) -> bool:
    """Whether different passes of a loop give the coordinate different values on all lanes.

    True for ``factor * index + rest`` where the (constant) step moves it further than the lanes of a pass reach; the
    rest is the same in every pass. ``index`` is the loop's counter, ``varies`` whether a value is made inside the
    loop, and ``defined`` maps value ids to their operations. False means not known.
    """
    by = defined.get(step.id)
    if not isinstance(by, Constant) or by.value < 1:
        return False
    if coordinate == index:
        return True
    found = _linear(coordinate, index, varies, defined)
    return found is not None and abs(found[0]) * by.value > found[1]


def _linear(
    value: Fragment, index: Fragment, varies: Callable[[Fragment], bool], defined: Mapping[int, Op]
) -> tuple[int, int] | None:
    """``(factor, reach)``: the value is factor * index + rest, and the lanes' rests are at most reach apart."""
    op = defined.get(value.id)
    if value == index:
        return 1, 0
    if isinstance(op, Lane):
        return 0, op.dim.size - 1
    if value.uniform and (isinstance(op, Constant) or not varies(value)):
        return 0, 0
    if not isinstance(op, Pointwise) or value.dtype != INDEX or op.fn not in ("add", "sub", "mul"):
        return None
    first, second = (_linear(operand, index, varies, defined) for operand in op.operands)
    if first is None or second is None:
        return None
    if op.fn == "mul":
        scales = [defined.get(operand.id) for operand in op.operands]
        for scale, (factor, reach) in zip(scales, (second, first), strict=True):
            if isinstance(scale, Constant):
                return factor * int(scale.value), reach * abs(int(scale.value))
        return None
    sign = -1 if op.fn == "sub" else 1
    return first[0] + sign * second[0], first[1] + second[1]
