"""Units: statements under their parallel loops, the axes they could share out, and what they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir
from intent.construct.axes import AxisClasses, loop_axis
from intent.construct.definitions import Definitions
from intent.construct.demand import AxisKey, Demand, Read, Signature, unmoved
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
    structured value does not vary, so that instances split along them would compute it again; ``unknown``: axes,
    with their extents, whose extents are not known before the launch.
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
    unknown: tuple[tuple[str, Extent], ...] = ()


class Units:
    """Collects the units of a kernel."""

    def __init__(
        self,
        kernel: kir.Kernel,
        definitions: Definitions,
        classes: AxisClasses,
        effects: Effects,
        trips: dict[int, Extent],
    ) -> None:
        self.definitions = definitions
        self.classes = classes
        self.effects = effects
        self.trips = trips
        self.units: list[Unit] = []
        self._collect(kernel.body, ())

    def _collect(self, region: kir.Region, prefix: tuple[kir.For, ...]) -> None:
        for op in region.ops:
            if isinstance(op, kir.For) and op.parallel:
                self._collect(op.body, (*prefix, op))
            elif self.effects.has_effect(op):
                self.units.append(self._unit(op, prefix))

    def _unit(self, op: kir.Op, prefix: tuple[kir.For, ...]) -> Unit:
        candidates = [
            Candidate((("for", f.id, 0),), self.classes.label(loop_axis(f)), self.trips[f.id], True)
            for f in prefix
        ]
        candidates += self._written_axes([op] if isinstance(op, WRITES) else self._inner_writes(op))
        unknown = tuple((c.label, c.extent) for c in candidates if not c.extent.launch_visible)
        candidates = [c for c in candidates if c.extent.launch_visible and c.extent.const != 1]
        unit = Unit(prefix, op, candidates, unknown=unknown)
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
        points: dict[int, AxisKey] = {f.body.args[0].id: ("for", f.id, 0) for f in unit.prefix}
        loops: dict[int, kir.For] = {f.body.args[0].id: f for f in unit.prefix}
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
                unit.reads += demand.reads(v, carried_axes(v, unit, self.classes))
            for region in regions_of(op):
                for v in region.yields:
                    unit.reads += demand.reads(v, carried_axes(v, unit, self.classes))
        self._producers(unit, demand)

    def _producers(self, unit: Unit, demand: Demand) -> None:
        for value_id, axes in demand.seen:
            producer = self.definitions.op.get(value_id)
            if producer is None:
                continue  # an argument
            if self.effects.has_effect(producer):
                unit.needs.add(producer.id)
            if isinstance(producer, kir.Pointwise) and axes and producer.results[0].dtype.is_float:
                unit.computed.add(producer.id)
            if isinstance(producer, STRUCTURED):
                unit.producers.add(producer.id)
                # Along an ordered axis every element needs those before it: work that instances would repeat.
                ordered = ordered_axis(producer, value_id)
                own = {unmoved(a) for k, a in enumerate(axes) if k != ordered and a is not None}
                unit.shared |= {
                    k for c in unit.candidates if not c.declared and not set(c.keys) & own for k in c.keys
                }


def carried_axes(value: kir.Value, unit: Unit, classes: AxisClasses) -> tuple[AxisKey | None, ...]:
    """A carried tensor runs along an instance axis where it has an axis of that class."""
    axes: list[AxisKey | None] = []
    for k in range(value.rank):
        label = classes.label((value.id, k))
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
        return op.results[0] if op.results else op.operands[0]  # only a store has no result, and one operand
    assert isinstance(op, kir.Store | kir.ScatterReduce)
    return op.value


def target_resource(op: kir.Op) -> kir.Resource:
    """The resource that a write or an allocation defines."""
    if isinstance(op, kir.BufferAlloc):
        return op.buffer
    assert isinstance(op, WRITES)
    return op.target
