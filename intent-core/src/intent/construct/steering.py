"""Parallel points that steer control: their block must be 1.

A run-time number of members is no control where the members are read, computed with, reduced or stored: points that
share an instance walk together as far as the longest of them, and the others mask what they do not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent.construct.alias import alias_class
from intent.construct.demand import AxisKey
from intent.construct.effects import Effects
from intent.construct.units import Unit
from intent.kir.walk import regions_of, walk
from intent.types import Extent
from intent.types.extent import ceildiv


def single_points(effects: Effects, units: list[Unit]) -> set[AxisKey]:
    """Parallel points on which a loop bound, a branch around a loop or a run-time extent depends."""
    found: set[AxisKey] = set()
    for unit in units:
        inside = [o for r in regions_of(unit.op) for o in walk(r)]
        for f in (*unit.prefix, *(o for o in (unit.op, *inside) if isinstance(o, kir.For) and o.parallel)):
            tainted = _tainted(effects, f.body.args[0])
            if any(_steers(effects, op, tainted) for op in walk(f.body)):
                found.add(("for", f.id, 0))
    return found


def _length(effects: Effects, op: kir.For) -> Extent:
    begin, end, step = (effects.definitions.symbol(v) for v in (op.begin, op.end, op.step))
    return ceildiv(end - begin, step)


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


def _steers(effects: Effects, op: kir.Op, tainted: set[int]) -> bool:
    if isinstance(op, kir.For):
        # A parallel loop of a length that no launch knows is walked inside an instance, as an ordered one is.
        walked = not op.parallel or not _length(effects, op).launch_visible
        return walked and any(v.id in tainted for v in (op.begin, op.end, op.step))
    if isinstance(op, kir.While):
        return True
    if isinstance(op, kir.If) and effects.has_effect(op):
        return op.condition.id in tainted and any(
            isinstance(o, kir.For | kir.While) for r in regions_of(op) for o in walk(r)
        )
    return any(_counted(r) and not _walked_together(effects, op, r) for r in op.results)


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
