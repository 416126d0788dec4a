"""Worksets: the groups of a kernel, why their points are independent, and why they are groups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

from intent import kir
from intent.construct import Analysis, Plan
from intent.construct.alias import alias_class
from intent.construct.demand import AxisKey
from intent.construct.groups import Group as Formed
from intent.construct.groups import GroupAxis
from intent.construct.reasons import Apart, Joined, Refused
from intent.construct.units import Unit, target_resource
from intent.explain.places import Places
from intent.explain.quantity import Environment, plain, quantity
from intent.explain.report import Axis, Fact, Group, Place, Reason, Statement
from intent.kir.walk import walk
from intent.types.span import UNKNOWN

__all__ = ["apart", "groups"]


class _Worksets:
    def __init__(self, analysis: Analysis, places: Places, env: Environment | None) -> None:
        self.analysis = analysis
        self.places = places
        self.env = env
        self.ops: dict[int, kir.Op] = {op.id: op for op in walk(analysis.kernel.body)}
        self.aliases = {alias_class(view): view.name for view in analysis.kernel.views if view.alias is None}
        self.aliases |= {
            alias_class(op.buffer): op.buffer.name
            for op in self.ops.values()
            if isinstance(op, kir.BufferAlloc)
        }
        self.group_of: dict[int, int] = {u.op.id: n for n, g in enumerate(analysis.groups) for u in g.units}

    def place(self, op: kir.Op) -> Place | None:
        return self.places.place(op.span)

    # -- statements and axes -----------------------------------------------------------------------------------

    def group(self, number: int, formed: Formed, plan: Plan) -> Group:
        owned = dict(plan.groups[number].instance)
        kept = [a for a in formed.axes if a.label not in owned]
        refused = [self._refused(number, r) for r in formed.refused]
        return Group(
            number=number,
            statements=tuple(map(self._statement, formed.units)),
            axes=tuple(self._axis(formed, axis) for axis in formed.axes),
            joined=tuple(self._joined(number, reason) for reason in formed.joined),
            inside=(*dict.fromkeys(refused), *(self._kept(number, axis) for axis in kept)),
        )

    def _statement(self, unit: Unit) -> Statement:
        return Statement(
            id=unit.op.id,
            kind=_kind(unit.op),
            reads=tuple(dict.fromkeys(r.op.source.name for r in unit.reads)),
            writes=tuple(dict.fromkeys(target_resource(op).name for op, _ in unit.writes)),
            place=self.place(unit.op),
        )

    def _axis(self, formed: Formed, axis: GroupAxis) -> Axis:
        facts = [f for key, label in formed.keys.items() if label == axis.label for f in self._facts(key)]
        return Axis(
            label=axis.label,
            extent=quantity(axis.extent, self.env),
            facts=tuple(dict.fromkeys(facts)),
            single=axis.single,
            repeats=not axis.owned,
        )

    def _facts(self, key: AxisKey) -> Iterator[Fact]:
        kind, number, k = key
        op = self.ops[number]
        place = self.place(op)
        if kind == "for":
            yield Fact(
                source="parallel", text="the points of I.parallel are declared independent", place=place
            )
        elif isinstance(op, kir.Atomic):
            yield Fact(source="atomic", text="the iteration domain of an atomic", place=place)
        elif isinstance(op, kir.ScatterReduce):
            text = f"the iteration domain of a scatter-reduction by {op.kind or 'a combine of the kernel'}"
            yield Fact(source="scatter", text=text, place=place)
        elif isinstance(op, kir.Store):
            text = f"axis {k} of a write to '{op.target.name}' whose destinations are unique"
            yield Fact(source="write", text=text, place=place)
            yield from self._free(op.value, k)

    def _free(self, value: kir.Value, axis: int) -> Iterator[Fact]:
        """Through pointwise operations to the structured one that the axis is free in."""
        op = self.analysis.definitions.op.get(value.id)
        match op:
            case kir.Pointwise():
                for operand in op.operands:
                    found = list(self._free(operand, axis))
                    if found:
                        yield from found
                        return
            case kir.Cast() | kir.Bitcast():
                yield from self._free(op.value, axis)
            case kir.Transpose():
                yield from self._free(op.value, op.permutation[axis])
            case kir.Broadcast() if axis in op.axes:
                yield from self._free(op.value, op.axes.index(axis))
            case kir.Contract():
                left = [k for k in range(op.lhs.rank) if k not in {a for a, _ in op.reduce}]
                batch = axis < len(left) and left[axis] in {a for a, _ in op.batch}
                what = "a batch axis" if batch else "a free axis"
                source: Literal["batch axis", "free axis"] = "batch axis" if batch else "free axis"
                yield Fact(source=source, text=f"{what} of a contraction", place=self.place(op))
            case kir.ScaledContract() | kir.SparseContract():
                yield Fact(source="free axis", text="a free axis of a contraction", place=self.place(op))
            case kir.Reduce():
                yield Fact(source="free axis", text="not reduced over", place=self.place(op))
            case kir.Scan() if op.axis != axis:
                yield Fact(source="free axis", text="not the axis of a scan", place=self.place(op))
            case kir.RegionFold():
                text = "a free axis of the summary of a region_fold"
                yield Fact(source="free axis", text=text, place=self.place(op))
            case kir.RegionScan() if value.id in {r.id for r in op.results[: op.outputs]}:
                if axis != op.output_axis:
                    text = "a free axis of the outputs of a region_scan"
                    yield Fact(source="free axis", text=text, place=self.place(op))

    # -- reasons -------------------------------------------------------------------------------------------------

    def _joined(self, number: int, reason: Joined) -> Reason:
        names = self._names(reason.names)
        text = {
            "memory": f"both use {names}, which one of them writes",
            "result": "one uses what the effect of the other yields",
            "producer": f"both need {self._producers(reason.producers)}; it is computed once",
            "reads": f"both read the same elements of {names} over the same instances; they are fetched once",
        }[reason.because]
        pair = (reason.first, reason.second)
        return Reason(because=reason.because, text=text, statements=pair, groups=(number,))

    def apart(self, reason: Apart) -> Reason:
        names = self._names(reason.names)
        text = {
            "disjoint": f"both write {names}, but never in one element, or by reductions that commute",
            "no axis": f"both need {self._producers(reason.producers)}, but have no axis to be instances of in common",
        }[reason.because]
        pair = (reason.first, reason.second)
        return Reason(
            because=reason.because, text=text, statements=pair, groups=tuple(self.group_of[s] for s in pair)
        )

    def _names(self, classes: tuple[str, ...]) -> str:
        """What alias classes are called: views, groups of views, buffers by the author's names."""
        return " and ".join(f"'{self.aliases.get(cls, cls)}'" for cls in classes)

    def _producers(self, ids: tuple[int, ...]) -> str:
        """The shared values: by the names they have, else by their lines."""
        ops = [self.ops[i] for i in ids]
        named = [r.name for op in ops for r in op.results if r.name]
        if named:
            return ", ".join(dict.fromkeys(named))
        lines = dict.fromkeys(op.span.line for op in ops if op.span is not UNKNOWN)
        where = ", ".join(map(str, lines))
        return (
            f"what line{'s' if len(lines) > 1 else ''} {where} compute{'' if len(lines) > 1 else 's'}"
            if lines
            else "one value"
        )

    def _refused(self, number: int, refused: Refused) -> Reason:
        e = plain(str(refused.extent))
        axis = f"{refused.label} of {e}" if refused.extent.launch_visible else refused.label
        why = {
            "uncommon": "not every statement of the group has this axis",
            "run time": "its extent is known only when the kernel runs",
            "collision": "a write that may collide, and that no atomic performs, needs one owner",
            "aliases": "equal coordinates of views that may alias need not be one element",
            "same element": "instances along it would touch the same elements, and one of them writes",
            "read in front": "a read in front of the loop may see what a point writes",
        }[refused.because]
        where = (refused.statement,)
        return Reason(because=refused.because, text=f"{axis}: {why}", statements=where, groups=(number,))

    def _kept(self, number: int, axis: GroupAxis) -> Reason:
        why = "the plan walks it inside"
        if not axis.owned:
            why = "instances along it would repeat work that they could share"
        text = f"{axis.label} of {plain(str(axis.extent))}: {why}"
        return Reason(because="plan", text=text, statements=(), groups=(number,))


