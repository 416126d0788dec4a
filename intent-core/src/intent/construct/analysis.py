"""Everything known about a kernel before a plan is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from intent import kir
from intent import physical as ph
from intent.construct.axes import AxisClasses, classify
from intent.construct.bounds import UpperBounds
from intent.construct.definitions import Definitions
from intent.construct.effects import Effects
from intent.construct.facts import Facts
from intent.construct.groups import Group, Grouping
from intent.construct.inner import walked_axes
from intent.construct.reasons import Apart
from intent.construct.unique import unique_stores
from intent.kir.facts import launch_facts
from intent.kir.walk import regions_of, walk
from intent.proof import Fact
from intent.types import Extent
from intent.types.extent import ceildiv, maximum


@dataclass
class InnerAxis:
    """An axis class that is walked inside instances: its extent and what walks it."""

    label: str
    extent: Extent
    roles: set[str] = field(default_factory=set)


@dataclass
class Analysis:
    """Definitions, axis classes, groups and inner axes of one kernel.

    ``last``: what of a plan the last program was constructed for, and the program.
    """

    kernel: kir.Kernel
    definitions: Definitions
    classes: AxisClasses
    effects: Effects
    facts: tuple[Fact, ...]
    values: dict[int, kir.Value]
    trips: dict[int, Extent]
    bounds: UpperBounds
    groups: list[Group] = field(default_factory=list)
    inner: dict[str, InnerAxis] = field(default_factory=dict)
    apart: tuple[Apart, ...] = ()
    last: tuple[object, ph.Program] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def unique(self) -> dict[int, ph.Proof]:
        """Why no element is written twice, by store."""
        return unique_stores(self.kernel)

    def trip_count(self, op: kir.For) -> Extent:
        """The number of iterations of a loop."""
        return self.trips[op.id]

    def upper_bound(self, e: Extent) -> Extent | None:
        """A launch-visible extent that ``e`` cannot exceed, or None."""
        return self.bounds.of(e)


def analyze(kernel: kir.Kernel) -> Analysis:
    """Analyse a kernel; the result serves every plan."""
    definitions = Definitions.of(kernel)
    values: dict[int, kir.Value] = {a.id: a for a in kernel.body.args}
    facts = Facts(launch_facts(kernel.conditions).known, values)
    trips: dict[int, Extent] = {}
    for op in walk(kernel.body):
        values.update((r.id, r) for r in op.results)
        values.update((a.id, a) for region in regions_of(op) for a in region.args)
        if isinstance(op, kir.For):
            begin, end, step = (definitions.symbol(v) for v in (op.begin, op.end, op.step))
            count = ceildiv(end - begin, step)
            facts.dyn[op.body.args[0].id] = (begin, end - 1)
            trips[op.id] = count if facts.nonnegative(end - begin) else maximum(0, count)
    classes = classify(kernel)
    effects = Effects.of(kernel, definitions)
    found = Analysis(
        kernel, definitions, classes, effects, facts.known, values, trips, UpperBounds(kernel, facts)
    )
    grouping = Grouping(kernel, definitions, classes, effects, trips, facts)
    found.groups, found.apart = grouping.groups(), tuple(grouping.apart)
    _inner_axes(found)
    return found


def _inner_axes(a: Analysis) -> None:
    eager = a.groups[0].eager if a.groups else set()
    statements = set[int]().union(*(group.statements for group in a.groups))
    for op in walk(a.kernel.body):
        for axis, e, role in walked_axes(op, a.trips, eager, statements):
            label = a.classes.label(axis)
            known = a.inner.setdefault(label, InnerAxis(label, e))
            known.roles.add(role)
            if not known.extent.launch_visible and e.launch_visible:
                known.extent = e
