"""Everything known about a kernel before a plan is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir
from intent.construct.axes import AxisClasses, classify, loop_axis
from intent.construct.bounds import UpperBounds
from intent.construct.definitions import Definitions
from intent.construct.effects import Effects
from intent.construct.formats import element_axis
from intent.construct.groups import Group, Grouping
from intent.construct.point import Facts
from intent.kir.walk import walk
from intent.types import Extent
from intent.types.extent import ceildiv, const, maximum


@dataclass
class InnerAxis:
    """An axis class that is walked inside instances: its extent and what walks it."""

    label: str
    extent: Extent
    roles: set[str] = field(default_factory=set)


@dataclass
class Analysis:
    """Definitions, axis classes, groups and inner axes of one kernel."""

    kernel: kir.Kernel
    definitions: Definitions
    classes: AxisClasses
    effects: Effects
    facts: tuple[Extent, ...]
    values: dict[int, kir.Value]
    trips: dict[int, Extent]
    bounds: UpperBounds
    groups: list[Group] = field(default_factory=list)
    inner: dict[str, InnerAxis] = field(default_factory=dict)

    def trip_count(self, op: kir.For) -> Extent:
        """The number of iterations of a loop."""
        return self.trips[op.id]

    def upper_bound(self, e: Extent) -> Extent | None:
        """A launch-visible extent that ``e`` cannot exceed, or None."""
        return self.bounds.of(e)


def analyze(kernel: kir.Kernel) -> Analysis:
    """Analyse a kernel; the result serves every plan."""
    definitions = Definitions.of(kernel)
    known = tuple(c.lhs - c.rhs for c in kernel.conditions if c.kind == "at_least")
    facts = Facts(known)
    trips: dict[int, Extent] = {}
    values: dict[int, kir.Value] = {a.id: a for a in kernel.body.args}
    for op in walk(kernel.body):
        values.update((r.id, r) for r in op.results)
        if isinstance(op, kir.For):
            values.update((a.id, a) for a in op.body.args)
            begin, end, step = (definitions.symbol(v) for v in (op.begin, op.end, op.step))
            count = ceildiv(end - begin, step)
            facts.dyn[op.body.args[0].id] = (begin, end - 1)
            trips[op.id] = count if facts.nonnegative(end - begin) else maximum(0, count)
    classes = classify(kernel)
    effects = Effects.of(kernel, definitions)
    found = Analysis(kernel, definitions, classes, effects, known, values, trips, UpperBounds(kernel, facts))
    found.groups = Grouping(kernel, definitions, classes, effects, trips).groups()
    _inner_axes(found)
    return found


def _inner_axes(a: Analysis) -> None:
    def note(label: str, e: Extent, role: str) -> None:
        axis = a.inner.setdefault(label, InnerAxis(label, e))
        axis.roles.add(role)
        if axis.extent.launch_visible is False and e.launch_visible:
            axis.extent = e

    for op in walk(a.kernel.body):
        if isinstance(op, kir.Reduce):
            for k in op.axes:
                note(a.classes.label((op.operands[0].id, k)), op.operands[0].shape[k], "reduce")
        elif isinstance(op, kir.Contract):
            for k, _ in op.reduce:
                note(a.classes.label((op.lhs.id, k)), op.lhs.shape[k], "contract")
        elif isinstance(op, kir.ScaledContract):
            note(a.classes.label(element_axis(op)), const(op.lhs_group), "contract")
        elif isinstance(op, kir.SparseContract):
            for k, _ in op.reduce:
                note(a.classes.label((op.compressed.id, k)), op.compressed.shape[k], "reduce")
        elif isinstance(op, kir.Histogram):
            for k, e in enumerate(op.values.shape):
                note(a.classes.label((op.values.id, k)), e, "reduce")
        elif isinstance(op, kir.RegionFold | kir.RegionScan):
            note(a.classes.label((op.source[0].id, op.axis)), op.source[0].shape[op.axis], "fold")
        elif isinstance(op, kir.Scan):
            note(a.classes.label((op.operands[0].id, op.axis)), op.operands[0].shape[op.axis], "scan")
        elif isinstance(op, kir.Store):
            for k, e in enumerate(op.value.shape):
                note(a.classes.label((op.value.id, k)), e, "store")
        if isinstance(op, kir.RegionFold | kir.RegionScan | kir.While):
            held = op.results if not isinstance(op, kir.RegionScan) else op.results[op.outputs :]
            for v in held:
                for k, e in enumerate(v.shape):
                    note(
                        a.classes.label((v.id, k)),
                        e,
                        "carried" if not isinstance(op, kir.RegionFold) else "summary",
                    )
        if isinstance(op, kir.For):
            if op.parallel:
                note(a.classes.label(loop_axis(op)), a.trips[op.id], "point")
            for v in op.results:
                for k, e in enumerate(v.shape):
                    note(a.classes.label((v.id, k)), e, "carried")
        if isinstance(op, kir.Load) and op.id in _eager(a):
            for k, e in enumerate(op.result.shape):
                note(a.classes.label((op.result.id, k)), e, "held")


def _eager(a: Analysis) -> set[int]:
    return a.groups[0].eager if a.groups else set()
