"""Execution groups: connected effects, the axes that may enter program space, and why (spec: kir-to-gpu-program 2, 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from intent import kir
from intent.construct.alias import alias_class
from intent.construct.axes import AxisClasses, loop_axis
from intent.construct.definitions import Definitions
from intent.construct.demand import AxisKey, Demand, Read, Signature
from intent.construct.effects import WRITES, Effects
from intent.kir.walk import operands_of, regions_of, walk
from intent.types import Extent

STRUCTURED = (
    kir.Reduce,
    kir.Contract,
    kir.ScaledContract,
    kir.SparseContract,
    kir.Histogram,
    kir.Scan,
    kir.RegionFold,
    kir.RegionScan,
    kir.For,
    kir.While,
)


@dataclass(frozen=True)
class Candidate:
    """An axis that a unit could run in parallel. ``declared`` axes are explicit ``parallel`` loops.

    A statement with several writes inside has one key per write.
    """

    keys: tuple[AxisKey, ...]
    label: str
    extent: Extent
    declared: bool


@dataclass
class Unit:
    """A statement under its enclosing parallel loops: the smallest thing that is scheduled.

    ``producers``: structured operations it needs; ``computed``: pointwise values; ``provides`` and
    ``needs``: effects of its own and of others whose results it uses; ``shared``: axes along which some
    structured value does not vary, so that instances split along them would compute it again.
    """

    prefix: tuple[kir.For, ...]
    op: kir.Op
    candidates: list[Candidate]
    reads: list[Read] = field(default_factory=list)
    writes: list[tuple[kir.Op, tuple[Signature, ...]]] = field(default_factory=list)
    producers: set[int] = field(default_factory=set)
    computed: set[int] = field(default_factory=set)
    provides: set[int] = field(default_factory=set)
    needs: set[int] = field(default_factory=set)
    shared: set[AxisKey] = field(default_factory=set)


@dataclass(frozen=True)
class GroupAxis:
    """An axis of the group's instance domain.

    ``single``: its block must be 1 (control depends on the point). ``owned``: every structured value of the group
    varies along it or the author declared it, so that instances share no work.
    """

    label: str
    extent: Extent
    single: bool = False
    owned: bool = True


@dataclass
class Group:
    """Effects that share an instance domain.

    ``keys``: execution axis -> label of the instance axis. ``statements``: operations to run, enclosing control
    included. ``eager``: reads held at their position. ``snapshot``: stores that overwrite what other lanes of the
    same statement read. ``ordered``: writes and loops that must run one element after the other. ``joined``: why units were joined.
    """

    axes: tuple[GroupAxis, ...]
    keys: dict[AxisKey, str]
    statements: set[int]
    eager: set[int]
    snapshot: set[int]
    ordered: set[int]
    joined: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()

    @property
    def shared_out(self) -> set[str]:
        """Labels of instance axes that come from axes of written values."""
        return {label for key, label in self.keys.items() if key[0] == "store"}

    def written_in(self, op: kir.Op) -> set[str]:
        """The alias classes written inside an operation."""
        return {alias_class(o.target) for r in regions_of(op) for o in walk(r) if isinstance(o, WRITES)}


class Grouping:
    """Forms the groups of a kernel."""

    def __init__(
        self,
        kernel: kir.Kernel,
        definitions: Definitions,
        classes: AxisClasses,
        effects: Effects,
        trips: dict[int, Extent],
    ) -> None:
        self.kernel = kernel
        self.definitions = definitions
        self.classes = classes
        self.effects = effects
        self.trips = trips
        self.units: list[Unit] = []
        self.eager = effects.eager_reads()

    def groups(self) -> list[Group]:
        """The groups in program order of their first effect."""
        self._collect(self.kernel.body, ())
        clusters = self._connect()
        return [self._group([self.units[k] for k in cluster], why) for cluster, why in clusters]

    # -- units ---------------------------------------------------------------------------------------------------

    def _collect(self, region: kir.Region, prefix: tuple[kir.For, ...]) -> None:
        for op in region.ops:
            if isinstance(op, kir.For) and op.parallel and self.effects.has_effect(op):
                self._collect(op.body, (*prefix, op))
            elif self.effects.has_effect(op):
                self.units.append(self._unit(op, prefix))

    def _unit(self, op: kir.Op, prefix: tuple[kir.For, ...]) -> Unit:
        candidates = [
            Candidate((("for", f.id, 0),), self.classes.label(loop_axis(f)), self.trips[f.id], True)
            for f in prefix
        ]
        candidates += self._written_axes([op] if isinstance(op, WRITES) else self._inner_writes(op))
        candidates = [c for c in candidates if c.extent.launch_visible and c.extent.const != 1]
        unit = Unit(prefix, op, candidates)
        self._trace(unit)
        return unit

    def _inner_writes(self, op: kir.Op) -> list[kir.Op]:
        """The writes inside control, when nothing else inside forbids running an axis of theirs in parallel."""
        inner = [o for r in regions_of(op) for o in walk(r)]
        if any(
            isinstance(o, kir.BufferAlloc | kir.Atomic | kir.ScatterReduce)
            or (isinstance(o, kir.For) and o.parallel)
            for o in inner
        ):
            return []
        return [o for o in inner if isinstance(o, kir.Store)]

    def _written_axes(self, writes: list[kir.Op]) -> list[Candidate]:
        """Axes that every one of the writes runs over: same class, same extent."""
        if not writes:
            return []
        columns = [
            [(("store", w.id, k), self.classes.label((v.id, k)), e) for k, e in enumerate(v.shape)]
            for w in writes
            for v in [written_value(w)]
        ]
        found = []
        taken: set[AxisKey] = set()
        for key, label, e in columns[0]:
            keys = [key]
            for column in columns[1:]:
                match = next((x for x in column if x[0] not in taken and x[1] == label and x[2] is e), None)
                if match is None:
                    break
                keys.append(match[0])
            else:
                taken |= set(keys)
                found.append(Candidate(tuple(keys), label, e, False))
        return found

    def _trace(self, unit: Unit) -> None:
        points = {f.body.args[0].id: ("for", f.id, 0) for f in unit.prefix}
        loops = {f.body.args[0].id: f for f in unit.prefix}
        demand = Demand(self.definitions, points, loops)
        unit.provides = {unit.op.id}
        inner = [unit.op, *(o for r in regions_of(unit.op) for o in walk(r))]
        for op in inner:
            axes: tuple[AxisKey | None, ...] = ()
            if isinstance(op, kir.BufferAlloc):
                unit.writes.append((op, (None,) * op.buffer.rank))
            if isinstance(op, WRITES):
                keys = {k for c in unit.candidates for k in c.keys}
                names = [("store", op.id, k) for k in range(written_value(op).rank)]
                axes = tuple(n if n in keys else None for n in names)
                for v in (op.value,) if not isinstance(op, kir.Atomic) else op.operands:
                    unit.reads += demand.reads(v, axes if v.rank else ())
                unit.writes.append((op, demand.relation(op.relation, axes)))
                for v, spread in zip(op.relation.coordinates, op.relation.axes, strict=True):
                    unit.reads += demand.reads(v, tuple(axes[a] for a in spread))
                if op.valid is not None:
                    unit.reads += demand.reads(op.valid, axes)
                continue
            if not self.effects.has_effect(op):
                continue  # pure: reached from the effects that need it
            for v in operands_of(op):
                unit.reads += demand.reads(v, self._carried_axes(v, unit))
            for region in regions_of(op):
                for v in region.yields:
                    unit.reads += demand.reads(v, self._carried_axes(v, unit))
        for value_id, axes in demand.seen:
            producer = self.definitions.op.get(value_id)
            if producer is not None and self.effects.has_effect(producer):
                unit.needs.add(producer.id)
            if isinstance(producer, kir.Pointwise) and axes and producer.results[0].dtype.is_float:
                unit.computed.add(producer.id)
            if isinstance(producer, STRUCTURED):
                unit.producers.add(producer.id)
                # Along an ordered axis every element needs those before it: work that instances would repeat.
                ordered = ordered_axis(producer, value_id)
                own = {a for k, a in enumerate(axes) if k != ordered}
                unit.shared |= {
                    k for c in unit.candidates if not c.declared and not set(c.keys) & own for k in c.keys
                }

    def _carried_axes(self, value: kir.Value, unit: Unit) -> tuple[AxisKey | None, ...]:
        """A carried tensor runs along an instance axis where it has an axis of that class."""
        axes: list[AxisKey | None] = []
        for k in range(value.rank):
            label = self.classes.label((value.id, k))
            key = next(
                (
                    c.keys[0]
                    for c in unit.candidates
                    if not c.declared and c.label == label and c.keys[0] not in axes
                ),
                None,
            )
            axes.append(key)
        return tuple(axes)

    # -- connection ------------------------------------------------------------------------------------------------

    def _connect(self) -> list[tuple[list[int], tuple[str, ...]]]:
        parent = list(range(len(self.units)))
        why: dict[int, list[str]] = {}

        def find(k: int) -> int:
            while parent[k] != k:
                k = parent[k]
            return k

        for b in range(len(self.units)):
            for a in range(b):
                reason = self._connected(self.units[a], self.units[b])
                if reason is None:
                    continue
                ra, rb = find(a), find(b)
                if ra != rb:
                    parent[rb] = ra
                    why.setdefault(ra, []).extend([*why.pop(rb, []), reason])
        clusters: dict[int, list[int]] = {}
        for k in range(len(self.units)):
            clusters.setdefault(find(k), []).append(k)
        return [(members, tuple(dict.fromkeys(why.get(root, [])))) for root, members in clusters.items()]

    def _connected(self, a: Unit, b: Unit) -> str | None:
        for name in sorted(self._conflicts(a, b)):
            return f"both use {name}, which one of them writes"
        if (a.provides & b.needs) or (b.provides & a.needs):
            return "one uses what the other's effect yields"
        shared = (a.producers & b.producers) or (a.computed & b.computed)
        if shared and self._common([a, b]):
            return "they share a producer"
        return None

    def _conflicts(self, a: Unit, b: Unit) -> set[str]:
        found = set()
        a_writes = {alias_class(target_resource(op)) for op, _ in a.writes}
        b_writes = {alias_class(target_resource(op)) for op, _ in b.writes}
        a_reads = {alias_class(r.op.source) for r in a.reads}
        b_reads = {alias_class(r.op.source) for r in b.reads}
        found |= (a_writes & b_reads) | (b_writes & a_reads)
        for cls in a_writes & b_writes:
            pairs = [
                (x, y)
                for x, _ in a.writes
                for y, _ in b.writes
                if alias_class(target_resource(x)) == cls == alias_class(target_resource(y))
            ]
            if not all(self._disjoint(x, y) or commute(x, y) for x, y in pairs):
                found.add(cls)
        return found

    def _disjoint(self, x: kir.Op, y: kir.Op) -> bool:
        """Whether two unique writes go to different constant or adjacent ranges of one axis."""
        if not (isinstance(x, kir.Store) and isinstance(y, kir.Store)):
            return False
        for p, q in zip(x.relation.coordinates, y.relation.coordinates, strict=True):
            a, b = self._range(p), self._range(q)
            if a is None or b is None:
                continue
            for (_, high), (low, _) in ((a, b), (b, a)):
                gap = (low - high).const
                if gap is not None and gap >= 0:
                    return True
        return False

    def _range(self, value: kir.Value) -> tuple[Extent, Extent] | None:
        """Half-open symbolic range of a coordinate with constant step 1."""
        op = self.definitions.op.get(value.id)
        if isinstance(op, kir.Iota) and self.definitions.symbol(op.step).const == 1:
            begin = self.definitions.symbol(op.begin)
            return begin, begin + op.result.shape[0]
        if value.rank == 0 and op is not None:
            point = self.definitions.symbol(value)
            return (point, point + 1) if point.launch_visible else None
        return None

    # -- groups ----------------------------------------------------------------------------------------------------

    def _common(self, units: list[Unit]) -> list[tuple[Candidate, list[AxisKey]]]:
        """The axes that all units have, in the first unit's order: the same loop, or the same class and extent."""
        found = []
        taken: list[set[AxisKey]] = [set() for _ in units]
        for candidate in units[0].candidates:
            matches = [candidate]
            for n, unit in enumerate(units[1:], 1):
                match = next((c for c in unit.candidates if c.keys == candidate.keys), None) or next(
                    (
                        c
                        for c in unit.candidates
                        if not taken[n] & set(c.keys)
                        and c.label == candidate.label
                        and c.extent is candidate.extent
                    ),
                    None,
                )
                if match is None:
                    break
                matches.append(match)
            else:
                for n, match in enumerate(matches):
                    taken[n] |= set(match.keys)
                found.append((candidate, [k for m in matches for k in m.keys]))
        return found

    def _group(self, units: list[Unit], why: tuple[str, ...]) -> Group:
        common = self._common(units)
        common = [(c, keys) for c, keys in common if self._independent(units, keys)]
        axes, keys, used = [], {}, {}
        singles = self._single_points(units)
        for candidate, members in common:
            n = used[candidate.label] = used.get(candidate.label, 0) + 1
            label = candidate.label if n == 1 else f"{candidate.label}.{n}"
            owned = not any(k in unit.shared for unit in units for k in members)
            axes.append(GroupAxis(label, candidate.extent, any(k in singles for k in members), owned))
            keys.update(dict.fromkeys(members, label))
        statements = set()
        for unit in units:
            statements |= {f.id for f in unit.prefix} | {unit.op.id}
            statements |= {
                o.id
                for r in regions_of(unit.op)
                for o in walk(r)
                if self.effects.has_effect(o) or isinstance(o, kir.AssumeInBounds)
            }
        snapshot = {
            op.id for unit in units for op, sig in unit.writes if self._overwrites_reads(unit, op, sig)
        }
        return Group(
            tuple(axes), keys, statements, self.eager, snapshot, self._ordered(units), why, tuple(units)
        )

    def _ordered(self, units: list[Unit]) -> set[int]:
        """Colliding writes that no atomic performs, and the loops around them."""
        found = set()
        for unit in units:
            for op in (unit.op, *(o for r in regions_of(unit.op) for o in walk(r))):
                if isinstance(op, kir.ScatterReduce) and not has_atomic(op):
                    found |= {op.id, *(f.id for f in unit.prefix), *self._around(unit.op, op)}
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
            alias_class(r.op.source) == cls and (None in r.signature or r.signature != signature)
            for r in unit.reads
        )

    def _independent(self, units: list[Unit], keys: list[AxisKey]) -> bool:
        """Whether instances that differ in this axis never touch the same element, one of them writing."""
        if any(isinstance(op, kir.ScatterReduce) and not has_atomic(op) for u in units for op, _ in u.writes):
            return False
        if all(k[0] == "for" for k in keys) and len(set(keys)) == 1:
            return True  # declared by the author
        accesses = []
        for unit in units:
            accesses += [(alias_class(target_resource(op)), sig, op) for op, sig in unit.writes]
            accesses += [(alias_class(r.op.source), r.signature, None) for r in unit.reads]
        for cls in {a for a, _, write in accesses if write is not None}:
            touched = [sig for a, sig, _ in accesses if a == cls]
            if all(isinstance(w, kir.Atomic | kir.ScatterReduce) for a, _, w in accesses if a == cls):
                continue  # concurrent by their own semantics
            if len(touched) > 1 and not self._separated(touched, set(keys)):
                return False
        return True

    def _separated(self, signatures: list[tuple[Signature, ...]], keys: set[AxisKey]) -> bool:
        """Whether some source axis follows the execution axis identically in every access."""
        for column in zip(*signatures, strict=False):
            if (
                all(s is not None and s[0] in keys for s in column)
                and len({s[1] for s in column if s is not None}) == 1
            ):
                return True
        return False

    def _single_points(self, units: list[Unit]) -> set[AxisKey]:
        """Parallel points on which a loop bound, a heavy branch or a run-time extent depends."""
        found = set()
        for unit in units:
            for f in unit.prefix:
                tainted = self._tainted(f.body.args[0])
                if any(self._steers(op, tainted) for op in walk(f.body)):
                    found.add(("for", f.id, 0))
        return found

    def _tainted(self, value: kir.Value) -> set[int]:
        seen, todo = {value.id}, [value]
        while todo:
            v = todo.pop()
            reached: Iterator[kir.Op] = iter((*self.effects.users[v.id], *self.effects.yielding[v.id]))
            for op in reached:
                new = [r for r in op.results if r.id not in seen]
                for region in regions_of(op):
                    new += [a for a in region.args if a.id not in seen]
                seen |= {r.id for r in new}
                todo += new
        return seen

    def _steers(self, op: kir.Op, tainted: set[int]) -> bool:
        if isinstance(op, kir.For) and not op.parallel:
            return any(v.id in tainted for v in (op.begin, op.end, op.step))
        if isinstance(op, kir.While):
            return True
        if isinstance(op, kir.If) and self.effects.has_effect(op):
            return op.condition.id in tainted and any(
                isinstance(o, kir.For | kir.While | kir.If) for r in regions_of(op) for o in walk(r)
            )
        return any(not e.launch_visible for r in op.results for e in r.shape)


