"""Which operations the differential suite runs under which entries of plans.

A cell is (entry of a plan, kind of logical operation). It counts as exercised when some plan that
:func:`intent_testkit.differential.check_plans` runs lays out an axis of at least two members that way, and the
operation stands in that axis: one of its values runs along it, or the operation whose region it stands in, or the
operation that uses it does. Every axis of a group's instances counts for everything that the group computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from intent import kir
from intent.construct import Analysis, GroupPlan, Plan
from intent.construct.axes import loop_axis
from intent.construct.groups import Group
from intent.kir.walk import operands_of, regions_of, walk
from intent.physical import Guard, Program
from intent.planning.legal import bound_of, size_of
from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case
from intent_testkit.cases.draw import Extents
from intent_testkit.differential import plans_of
from intent_testkit.plans import Compiled

ENTRIES: Final = (
    "instance 1", "instance block", "grouped", "serial 1", "serial block", "resident",
    "divisible", "at most", "segments",
)  # fmt: skip
Cell = tuple[str, str]


def kinds() -> frozenset[str]:
    """Every kind of operation of the logical IR, so that one without any case is an empty row."""
    finer = {
        kir.Reduce: ("reduce", "reduce, own combine", "arg_reduce"),
        kir.Scan: ("scan", "scan, own combine"),
        kir.ScatterReduce: ("scatter_reduce", "scatter_reduce, own combine"),
        kir.Load: ("load", "buffer load"),
        kir.Store: ("store", "buffer store"),
        kir.Atomic: ("atomic update", "atomic load", "atomic store", "atomic compare_exchange"),
        kir.For: ("for", "parallel"),
    }
    every = [
        t for t in vars(kir).values() if isinstance(t, type) and issubclass(t, kir.Op) and t is not kir.Op
    ]
    return frozenset(name for t in every for name in finer.get(t, (_plain(t),)))


def kind_of(op: kir.Op) -> str:
    """The name under which an operation is counted: finer than its class where construction differs."""
    match op:
        case kir.Reduce():
            return {None: "reduce, own combine", "argmax": "arg_reduce", "argmin": "arg_reduce"}.get(
                op.kind, "reduce"
            )
        case kir.Scan():
            return "scan" if op.kind else "scan, own combine"
        case kir.ScatterReduce():
            return "scatter_reduce" if op.kind else "scatter_reduce, own combine"
        case kir.Load():
            return "load" if isinstance(op.source, kir.View) else "buffer load"
        case kir.Store():
            return "store" if isinstance(op.target, kir.View) else "buffer store"
        case kir.Atomic():
            return (
                f"atomic {op.kind}" if op.kind in ("load", "store", "compare_exchange") else "atomic update"
            )
        case kir.For():
            return "parallel" if op.parallel else "for"
        case _:
            return _plain(type(op))


def _plain(kind: type[kir.Op]) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).strip("_")


@dataclass(frozen=True)
class _Facts:
    """What one case says about its operations, whatever the plan."""

    compiled: Compiled
    groups: tuple[tuple[Group, frozenset[int]], ...]
    labels: dict[int, frozenset[str]]

    @classmethod
    def of(cls, compiled: Compiled) -> _Facts:
        analysis = compiled.analysis
        groups = tuple((g, frozenset(op.id for op in _reached(g, analysis))) for g in analysis.groups)
        return cls(compiled, groups, _labels(analysis))


def _reached(group: Group, analysis: Analysis) -> Iterator[kir.Op]:
    """Every operation that a group computes: its effects, the control around them, all that they need."""
    definitions = analysis.definitions
    promises = [op for op in walk(analysis.kernel.body) if isinstance(op, kir.AssumeInBounds)]
    pending: list[kir.Op] = [op for unit in group.units for op in (*unit.prefix, unit.op)]
    whole = {unit.op.id for unit in group.units}
    seen: set[int] = set()
    while pending:
        op = pending.pop()
        if op.id in seen:
            continue
        seen.add(op.id)
        yield op
        used = list(operands_of(op))
        if op.id in whole or not (isinstance(op, kir.For) and op.parallel):
            for region in regions_of(op):
                pending += region.ops
                used += region.yields
                whole |= {o.id for o in region.ops}
        pending += [definitions.op[v.id] for v in used if v.id in definitions.op]
        owner = next((definitions.owner.get(definitions.region[r.id]) for r in op.results), None)
        pending += [owner] if owner is not None and owner.id not in seen else []
        pending += [p for p in promises if p.index in op.results]


def _labels(analysis: Analysis) -> dict[int, frozenset[str]]:
    """The axes in which each operation stands, by operation."""
    classes, definitions = analysis.classes, analysis.definitions
    own: dict[int, set[str]] = {}
    every = list(walk(analysis.kernel.body))
    for op in every:
        values = [*op.results, *operands_of(op), *(a for r in regions_of(op) for a in (*r.args, *r.yields))]
        own[op.id] = {classes.label((v.id, k)) for v in values for k in range(v.rank)}
        if isinstance(op, kir.For):
            own[op.id].add(classes.label(loop_axis(op)))
    for op in every:  # outer before inner
        for region in regions_of(op):
            for inner in region.ops:
                own[inner.id] |= own[op.id]
    for op in reversed(every):  # users before what they use
        for value in operands_of(op):
            producer = definitions.op.get(value.id)
            if producer is not None and not value.rank:
                own[producer.id] |= own[op.id]
    return {k: frozenset(v) for k, v in own.items()}


def exercised(facts: _Facts, extents: Extents, plan: Plan, program: Program) -> set[Cell]:
    """The cells that one run of ``plan`` at ``extents`` exercises."""
    cells: set[Cell] = set()
    analysis = facts.compiled.analysis
    named = facts.compiled.named(extents)
    ops: dict[int, kir.Op] = {op.id: op for op in walk(analysis.kernel.body)}
    for (group, members), laid in zip(facts.groups, plan.groups, strict=True):
        common = set(_shared_entries(group, laid, named))
        ordered = {op for op, form in laid.collisions if form == "ordered"}
        if len(program.segments) > 1:
            common.add("segments")
        for k in members:
            if k in ordered and not isinstance(ops[k], kir.For):
                cells.add(("serial 1", kind_of(ops[k])))  # whatever the plan says
                cells.update(("segments", kind_of(ops[k])) for _ in program.segments[1:])
                continue
            entries = common | set(_inner_entries(analysis, laid, facts.labels[k], named))
            entries |= set(_guards(analysis, group, laid, facts.labels[k], program.guards))
            cells |= {(entry, kind_of(ops[k])) for entry in entries}
    return cells


def _shared_entries(group: Group, laid: GroupPlan, named: dict[str, int]) -> Iterator[str]:
    """Entries that concern everything a group computes."""
    extents = {axis.label: size_of(axis.extent, named, 2) for axis in group.axes}
    for label, block in laid.instance:
        if extents[label] > 1:
            yield "instance 1" if block == 1 else "instance block"
    if laid.grouped > 1 and sum(extents[label] > 1 for label, _ in laid.instance) > 1:
        yield "grouped"


def _inner_entries(
    analysis: Analysis, laid: GroupPlan, labels: frozenset[str], named: dict[str, int]
) -> Iterator[str]:
    instance = {label for label, _ in laid.instance}
    for label in labels & analysis.inner.keys() - instance:
        size = bound_of(analysis, label, named, 64)
        how = laid.traversal(label)
        if how.mode == "resident" and size > 1 and how.size > 1:
            yield "resident"
        elif how.mode == "serial" and size > how.size:
            yield "serial 1" if how.size == 1 else "serial block"


def _guards(
    analysis: Analysis, group: Group, laid: GroupPlan, labels: frozenset[str], guards: Iterable[Guard]
) -> Iterator[str]:
    """Guards on the extent of an axis in which the operation stands."""
    extents = [axis.extent for axis in group.axes if laid.block(axis.label) is not None]
    extents += [analysis.inner[label].extent for label in labels & analysis.inner.keys()]
    for guard in guards:
        if any(guard.extent == e for e in extents):
            yield "divisible" if guard.kind == "divisible" else "at most"


def measure(cases: Iterable[Case] = ALL) -> Counter[Cell]:
    """How many cases exercise each cell, by the plans of the differential suite.

    The cell ``("", kind)`` counts the cases that have the operation at all.
    """
    found: Counter[Cell] = Counter()
    for case in cases:
        compiled = Compiled(case)
        facts = _Facts.of(compiled)
        cells: set[Cell] = {("", kind_of(op)) for op in walk(compiled.kernel.body)}
        for point, plan in plans_of(compiled):
            if all(point.extents.values()):
                cells |= exercised(facts, point.extents, plan, compiled.constructed(plan))
        found.update(cells)
    return found


def empty(found: Mapping[Cell, int]) -> list[Cell]:
    """Cells that no case exercises."""
    every = [(entry, kind) for kind in sorted(kinds()) for entry in ENTRIES]
    return [cell for cell in every if not found.get(cell)]


def rows(found: Mapping[Cell, int]) -> Iterator[str]:
    """The table as lines of text: a row per kind of operation, in each cell the number of cases."""
    names = sorted(kinds())
    width = max(map(len, names))
    yield " " * width + "  cases " + " ".join(f"{entry:>14}" for entry in ENTRIES)
    for kind in names:
        texts = [found.get((entry, kind)) or "-" for entry in ENTRIES]
        yield f"{kind:<{width}}  {found.get(('', kind), 0):>5} " + " ".join(f"{text:>14}" for text in texts)
    for entry, kind in empty(found):
        yield f"EMPTY: {kind} under '{entry}'"
