"""What the statements of a group need: operations, axes that these walk, and how accesses run through memory."""

from __future__ import annotations

from intent import kir
from intent.construct import Analysis
from intent.construct.groups import Group
from intent.kir.walk import walk
from intent.planning.tiles import of_matrices


def producers(analysis: Analysis, group: Group) -> list[kir.Op]:
    """The operations that the group's statements need, in program order."""
    wanted = {p for unit in group.units for p in unit.producers}
    return [op for op in walk(analysis.kernel.body) if op.id in wanted]


def contractions(analysis: Analysis, group: Group) -> list[kir.Contract]:
    """The group's contractions of matrices."""
    return [op for op in producers(analysis, group) if isinstance(op, kir.Contract) and of_matrices(op)]


def result_axes(analysis: Analysis, group: Group) -> list[str]:
    """Instance axes that are the last two free axes of a contraction in this group."""
    labels = {a.label for a in group.axes if a.owned}
    found: list[str] = []
    for op in contractions(analysis, group):
        for k in (op.result.rank - 2, op.result.rank - 1):
            label = analysis.classes.label((op.result.id, k))
            choice = next((x for x in (label, f"{label}.2") if x in labels and x not in found), None)
            if choice is not None:
                found.append(choice)
    return found[:2]


def walked_labels(analysis: Analysis, group: Group) -> set[str]:
    """Labels of the axes that structured operations of the group walk inside an instance."""
    label = analysis.classes.label
    found = set()
    for op in producers(analysis, group):
        if isinstance(op, kir.Reduce):
            found |= {label((op.operands[0].id, k)) for k in op.axes}
        elif isinstance(op, kir.Contract):
            found |= {label((op.lhs.id, k)) for k, _ in op.reduce}
        elif isinstance(op, kir.Scan):
            found.add(label((op.operands[0].id, op.axis)))
        elif isinstance(op, kir.RegionFold | kir.RegionScan):
            found.add(label((op.source[0].id, op.axis)))
        elif isinstance(op, kir.Histogram):
            found |= {label((op.values.id, k)) for k in range(op.values.rank)}
        elif isinstance(op, kir.SparseContract):
            found |= {label((op.compressed.id, k)) for k, _ in op.reduce}
    return found


def last_labels(analysis: Analysis, group: Group) -> set[str]:
    """Labels of the axes along which the group's reads run through memory."""
    found = set()
    for read in (r for unit in group.units for r in unit.reads):
        spread = read.op.relation.axes[-1] if read.op.relation.axes else ()
        found |= {analysis.classes.label((read.op.result.id, a)) for a in spread}
    return found


def contiguous(group: Group) -> str | None:
    """The instance axis along which the widest read runs through memory, if it is one."""
    reads = [r for u in group.units for r in u.reads if r.op.source.rank >= 1]
    rank = max((r.op.source.rank for r in reads), default=0)
    last = {
        r.signature[-1][0] if r.signature[-1] is not None else None for r in reads if r.op.source.rank == rank
    }
    if len(last) != 1:
        return None
    key = last.pop()
    return None if key is None else group.keys.get(key)


def transposes(group: Group) -> bool:
    """Whether two accesses of the group have different execution axes innermost."""
    last = set()
    for unit in group.units:
        signatures = [s for _, s in unit.writes] + [r.signature for r in unit.reads if len(r.signature) >= 2]
        last |= {s[-1][0] for s in signatures if s and s[-1] is not None}
    return len({group.keys.get(k, str(k)) for k in last}) > 1 and len(group.axes) >= 2