def _kind(op: kir.Op) -> str:
    match op:
        case kir.Store():
            return "write"
        case kir.ScatterReduce():
            return f"scatter-reduce {op.kind or 'by a combine'}"
        case kir.Atomic():
            return f"atomic {op.kind}"
        case kir.BufferAlloc():
            return "buffer"
        case kir.For():
            return "loop"
        case kir.While():
            return "while"
    return "branch"


def groups(analysis: Analysis, plan: Plan, places: Places, env: Environment | None) -> tuple[Group, ...]:
    """Every group of the kernel, in program order."""
    made = _Worksets(analysis, places, env)
    return tuple(made.group(n, g, plan) for n, g in enumerate(analysis.groups))


def apart(analysis: Analysis, places: Places) -> tuple[Reason, ...]:
    """Why each pair of groups is two groups and not one."""
    made = _Worksets(analysis, places, None)
    found = [r for r in map(made.apart, analysis.apart) if len(set(r.groups)) == 2]
    said = {tuple(sorted(r.groups)) for r in found}
    text = "nothing in common: no memory that one of them writes, no value worth sharing"
    found += [
        Reason(because="independent", text=text, statements=(), groups=pair)
        for pair in combinations(range(len(analysis.groups)), 2)
        if pair not in said
    ]
    return tuple(found)
