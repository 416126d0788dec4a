"""Expensive values are computed once, not once for every pass of loops that have nothing to do with them.

A reduction wanted at column j, inside a loop over rows around the loop over columns, would run for every row and
column. Where a loop around does not change what is wanted, the value is held: a buffer is filled over the
coordinates that change inside that loop, in front of it, and read there afterwards. Stacked normalisations cost
what one of them costs, under every plan. Counts that several points look up at bins found in memory are held, too:
all bins are counted in the time of one. What is not held is built where its coordinates live, so that the loops
around it are those that change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from intent import kir
from intent import physical as ph
from intent.construct import contract, fold, histogram, reduce, region_scan, scaled, scan, sparse
from intent.construct.context import RULES, Context, Rule
from intent.construct.emission import Scope
from intent.construct.frame import Frame
from intent.construct.held import Held, hold, innermost, placed
from intent.construct.plan import Inner, resident, serial
from intent.construct.point import Point, members_of
from intent.construct.traversal import close_loop, walk_axes
from intent.construct.units import ordered_axis
from intent.physical.walk import operands_of, regions_of
from intent.types import Extent

At = tuple[Point, ...]

HELD: Final = (
    kir.Reduce,
    kir.Contract,
    kir.ScaledContract,
    kir.SparseContract,
    kir.Histogram,
    kir.Scan,
    kir.RegionFold,
    kir.RegionScan,
)
CHEAP: Final = 16
"""A reduction of so few elements costs less than a buffer."""


@dataclass(frozen=True)
class Waste:
    """A value to hold: the result axes whose coordinates change inside the wasted loop; the others are the owner's."""

    moving: tuple[int, ...]

    def owner(self, at: At) -> At:
        """The coordinates that stay."""
        return tuple(p for k, p in enumerate(at) if k not in self.moving)


def held_value(c: Context, op: kir.Op, index: int, at: At, frame: Frame) -> Point | None:
    """The value from a buffer, or None when it may as well be computed where it is wanted."""
    if _cheap(op):
        return None
    value = op.results[index]
    ordered = ordered_axis(op, value.id)
    waste = _looked_up(c, op, at, frame) or _wasted(c, at, ordered, frame)
    if waste is None or waste.moving == (ordered,):
        return None
    if any(c.analysis.upper_bound(value.shape[k]) is None for k in waste.moving):
        return None
    owner = waste.owner(at)
    key = ("once", op.id, index, frame, waste.moving, tuple(p.key for p in owner))
    (held,) = hold(c, key, owner, frame, lambda: (_fill(c, op, value, at, waste, frame),))
    found = held.read(c, *(at[k] for k in waste.moving))
    return Point(found, members_of(at))


def _or_held(rule: Rule) -> Rule:
    """The rule, where the coordinates live, unless the value is held."""

    def evaluate(c: Context, op: kir.Op, index: int, at: At, frame: Frame) -> Point:
        found = held_value(c, op, index, at, frame)
        if found is not None:
            return found
        with placed(c, innermost(c, at, frame)):
            return rule(c, op, index, at, frame)

    return evaluate


_REGISTERED = (contract, fold, histogram, reduce, region_scan, scaled, scan, sparse)
for _kind in HELD:
    RULES[_kind] = _or_held(RULES[_kind])


def _cheap(op: kir.Op) -> bool:
    if not isinstance(op, kir.Reduce):
        return False
    total = 1
    for k in op.axes:
        n = op.operands[0].shape[k].const
        if n is None:
            return False
        total *= n
    return total <= CHEAP


def _looked_up(c: Context, op: kir.Op, at: At, frame: Frame) -> Waste | None:
    """The bins of a histogram, when lanes or passes of a loop each ask for one that memory says."""
    if not isinstance(op, kir.Histogram):
        return None
    (bin_,) = at
    several = bin_.fragment.dims or _loops_around(c, at, frame)
    return Waste((0,)) if several and _from_memory(c, bin_.fragment) else None