def ordered_axis(op: kir.Op, value: int) -> int | None:
    """The axis of a result along which its elements depend on each other."""
    if isinstance(op, kir.Scan):
        return op.axis
    if isinstance(op, kir.RegionScan) and value in {r.id for r in op.results[: op.outputs]}:
        return op.output_axis
    return None


def written_value(op: kir.Op) -> kir.Value:
    """The value whose axes a write runs over."""
    if isinstance(op, kir.Atomic):
        return op.results[0] if op.results else max(op.operands, key=lambda v: v.rank)
    assert isinstance(op, kir.Store | kir.ScatterReduce)
    return op.value


def target_resource(op: kir.Op) -> kir.Resource:
    """The resource that a write or an allocation defines."""
    if isinstance(op, kir.BufferAlloc):
        return op.buffer
    assert isinstance(op, WRITES)
    return op.target


def has_atomic(op: kir.ScatterReduce) -> bool:
    """Whether GPUs have an indivisible form of this collision."""
    if op.kind is None:
        return False
    wide = op.target.dtype.name in ("i32", "i64", "u32", "u64")
    return wide or (op.kind == "sum" and op.target.dtype.name in ("f32", "f64", "f16", "bf16"))


def commute(x: kir.Op, y: kir.Op) -> bool:
    """Whether two writes to one resource may happen in either order."""
    return (
        isinstance(x, kir.ScatterReduce)
        and isinstance(y, kir.ScatterReduce)
        and x.kind is not None
        and x.kind == y.kind
    )
