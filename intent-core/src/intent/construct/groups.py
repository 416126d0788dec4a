"""Execution groups: connected effects and the axes that may enter program space (spec: kir-to-gpu-program 2, 3)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from intent import kir
from intent.construct.alias import alias_class, by_atomics
from intent.construct.axes import AxisClasses
from intent.construct.definitions import Definitions
from intent.construct.demand import AxisKey, Signature
from intent.construct.effects import WRITES, Effects
from intent.construct.facts import Facts
from intent.construct.independence import Independence, commute
from intent.construct.ownership import Owned, allocations_of, buffers_owned
from intent.construct.reasons import Apart, Dependence, Joined, Refused
from intent.construct.shared_axes import common_axes
from intent.construct.steering import steering_points
from intent.construct.units import Candidate, Unit, Units, target_resource
from intent.kir.walk import regions_of, walk
from intent.types import Extent


@dataclass(frozen=True)
class GroupAxis:
    """An axis of the group's instance domain.

    ``single``: its block must be 1 (control depends on the point). ``owned``: every structured value of the group
    varies along it or the author declared it, so that instances share no work. ``exclusive``: instances that
    differ in it never meet in one element, not even in colliding writes. ``uneven``: its points have loops that may
    be of different lengths; those of one instance wait for the longest.
    """

    label: str
    extent: Extent
    single: bool = False
    owned: bool = True
    exclusive: bool = True
    uneven: bool = False


@dataclass
class Group:
    """Effects that share an instance domain.

    ``buffers``: who owns what of the group's buffers.
    ``keys``: execution axis -> label of the instance axis. ``statements``: operations to run, enclosing control
    included. ``steering``: parallel loops whose points must run one by one. ``eager``: reads held at their position.
    ``snapshot``: stores that overwrite what other lanes of the same statement read. ``collisions``: the
    operations around each colliding write. ``joined``: why units were joined. ``refused``: why other axes stay
    inside. ``ordered``: writes and loops that must run one element after the other, by the plan.
    """

    axes: tuple[GroupAxis, ...]
    keys: dict[AxisKey, str]
    statements: set[int]
    eager: set[int]
    snapshot: set[int]
    collisions: dict[int, frozenset[int]] = field(default_factory=dict)
    joined: tuple[Joined, ...] = ()
    units: tuple[Unit, ...] = ()
    steering: frozenset[int] = frozenset()
    refused: tuple[Refused, ...] = ()
    ordered: frozenset[int] = frozenset()
    buffers: dict[int, Owned] = field(default_factory=dict)

    def in_order(self, writes: Collection[int]) -> Group:
        """The group with these colliding writes made one after the other, by the only owner of each element."""
        if not writes:
            return self
        ordered = frozenset(writes).union(*(self.collisions[w] for w in writes))
        dropped = tuple(
            Refused(statement=min(writes), label=a.label, extent=a.extent, because="collision")
            for a in self.axes
            if not a.exclusive
        )
        kept = tuple(a for a in self.axes if a.exclusive)
        return replace(self, axes=kept, ordered=ordered, refused=(*self.refused, *dropped))

    def unit_of(self, op: kir.Op) -> Unit:
        """The unit that is, or has inside, a statement of the group."""
        return next(
            u for u in self.units if u.op == op or op in (o for r in regions_of(u.op) for o in walk(r))
        )

    def written_in(self, op: kir.Op, done_by: Callable[[kir.ScatterReduce | kir.Atomic], str]) -> set[str]:
        """The alias classes that this group writes inside an operation, marked where only atomics touch them.

        ``done_by``: what an atomic access does (:meth:`Context.done_by`).
        """
        inner = [o for r in regions_of(op) for o in walk(r)]
        writes = [o for o in inner if isinstance(o, WRITES) and o.id in self.statements]
        plain = {alias_class(o.source) for o in inner if isinstance(o, kir.Load)}
        plain |= {alias_class(o.target) for o in writes if not self._indivisible(o)}
        written = {alias_class(o.target) for o in writes}
        # A buffer is filled again in every pass that allocates it.
        written |= {
            alias_class(o.buffer) for o in inner if isinstance(o, kir.BufferAlloc) and o.init is not None
        }
        return (written & plain) | {
            by_atomics(cls, done_by(o))
            for o in writes
            if self._indivisible(o) and (cls := alias_class(o.target)) not in plain
        }

    def _indivisible(self, op: kir.Op) -> TypeGuard[kir.ScatterReduce | kir.Atomic]:
        return isinstance(op, kir.Atomic | kir.ScatterReduce) and op.id not in self.ordered


class Grouping:
    """Forms the groups of a kernel."""

    def __init__(
        self,
        kernel: kir.Kernel,
        definitions: Definitions,
        classes: AxisClasses,
        effects: Effects,
        trips: dict[int, Extent],
        facts: Facts,
    ) -> None:
        self.definitions = definitions
        self.facts = facts
        self.effects = effects
        self.units = Units(kernel, definitions, classes, effects, trips).units
        self.eager = effects.eager_reads()
        self.independence = Independence(effects, self.eager)
        self.apart: list[Apart] = []

    def groups(self) -> list[Group]:
        """The groups in program order of their first effect."""
        clusters = self._connect()
        return [self._group([self.units[k] for k in cluster], why) for cluster, why in clusters]

    # -- connection ------------------------------------------------------------------------------------------------

    def _connect(self) -> list[tuple[list[int], tuple[Joined, ...]]]:
        parent = list(range(len(self.units)))
        why: dict[int, list[Joined]] = {}

        def find(k: int) -> int:
            while parent[k] != k:
                k = parent[k]
            return k

        for b in range(len(self.units)):
            for a in range(b):
                reason = self._connected(self.units[a], self.units[b])
                if isinstance(reason, Apart):
                    self.apart.append(reason)
                if not isinstance(reason, Joined):
                    continue
                ra, rb = find(a), find(b)
                if ra != rb:
                    parent[rb] = ra
                    why.setdefault(ra, []).extend([*why.pop(rb, []), reason])
        clusters: dict[int, list[int]] = {}
        for k in range(len(self.units)):
            clusters.setdefault(find(k), []).append(k)
        return [(members, tuple(why.get(root, []))) for root, members in clusters.items()]

    def _connected(self, a: Unit, b: Unit) -> Joined | Apart | None:
        """Why two units share a group, or why they do not although they have something in common."""
        first, second = a.op.id, b.op.id
        conflicts, harmless = self._conflicts(a, b)
        if conflicts:
            return Joined(first=first, second=second, because="memory", names=tuple(sorted(conflicts)))
        if (a.provides & b.needs) or (b.provides & a.needs):
            return Joined(first=first, second=second, because="result")
        shared = tuple(sorted((a.producers & b.producers) or (a.computed & b.computed)))
        if shared and common_axes([a, b]):
            return Joined(first=first, second=second, because="producer", producers=shared)
        if harmless:
            return Apart(first=first, second=second, because="disjoint", names=tuple(sorted(harmless)))
        if reads := self._read_alike(a, b):
            return Joined(first=first, second=second, because="reads", names=reads)
        return Apart(first=first, second=second, because="no axis", producers=shared) if shared else None

    def _read_alike(self, a: Unit, b: Unit) -> tuple[str, ...]:
        """The inputs of which both read the same elements, if neither loses an axis in a group with the other.

        Apart they would fetch them twice.
        """
        if not (isinstance(a.op, kir.Store) and isinstance(b.op, kir.Store)):
            return ()
        common = common_axes([a, b])
        if not common or any(len(unit.candidates) != len(common) for unit in (a, b)):
            return ()
        place: dict[AxisKey, int] = {key: n for n, (_, keys) in enumerate(common) for key in keys}
        names = sorted({source.name for source, _ in _inputs(a, place) & _inputs(b, place)})
        alone, other, both = (self._shareable(units) for units in ([a], [b], [a, b]))
        return tuple(names) if names and alone == other == both else ()

    def _shareable(self, units: list[Unit]) -> list[tuple[Extent, bool, bool]]:
        axes = self._group(units, ()).axes
        return [(axis.extent, axis.single, axis.exclusive) for axis in axes]

    def _conflicts(self, a: Unit, b: Unit) -> tuple[set[str], set[str]]:
        """The alias classes that order the units, and those both write without meeting."""
        a_writes = {alias_class(target_resource(op)) for op, _ in a.writes}
        b_writes = {alias_class(target_resource(op)) for op, _ in b.writes}
        a_reads = {alias_class(r.op.source) for r in a.reads}
        b_reads = {alias_class(r.op.source) for r in b.reads}
        found = (a_writes & b_reads) | (b_writes & a_reads)
        for cls in a_writes & b_writes:
            pairs = [
                (x, y)
                for x, _ in a.writes
                for y, _ in b.writes
                if alias_class(target_resource(x)) == cls == alias_class(target_resource(y))
            ]
            if not all(self._disjoint(x, y) or commute(x, y) for x, y in pairs):
                found.add(cls)
        return found, (a_writes & b_writes) - found

    def _disjoint(self, x: kir.Op, y: kir.Op) -> bool:
        """Whether two unique writes go to ranges of one axis of which one ends before the other begins."""
        if not (isinstance(x, kir.Store) and isinstance(y, kir.Store)) or x.target.name != y.target.name:
            return False
        for p, q in zip(x.relation.coordinates, y.relation.coordinates, strict=True):
            a, b = self._range(p), self._range(q)
            if a is None or b is None:
                continue
            for (_, high), (low, _) in ((a, b), (b, a)):
                if self.facts.nonnegative(low - high):
                    return True
        return False

    def _range(self, value: kir.Value) -> tuple[Extent, Extent] | None:
        """Half-open symbolic range that a coordinate keeps to."""
        op = self.definitions.op.get(value.id)
        if isinstance(op, kir.Iota) and self.definitions.symbol(op.step).const == 1:
            begin = self.definitions.symbol(op.begin)
            return begin, begin + op.result.shape[0]
        loop = self.effects.parallel.get(value.id)
        if loop is not None:
            begin, end = self.definitions.symbol(loop.begin), self.definitions.symbol(loop.end)
            return (begin, end) if begin.launch_visible and end.launch_visible else None
        if value.rank == 0 and op is not None:
            point = self.definitions.symbol(value)
            return (point, point + 1) if point.launch_visible else None
        return None

    # -- groups ----------------------------------------------------------------------------------------------------

    def _group(self, units: list[Unit], why: tuple[Joined, ...]) -> Group:
        allocations = allocations_of(units)
        users = [unit for unit in units if unit not in allocations] or units
        found = [
            (c, keys, self.independence.dependence(users, keys, c.extent, allocations))
            for c, keys in common_axes(users)
        ]
        common = [(c, keys) for c, keys, dependence in found if dependence is None]
        axes: list[GroupAxis] = []
        keys: dict[AxisKey, str] = {}
        used: dict[str, int] = {}
        singles, uneven = steering_points(self.effects, units)
        for candidate, members in common:
            n = used[candidate.label] = used.get(candidate.label, 0) + 1
            label = candidate.label if n == 1 else f"{candidate.label}.{n}"
            owned = not any(k in unit.shared for unit in users for k in members)
            single = any(k in singles for k in members)
            exclusive = self.independence.exclusive(users, members)
            loops = any(k in uneven for k in members)
            axes.append(GroupAxis(label, candidate.extent, single, owned, exclusive, loops))
            keys.update(dict.fromkeys(members, label))
        for loop in {f.id for unit in units for f in unit.prefix}:
            if ("for", loop, 0) not in keys:
                self.independence.declared(
                    [u for u in units if any(f.id == loop for f in u.prefix)], ("for", loop, 0)
                )
        statements: set[int] = set()
        for unit in units:
            statements |= {f.id for f in unit.prefix} | {unit.op.id}
            statements |= {
                o.id
                for r in regions_of(unit.op)
                for o in walk(r)
                if self.effects.has_effect(o) or isinstance(o, kir.AssumeInBounds)
            }
        snapshot: set[int] = {
            op.id for unit in units for op, sig in unit.writes if self._overwrites_reads(unit, op, sig)
        }
        return Group(
            tuple(axes),
            keys,
            statements,
            self.eager,
            snapshot,
            self._collisions(units),
            why,
            tuple(units),
            frozenset(loop for _, loop, _ in singles),
            _refused(users, found),
            buffers=buffers_owned(allocations, users, keys, {a.label: a.extent for a in axes}),
        )

    def _collisions(self, units: list[Unit]) -> dict[int, frozenset[int]]:
        """The colliding writes, with the operations around each that walk its elements."""
        found: dict[int, frozenset[int]] = {}
        for unit in units:
            for op in (unit.op, *(o for r in regions_of(unit.op) for o in walk(r))):
                if isinstance(op, kir.ScatterReduce):
                    found[op.id] = frozenset({f.id for f in unit.prefix} | self._around(unit.op, op))
        return found

    def _around(self, outer: kir.Op, inner: kir.Op) -> set[int]:
        return {
            o.id
            for o in (outer, *(x for r in regions_of(outer) for x in walk(r)))
            if any(inner in walk(r) for r in regions_of(o))
        }

    def _overwrites_reads(self, unit: Unit, op: kir.Op, signature: tuple[Signature, ...]) -> bool:
        if not isinstance(op, kir.Store):
            return False
        cls = alias_class(op.target)
        return any(
            alias_class(r.op.source) == cls
            and (r.op.source.name != op.target.name or None in r.signature or r.signature != signature)
            for r in unit.reads
            if r.op.id not in self.eager
        )


def _inputs(unit: Unit, place: dict[AxisKey, int]) -> set[tuple[kir.Resource, tuple[object, ...]]]:
    """The memory that the unit reads at its own point, each with where the axes of the domain are in it."""
    found: set[tuple[kir.Resource, tuple[object, ...]]] = set()
    for read in unit.reads:
        if None in read.signature:
            continue
        located = tuple((place.get(s[0]), s[1]) for s in read.signature if s is not None)
        if located and all(n is not None for n, _ in located):
            found.add((read.op.source, located))
    return found


def _refused(
    units: list[Unit], found: list[tuple[Candidate, list[AxisKey], Dependence | None]]
) -> tuple[Refused, ...]:
    """Why axes that statements have are not axes of the group."""
    refused = [
        Refused(statement=units[0].op.id, label=c.label, extent=c.extent, because=dependence)
        for c, _, dependence in found
        if dependence is not None
    ]
    common = {key for _, keys, _ in found for key in keys}
    for unit in units:
        statement = unit.op.id
        refused += [
            Refused(statement=statement, label=c.label, extent=c.extent, because="uncommon")
            for c in unit.candidates
            if common.isdisjoint(c.keys)
        ]
        refused += [
            Refused(statement=statement, label=label, extent=extent, because="run time")
            for label, extent in unit.unknown
        ]
    return tuple(refused)
