"""Whether instances that differ in an axis may run in any order (spec: kir-to-gpu-program 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from intent import kir
from intent.construct.alias import alias_class
from intent.construct.demand import AxisKey, Signature
from intent.construct.effects import Effects
from intent.construct.reasons import Dependence
from intent.construct.units import Unit, target_resource
from intent.kir.walk import walk
from intent.physical.ops import ANY_ORDER
from intent.types import Extent
from intent.types.extent import const

COLLIDING = (kir.Atomic, kir.ScatterReduce)


@dataclass(frozen=True)
class _Access:
    """One access of a unit: ``write`` is its operation, None for a read. ``within``: the parallel loops around it."""

    resource: kir.Resource
    signature: tuple[Signature, ...]
    write: kir.Op | None
    within: frozenset[int]


class Independence:
    """Decides it for the units of one group. ``eager`` collects reads that must be held at their place."""

    def __init__(self, effects: Effects, eager: set[int]) -> None:
        self.effects = effects
        self.eager = eager

    def dependence(
        self, units: list[Unit], keys: list[AxisKey], extent: Extent, allocations: Sequence[Unit] = ()
    ) -> Dependence | None:
        """What is between instances that differ in this axis; None when no two touch one element, one writing.

        Points of one loop are independent by declaration. Those of several loops are taken together, point by
        point, so what one loop writes and another uses has to follow both loops alike. ``allocations``: buffers in
        front of them; one with an initial value needs an owner of each element, to begin with it. ``extent``: the
        axis' number of points.
        """
        accesses = _accesses(units)
        for allocated in allocations:
            if _ownerless(allocated, accesses, set(keys), extent):
                return "same element"
        loops = {k[1] for k in keys if k[0] == "for"}
        if len(set(keys)) == 1 and loops:
            return None if self.declared(units, keys[0]) else "read in front"
        for cls in {alias_class(a.resource) for a in accesses if a.write is not None}:
            found = [a for a in accesses if alias_class(a.resource) == cls]
            shared = frozenset.intersection(*(a.within for a in found))
            if shared & loops or self._concurrent(found):
                continue  # points of one loop, or concurrent by their own semantics
            if len({a.resource.name for a in found}) > 1 and not all(_coincident(a.resource) for a in found):
                return "aliases"  # equal coordinates of two views of one alias group need not be one element
            if len(found) > 1 and not separated([a.signature for a in found], set(keys)):
                return "same element"
        return None

    def exclusive(self, units: list[Unit], keys: list[AxisKey]) -> bool:
        """Whether colliding writes follow the axis too, so that each element has one owner."""
        accesses = _accesses(units)
        for cls in {alias_class(a.resource) for a in accesses if isinstance(a.write, kir.ScatterReduce)}:
            found = [a for a in accesses if alias_class(a.resource) == cls]
            if len({a.resource.name for a in found}) > 1:
                return False
            if not separated([a.signature for a in found], set(keys)):
                return False
        return True

    def _concurrent(self, found: list[_Access]) -> bool:
        """Whether these accesses may meet in any order by their own semantics."""
        writes = [a.write for a in found if isinstance(a.write, COLLIDING)]
        if len(writes) < len(found):
            return False
        return all(commute(x, y) or self._unobserved(x, y) for x, y in combinations(writes, 2))

    def _unobserved(self, x: kir.Op, y: kir.Op) -> bool:
        """Whether two atomics commute, and nobody looks at the values in between."""
        return (
            isinstance(x, kir.Atomic)
            and isinstance(y, kir.Atomic)
            and x.kind == y.kind
            and x.kind in ANY_ORDER
            and x.order == y.order == "relaxed"
            and not any(
                self.effects.users[r.id] or self.effects.yielding[r.id] for r in (*x.results, *y.results)
            )
        )

    def declared(self, units: list[Unit], key: AxisKey) -> bool:
        """Points are independent by declaration, but not of what they use from in front of the loop.

        Reads there that a point's write may overtake are held at their place, and the points share an instance.
        """
        loop = next(f for u in units for f in u.prefix if f.id == key[1])
        inside = {op.id for op in walk(loop.body)}
        writes = [(target_resource(op), sig) for u in units for op, sig in u.writes]
        overtaken: set[int] = set()
        for read in (r for u in units for r in u.reads if r.op.id not in inside):
            source = read.op.source
            met = [(target, sig) for target, sig in writes if alias_class(target) == alias_class(source)]
            apart = all(target.name == source.name for target, _ in met) and separated(
                [read.signature, *(sig for _, sig in met)], {key}
            )
            if met and not apart:
                overtaken.add(read.op.id)
        self.eager |= overtaken
        return not overtaken


def _coincident(resource: kir.Resource) -> bool:
    return isinstance(resource, kir.View) and resource.coincident


def _accesses(units: list[Unit]) -> list[_Access]:
    found = []
    bodies = {f.id: {op.id for op in walk(f.body)} for unit in units for f in unit.prefix}
    for unit in units:
        around = frozenset(f.id for f in unit.prefix)
        found += [_Access(target_resource(op), sig, op, around) for op, sig in unit.writes]
        for read in unit.reads:
            within = frozenset(f for f in around if read.op.id in bodies[f])
            found.append(_Access(read.op.source, read.signature, None, within))
    return found


def _ownerless(allocated: Unit, accesses: list[_Access], keys: set[AxisKey], extent: Extent) -> bool:
    """Whether a buffer in front of these points has an initial value that they cannot give it between them."""
    op = allocated.op
    assert isinstance(op, kir.BufferAlloc)
    if op.init is None or any(("for", f.id, 0) in keys for f in allocated.prefix):
        return False
    used = [a.signature for a in accesses if a.resource == op.buffer]
    return covered_axis(op.buffer, used, keys, extent) is None


def covered_axis(
    buffer: kir.Buffer, signatures: list[tuple[Signature, ...]], keys: set[AxisKey], extent: Extent
) -> int | None:
    """The axis of a buffer whose every coordinate belongs to the one point of that number, in every access."""
    for axis, column in enumerate(zip(*signatures, strict=False)):
        if buffer.shape[axis] is extent and all(
            s is not None and s[0] in keys and s[1] == (const(0), const(1)) for s in column
        ):
            return axis
    return None


def separated(signatures: list[tuple[Signature, ...]], keys: set[AxisKey]) -> bool:
    """Whether some source axis follows the execution axis identically in every access."""
    for column in zip(*signatures, strict=False):
        if (
            all(s is not None and s[0] in keys for s in column)
            and len({s[1] for s in column if s is not None}) == 1
        ):
            return True
    return False


def commute(x: kir.Op, y: kir.Op) -> bool:
    """Whether two writes to one resource may happen in either order."""
    return (
        isinstance(x, kir.ScatterReduce)
        and isinstance(y, kir.ScatterReduce)
        and x.kind is not None
        and x.kind == y.kind
    )
