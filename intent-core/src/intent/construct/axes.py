"""Axis classes: which axes of which values run over the same members. They only label plan entries.

Correctness never rests on a class: two axes of one class still get their own coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir
from intent.kir.walk import regions_of
from intent.types import Extent

Axis = tuple[int, int]
"""(value id, axis number); loops use (-op id - 1, 0)."""


def loop_axis(op: kir.For) -> Axis:
    """The axis of a loop's iteration."""
    return (-op.id - 1, 0)


@dataclass
class AxisClasses:
    """A union-find over axes with a readable, unique label and an extent per class."""

    parent: dict[Axis, Axis] = field(default_factory=dict)
    extent: dict[Axis, Extent] = field(default_factory=dict)
    hint: dict[Axis, str] = field(default_factory=dict)
    labels: dict[Axis, str] = field(default_factory=dict)

    def find(self, axis: Axis) -> Axis:
        self.parent.setdefault(axis, axis)
        while self.parent[axis] != axis:
            self.parent[axis] = self.parent[self.parent[axis]]
            axis = self.parent[axis]
        return axis

    def join(self, a: Axis, b: Axis) -> None:
        ra, rb = self.find(a), self.find(b)
        if ra != rb:
            self.parent[rb] = ra
            if rb in self.hint:
                self.hint.setdefault(ra, self.hint[rb])

    def label(self, axis: Axis) -> str:
        """The class label of an axis."""
        return self.labels[self.find(axis)]

    def name(self, axis: Axis, extent: Extent, hint: str = "") -> None:
        root = self.find(axis)
        self.extent.setdefault(root, extent)
        if hint:
            self.hint.setdefault(root, hint)


def classify(kernel: kir.Kernel) -> AxisClasses:
    """The axis classes of a kernel."""
    classes = AxisClasses()
    names: dict[int, str] = {d.id: d.name for d in kernel.domains}
    domains: dict[int, Axis] = {}
    _visit(kernel.body, classes, names, domains)
    _assign_labels(classes)
    return classes


def _assign_labels(classes: AxisClasses) -> None:
    used: set[str] = set()
    for axis in list(classes.parent):
        root = classes.find(axis)
        if root in classes.labels:
            continue
        e = classes.extent.get(axis, classes.extent.get(root))
        base = classes.hint.get(root) or (str(e) if e is not None else "axis")
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in base).strip("_") or "axis"
        if base[0].isdigit():
            base = f"n{base}"
        label, n = base, 2
        while label in used:
            label, n = f"{base}_{n}", n + 1
        used.add(label)
        classes.labels[root] = label


def _visit(region: kir.Region, classes: AxisClasses, names: dict[int, str], domains: dict[int, Axis]) -> None:
    for op in region.ops:
        for value in op.results:
            for k, e in enumerate(value.shape):
                classes.name((value.id, k), e)
        _join_op(op, classes, names, domains)
        for inner in regions_of(op):
            for arg in inner.args:
                for k, e in enumerate(arg.shape):
                    classes.name((arg.id, k), e)
            _visit(inner, classes, names, domains)
        _join_regions(op, classes)


def _same(classes: AxisClasses, a: kir.Value, b: kir.Value) -> None:
    for k in range(min(a.rank, b.rank)):
        classes.join((a.id, k), (b.id, k))


def _join_op(op: kir.Op, classes: AxisClasses, names: dict[int, str], domains: dict[int, Axis]) -> None:  # noqa: C901
    match op:
        case kir.Iota():
            first: Axis = (op.result.id, 0)
            classes.name(first, op.result.shape[0], names.get(op.domain, ""))
            _join_domain(classes, domains, op.domain, first)
        case kir.For():
            axis = loop_axis(op)
            classes.find(axis)
            _join_domain(classes, domains, op.domain, axis)
            if names.get(op.domain):
                classes.hint.setdefault(classes.find(axis), names[op.domain])
        case kir.Pointwise():
            for operand in op.operands:
                _same(classes, op.result, operand)
        case kir.Cast() | kir.Bitcast():
            _same(classes, op.result, op.value)
        case kir.Broadcast():
            for k, a in enumerate(op.axes):
                if op.value.shape[k] is op.result.shape[a] or op.value.shape[k].const is None:
                    classes.join((op.result.id, a), (op.value.id, k))
        case kir.Transpose():
            for k, a in enumerate(op.permutation):
                classes.join((op.result.id, k), (op.value.id, a))
        case kir.Join():
            _same(classes, op.lhs, op.result)
            _same(classes, op.rhs, op.result)
        case kir.Gather() | kir.Load():
            _join_relation(classes, op.relation, op.result)
        case kir.Store():
            _join_relation(classes, op.relation, op.value)
        case kir.Reduce():
            free = [k for k in range(op.operands[0].rank) if k not in op.axes]
            for other in op.operands[1:]:
                _same(classes, op.operands[0], other)
            for value in op.results:
                for j, k in enumerate(free):
                    classes.join((value.id, j), (op.operands[0].id, k))
        case kir.Scan():
            for value, operand in zip(op.results, op.operands, strict=True):
                _same(classes, value, operand)
                _same(classes, op.operands[0], operand)
        case kir.Contract():
            _join_contract(classes, op.lhs, op.rhs, op)
        case kir.SparseContract():
            _join_contract(classes, op.compressed, op.dense, op)
            for value in op.metadata:
                for k in range(value.rank):
                    if k != op.reduce[0][0]:
                        classes.join((op.compressed.id, k), (value.id, k))
        case kir.RandomBits():
            _same(classes, op.result, op.seed)
            _same(classes, op.result, op.counter)
        case kir.ScaledContract():
            _join_scaled(classes, op)
        case _:
            pass


