"""The default plan: no search, a few rules about bytes, lanes and matrix units.

1. A contraction over large axes: 128 x 128 results an instance, the paired axis in blocks of 64, programs grouped.
2. A reduced axis that fits 16384 lanes is resident: the row is read once; short rows share an instance.
3. A longer one is walked in blocks of 4096 lanes.
4. Everything else is pointwise: 1024 elements an instance along the innermost axis, 64 x 64 for two axes that
   different accesses find contiguous.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent import kir
from intent.construct import Analysis, GroupPlan, Inner, Plan, resident, serial
from intent.construct.groups import Group
from intent.construct.plan import knobs
from intent.kir.walk import walk
from intent.physical import Guard
from intent.planning.legal import divisible, legal, must_be_whole, power_of_two, size_of
from intent.provider import Capabilities

RESIDENT_LIMIT = 16384
SERIAL_BLOCK = 4096
POINTWISE_ELEMENTS = 1024
ROW_ELEMENTS = 2048


def default(analysis: Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None = None) -> Plan:
    """The plan used when the author gives none, for the call's extents (typical ones when unknown)."""
    return _Planner(analysis, capabilities, dict(extents) if extents else None).plan()


class _Planner:
    def __init__(self, analysis: Analysis, capabilities: Capabilities, extents: dict[str, int] | None) -> None:
        self.analysis = analysis
        self.capabilities = capabilities
        self.extents = extents
        self.guards: set[Guard] = set()
        self.knobs: dict[str, int] = {}

    def plan(self) -> Plan:
        inner = self._inner()
        groups = tuple(self._group(g, dict(inner)) for g in self.analysis.groups)
        made = Plan(
            groups=groups, guards=tuple(sorted(self.guards, key=str)), knobs=knobs(self.knobs), name="default"
        )
        return legal(made, self.analysis, self.capabilities)

    def _size(self, label: str) -> int:
        return size_of(self.analysis.inner[label].extent, self.extents, 1024)

    def _inner(self) -> list[tuple[str, Inner]]:
        whole = must_be_whole(self.analysis)
        found: list[tuple[str, Inner]] = []
        for label, axis in sorted(self.analysis.inner.items()):
            value = self._size(label)
            if label in whole:
                found.append((label, resident(power_of_two(value))))
            elif not axis.extent.launch_visible:
                found.append((label, serial(128)))
            elif "contract" in axis.roles:
                found.append((label, self._contract_axis(label, value)))
            elif value <= RESIDENT_LIMIT:
                found.append((label, resident(power_of_two(value))))
            else:
                found.append((label, serial(SERIAL_BLOCK)))
                self._divide(axis.extent, SERIAL_BLOCK)
        return found

    def _contract_axis(self, label: str, value: int) -> Inner:
        block = min(64, max(16, power_of_two(value)))
        self._divide(self.analysis.inner[label].extent, block)
        return serial(block)

    def _divide(self, extent: object, block: int) -> None:
        e = extent
        guard = divisible(e, block, size_of(e, self.extents, block + 1))  # type: ignore[arg-type]
        if guard is not None and self.extents is not None:
            self.guards.add(guard)

    # -- groups ----------------------------------------------------------------------------------------------------

    def _group(self, group: Group, inner: dict[str, Inner]) -> GroupPlan:
        contracted = self._result_axes(group)
        if contracted:
            return self._matrix_group(group, inner, contracted)
        walked = self._walked(group)
        sizes = {a.label: size_of(a.extent, self.extents, 1024) for a in group.axes}
        rows = [a for a in group.axes if a.label.split(".")[0] not in walked]
        if walked:
            return self._row_group(group, inner, rows, sizes, walked)
        return self._pointwise_group(group, inner, sizes)

    def _result_axes(self, group: Group) -> list[str]:
        """Instance axes that are free axes of a contraction in this group."""
        labels = {a.label for a in group.axes}
        producers = set().union(*(u.producers for u in group.units)) if group.units else set()
        found: list[str] = []
        for op in walk(self.analysis.kernel.body):
            if isinstance(op, kir.Contract) and op.id in producers and op.result.rank >= 2:
                for k in (op.result.rank - 2, op.result.rank - 1):
                    label = self.analysis.classes.label((op.result.id, k))
                    for candidate in (label, f"{label}.2"):
                        if candidate in labels and candidate not in found:
                            found.append(candidate)
                            break
        return found

    def _walked(self, group: Group) -> set[str]:
        """Labels that structured operations of the group walk inside an instance."""
        producers = set().union(*(u.producers for u in group.units)) if group.units else set()
        found = set()
        for op in walk(self.analysis.kernel.body):
            if op.id not in producers:
                continue
            if isinstance(op, kir.Reduce):
                found |= {self.analysis.classes.label((op.operands[0].id, k)) for k in op.axes}
            elif isinstance(op, kir.Contract):
                found |= {self.analysis.classes.label((op.lhs.id, k)) for k, _ in op.reduce}
            elif isinstance(op, kir.For):
                found |= {self.analysis.classes.label((v.id, k)) for v in op.results for k in range(v.rank)}
        return found

    def _matrix_group(self, group: Group, inner: dict[str, Inner], contracted: list[str]) -> GroupPlan:
        instance = []
        matrix = contracted[-2:]
        sizes = {a.label: size_of(a.extent, self.extents, 1024) for a in group.axes}
        for axis in group.axes:
            block = 1
            if axis.label in matrix and not axis.single:
                block = min(128, max(16, power_of_two(sizes[axis.label])))
                if axis.label == matrix[-1] and len(matrix) == 2 and self._large(sizes, matrix):
                    block = 256
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        large = self._large(sizes, matrix)
        self.knobs.update({"num_warps": 8 if large else 4, "num_stages": 3 if large else 3})
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()), grouped=8 if len(matrix) == 2 else 1)

    def _large(self, sizes: dict[str, int], matrix: list[str]) -> bool:
        return len(matrix) == 2 and all(sizes[m] >= 256 for m in matrix) and sizes[matrix[0]] * sizes[matrix[1]] >= 1 << 21

    def _row_group(self, group: Group, inner: dict[str, Inner], rows: list[object], sizes: dict[str, int], walked: set[str]) -> GroupPlan:
        width = 1
        for label in walked:
            i = inner.get(label)
            width *= i.size if i is not None else 1
        instance = []
        row_labels = [a.label for a in rows]  # type: ignore[attr-defined]
        spare = max(1, ROW_ELEMENTS // max(1, width))
        for axis in group.axes:
            if axis.label not in row_labels:
                continue
            block = 1
            if axis.label == row_labels[-1] and not axis.single:
                block = min(spare, power_of_two(sizes[axis.label]))
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        if not instance and group.axes:
            # Every axis is also reduced somewhere: keep the program space, recompute the reduction.
            instance = [(a.label, 1) for a in group.axes]
        self.knobs["num_warps"] = max(self.knobs.get("num_warps", 0), min(8, max(1, width * spare // 512)))
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()))

    def _pointwise_group(self, group: Group, inner: dict[str, Inner], sizes: dict[str, int]) -> GroupPlan:
        instance = []
        budget = POINTWISE_ELEMENTS
        transposed = self._transposes(group)
        for axis in reversed(group.axes):
            block = 1
            if not axis.single and budget > 1:
                limit = 64 if transposed else budget
                block = min(limit, power_of_two(sizes[axis.label]))
                budget = (4096 if transposed and not instance else budget) // block
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        self.knobs.setdefault("num_warps", 4)
        return GroupPlan(instance=tuple(reversed(instance)), inner=tuple(inner.items()))

    def _transposes(self, group: Group) -> bool:
        """Whether two accesses of the group have different execution axes innermost."""
        last = set()
        for unit in group.units:
            for _, signature in unit.writes:
                last.add(signature[-1][0] if signature and signature[-1] is not None else None)
            for read in unit.reads:
                if len(read.signature) >= 2:
                    last.add(read.signature[-1][0] if read.signature[-1] is not None else None)
        labels = {group.keys.get(k, str(k)) if k is not None else None for k in last}
        labels.discard(None)
        return len(labels) > 1 and len(group.axes) >= 2
