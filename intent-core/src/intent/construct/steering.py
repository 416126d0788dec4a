"""Parallel points that steer control: which may share an instance with others, and which must not.

Loops of points that share an instance go on as far as the longest one's needs (:mod:`intent.construct.alive`), and so
does a walk over members that data counts: the others mask what they do not have. What keeps a point alone is a
value with a run-time number of elements that is held as a whole, and a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent.construct.alias import alias_class
from intent.construct.demand import AxisKey
from intent.construct.effects import Effects
from intent.construct.units import Unit
from intent.kir.walk import regions_of, walk


def steering_points(effects: Effects, units: list[Unit]) -> tuple[set[AxisKey], set[AxisKey]]:
    """Parallel points of which an instance can have one only, and those whose loops may be of different lengths."""
    single: set[AxisKey] = set()
    uneven: set[AxisKey] = set()
    for unit in units:
        inside = [o for r in regions_of(unit.op) for o in walk(r)]
        for f in (*unit.prefix, *(o for o in (unit.op, *inside) if isinstance(o, kir.For) and o.parallel)):
            tainted = _tainted(effects, f.body.args[0])
            if any(_alone(effects, op, tainted) for op in walk(f.body)):
                single.add(("for", f.id, 0))
            if any(_uneven(op, tainted) for op in walk(f.body)):
                uneven.add(("for", f.id, 0))
    return single, uneven


def _tainted(effects: Effects, value: kir.Value) -> set[int]:
    seen: set[int] = {value.id}
    todo = [value]
    while todo:
        v = todo.pop()
        reached: Iterator[kir.Op] = iter((*effects.users[v.id], *effects.yielding[v.id]))
        for op in reached:
            new = [r for r in op.results if r.id not in seen]
            for region in regions_of(op):
                new += [a for a in region.args if a.id not in seen]
            seen |= {r.id for r in new}
            todo += new
    return seen


def _alone(effects: Effects, op: kir.Op, tainted: set[int]) -> bool:
    if isinstance(op, kir.For):
        return op.step.id in tainted
    return any(_counted(r) and not _walked_together(effects, op, r) for r in op.results)


def _uneven(op: kir.Op, tainted: set[int]) -> bool:
    match op:
        case kir.For():
            return op.begin.id in tainted or op.end.id in tainted
        case kir.While():
            return op.condition.yields[0].id in tainted
    return False


_BY_MEMBER = (
    kir.Iota, kir.Pointwise, kir.Cast, kir.Bitcast, kir.Broadcast, kir.Transpose, kir.Gather, kir.Load, kir.Reduce,
)  # fmt: skip
"""What gives or takes members one by one, or walks them inside an instance in any order."""


def _counted(value: kir.Value) -> bool:
    """Whether it depends on data how many elements the value has."""
    return any(not e.launch_visible for e in value.shape)


def _walked_together(effects: Effects, op: kir.Op, value: kir.Value) -> bool:
    """Whether points with different numbers of members can have ``value``, a result of ``op``, side by side."""
    if isinstance(op, kir.Load) and alias_class(op.source) in effects.written:
        return False  # held at its place, in whole lanes
    users = effects.users[value.id]
    return isinstance(op, _BY_MEMBER) and not effects.yielding[value.id] and all(
        isinstance(user, _BY_MEMBER)
        or (isinstance(user, kir.Store) and alias_class(user.target) not in effects.read)
        for user in users
    )  # fmt: skip