def _from_memory(c: Context, fragment: ph.Fragment) -> bool:
    """Whether a coordinate was loaded, or computed from what was."""
    pending, seen = [fragment], {fragment.id}
    while pending:
        op = c.emitter.definition.get(pending.pop().id)
        if isinstance(op, ph.Load):
            return True
        for operand in operands_of(op) if op is not None else ():
            if operand.id not in seen:
                seen.add(operand.id)
                pending.append(operand)
    return False


def _wasted(c: Context, at: At, ordered: int | None, frame: Frame) -> Waste | None:
    """The axes to hold, when a loop around the coordinates does not change any of them.

    An element along an ordered axis needs all before it, so a loop over that axis changes nothing about the work.
    """
    around = _loops_around(c, at, frame)
    if len(around) < 2:
        return None
    uses = [frozenset().union(*(_loops_of(c, f) for f in (p.fragment, *p.members))) for p in at]
    used: frozenset[Scope] = frozenset().union(*(u for k, u in enumerate(uses) if k != ordered))
    idle = [s.depth for s in around if s not in used]
    if not idle:
        return None
    # What changes at or inside the outermost idle loop has to be held; what changes with it as well, and so on.
    depth = min(idle)
    while True:
        moving = tuple(k for k, u in enumerate(uses) if any(s.depth >= depth for s in u if s in around))
        reached = min([depth, *(s.depth for k in moving for s in uses[k] if s in around)])
        if reached == depth:
            return Waste(moving) if moving else None
        depth = reached


def _loops_around(c: Context, at: At, frame: Frame) -> list[Scope]:
    """The counted loops between the value's frame and the deepest coordinate; a branch in between is the end."""
    found: list[Scope] = []
    inner = innermost(c, at, frame)
    while inner.depth > frame.scope.depth and inner.counted:
        found.append(inner)
        assert inner.parent is not None, "only the root is at no depth"
        inner = inner.parent
    return found


def _loops_of(c: Context, fragment: ph.Fragment) -> frozenset[Scope]:
    """The scopes whose passes a coordinate may differ between."""
    known = c.depends.get(fragment.id)
    if known is None:
        op = c.emitter.definition.get(fragment.id)
        known = frozenset()
        if op is None or regions_of_any(op) or isinstance(op, ph.Load):
            # An argument of a region, or something that reads or computes where it stands.
            known = frozenset({c.emitter.home[fragment.id]})
        if op is not None:
            known = known.union(*(_loops_of(c, f) for f in operands_of(op)))
        c.depends[fragment.id] = known
    return known


def regions_of_any(op: ph.Op) -> bool:
    """Whether an operation has regions."""
    return any(True for _ in regions_of(op))


def _fill(c: Context, op: kir.Op, value: kir.Value, at: At, waste: Waste, frame: Frame) -> Held:
    """Loops over the moving axes, an ordered one innermost, so that its elements come out of one pass."""
    ordered = ordered_axis(op, value.id)
    order = sorted(waste.moving, key=lambda k: (k == ordered, k))
    axes = []
    for k in order:
        label = c.analysis.classes.label((value.id, k))
        axes.append((k, label, value.shape[k], _walked(value.shape[k], at[k])))
    walk = walk_axes(c, axes, waste.owner(at), frame)
    where = tuple(walk.points.get(k, p) for k, p in enumerate(at))
    made = c.evaluate(value, where, frame).fragment
    along = tuple(walk.points[k] for k in waste.moving)
    lanes_of = tuple(d for d in made.dims if not any(d in p.fragment.dims for p in along))
    held = Held.allocate(
        c, value, lanes_of, tuple(value.shape[k] for k in waste.moving), value.name or "held"
    )
    held.write(c, made, *along)
    for loop in reversed(walk.loops):
        close_loop(c, loop, (), ())
    held.settle(c)
    return held


def _walked(extent: Extent, point: Point) -> Inner:
    """As many members at once as lanes ask for them, and no more than there are."""
    lanes = prod(d.size for d in point.fragment.dims)
    if extent.const is None or extent.const > lanes:
        return serial(lanes)
    return resident(1 << max(0, extent.const - 1).bit_length())