def _join_domain(classes: AxisClasses, domains: dict[int, Axis], domain: int, axis: Axis) -> None:
    if domain in domains:
        classes.join(domains[domain], axis)
    else:
        domains[domain] = axis


def _join_relation(classes: AxisClasses, relation: kir.Relation, value: kir.Value) -> None:
    for coordinate, spread in zip(relation.coordinates, relation.axes, strict=True):
        for j, a in enumerate(spread):
            if coordinate.shape[j] is value.shape[a]:
                classes.join((coordinate.id, j), (value.id, a))


def _join_contract(
    classes: AxisClasses, lhs: kir.Value, rhs: kir.Value, op: kir.Contract | kir.SparseContract
) -> None:
    """Paired axes and the axes of the result. The stored axis of a compressed side is not the logical one."""
    for left, right in (*(op.reduce if isinstance(op, kir.Contract) else ()), *op.batch):
        classes.join((lhs.id, left), (rhs.id, right))
    summed_l = {left for left, _ in op.reduce}
    dropped_r = {right for _, right in (*op.reduce, *op.batch)}
    result = [(lhs.id, k) for k in range(lhs.rank) if k not in summed_l]
    result += [(rhs.id, k) for k in range(rhs.rank) if k not in dropped_r]
    for k, axis in enumerate(result):
        classes.join((op.result.id, k), axis)


def _join_scaled(classes: AxisClasses, op: kir.ScaledContract) -> None:
    rows, columns = (op.result.id, 0), (op.result.id, 1)
    classes.join(rows, (op.lhs.id, 0))
    classes.join(rows, (op.lhs_scale.id, 0))
    classes.join(columns, (op.rhs.id, 2))
    classes.join(columns, (op.rhs_scale.id, 0))
    for groups in ((op.lhs_scale.id, 1), (op.rhs.id, 0), (op.rhs_scale.id, 1)):
        classes.join((op.lhs.id, 1), groups)
    if op.lhs_format == op.rhs_format:
        classes.join((op.lhs.id, 2), (op.rhs.id, 1))


def _join_regions(op: kir.Op, classes: AxisClasses) -> None:
    if isinstance(op, kir.RegionFold):
        _join_fold(classes, op)
        return
    if isinstance(op, kir.RegionScan):
        _join_region_scan(classes, op)
        return
    if isinstance(op, kir.For):
        for result, init, arg, value in zip(
            op.results, op.inits, op.body.args[1:], op.body.yields, strict=True
        ):
            for other in (init, arg, value):
                _same(classes, result, other)
    elif isinstance(op, kir.If):
        for result, a, b in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
            _same(classes, result, a)
            _same(classes, result, b)
    elif isinstance(op, kir.While):
        for result, init, a, b, value in zip(
            op.results, op.inits, op.condition.args, op.body.args, op.body.yields, strict=True
        ):
            for other in (init, a, b, value):
                _same(classes, result, other)


def _join_all(classes: AxisClasses, *columns: tuple[kir.Value, ...]) -> None:
    for first, *others in zip(*columns, strict=True):
        for other in others:
            _same(classes, first, other)


def _join_fold(classes: AxisClasses, op: kir.RegionFold) -> None:
    n, m = len(op.source), len(op.results)
    _join_all(classes, op.source, op.summarize.args[:n])
    _join_all(classes, op.captures, op.summarize.args[n:])
    for other in op.source[1:]:
        classes.join((op.source[0].id, op.axis), (other.id, op.axis))
    columns = (op.identity, op.summarize.yields, op.combine.args[:m], op.combine.args[m:], op.combine.yields)
    _join_all(classes, op.results, *columns)


def _join_region_scan(classes: AxisClasses, op: kir.RegionScan) -> None:
    n, s, o = len(op.source), len(op.initial), op.outputs
    summaries = len(op.identity)
    _join_all(classes, op.source, op.summarize.args[:n], op.emit.args[:n])
    _join_all(classes, op.captures, op.summarize.args[n:], op.emit.args[n + s :])
    for other in op.source[1:]:
        classes.join((op.source[0].id, op.axis), (other.id, op.axis))
    columns = (
        op.summarize.yields,
        op.combine.args[:summaries],
        op.combine.args[summaries:],
        op.combine.yields,
    )
    _join_all(classes, op.identity, *columns, op.apply.args[:summaries])
    states = (op.apply.args[summaries:], op.apply.yields, op.emit.args[n : n + s])
    _join_all(classes, op.results[o:], op.initial, *states)
    _join_all(classes, op.results[:o], op.emit.yields)
