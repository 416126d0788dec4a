"""The report as text that people read.

One block per question: what the launch looks like and why, where every access goes and why it is in bounds, what
must hold of the arguments, what the author promised, where storage lives, what moves, and how long each stage took.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent.explain import report as r
from intent.explain.counted import amount, bytes_of, requested, times

__all__ = ["text"]

_SILENT = frozenset({"compute", "carry", "buffer"})
"""Kinds of operations that the text leaves to the page."""


def text(report: r.Report) -> str:
    """The whole text. With the extents of a launch lengths are also given as numbers."""
    blocks = [
        [f"kernel {report.kernel}, one launch, provider '{report.provider}' {report.provider_version}"],
        ["interface", *map(_parameter, report.parameters)],
        ["plan", *_plan(report)],
        [f"program space: {valued(report.length)} programs", *_segments(report)],
        ["worksets", *_worksets(report)],
        *(_body(segment) for segment in report.segments),
        ["storage", *map(_buffer, report.buffers)],
        ["computed more than once", *map(_repeated, report.repeated)],
        ["checked at every call", *map(_condition, report.conditions)],
        ["promised by the author", *map(_assumption, report.assumptions)],
        ["proved of the whole program", *(c.text for c in report.claims if c.answer == "proved")],
        ["variants", *_variants(report)],
        ["work", *_work(report.work)],
        ["time", *(f"{stage.name}: {stage.milliseconds:.1f} ms" for stage in report.stages)],
    ]
    return "\n\n".join(_block(head, lines) for head, *lines in blocks if lines or head == blocks[0][0]) + "\n"


def _block(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in lines)])


def valued(quantity: r.Quantity) -> str:
    """``ceildiv(M, 4) = 25``; without a launch the expression alone."""
    if quantity.value is None or quantity.text == str(quantity.value):
        return quantity.text
    return f"{quantity.text} = {quantity.value}"


def _at(place: r.Place | None) -> str:
    return "" if place is None else f" (line {place.line})"


def _parameter(p: r.Parameter) -> str:
    if p.kind == "scalar":
        return f"scalar {p.name}: {p.dtype}"
    line = f"view {p.name}: {p.dtype}[{', '.join(e.text for e in p.shape)}] {p.mode}"
    if p.strides is not None:
        line += f" strides=({', '.join(p.strides)})"
    if p.alias is not None:
        line += f" alias={p.alias}"
    return line + (" noalias" if p.noalias else "")


def _plan(report: r.Report) -> Iterator[str]:
    for segment in report.segments:
        axes = [f"{c.axis}={c.mode}({c.size})" for c in report.plan if c.group == segment.group]
        order = f" grouped({segment.grouped})" if segment.grouped > 1 else ""
        yield f"group {segment.group}: {' '.join(axes) or 'one instance'}{order}"
    guards = [c.text for c in report.conditions if c.kind == "guard"]
    if guards:
        yield f"guards: {', '.join(guards)}"
    if report.knobs:
        yield "knobs: " + ", ".join(f"{k.name}={k.value}" for k in report.knobs)


def _segments(report: r.Report) -> Iterator[str]:
    for segment in report.segments:
        axes = ", ".join(map(_axis, segment.axes))
        yield f"group {segment.group}: {axes or 'one instance'}"
        yield f"  length {valued(segment.length)}, offset {valued(segment.offset)}"


def _axis(axis: r.SegmentAxis) -> str:
    blocks = f" in blocks of {axis.block}" if axis.block > 1 else ""
    return f"{axis.label} of {valued(axis.extent)}{blocks}"


def _worksets(report: r.Report) -> Iterator[str]:
    statements = {s.id: s for group in report.groups for s in group.statements}
    for group in report.groups:
        yield f"group {group.number}: {', '.join(map(_statement, group.statements))}"
        for axis in group.axes:
            facts = "; ".join(f"{fact.text}{_at(fact.place)}" for fact in axis.facts)
            notes = [", one point at a time"] if axis.single else []
            yield f"  {axis.label} of {axis.extent.text}: {facts}{''.join(notes)}"
        yield from (f"  joined: {_pair(reason, statements)}{reason.text}" for reason in group.joined)
        yield from (f"  inside: {reason.text}" for reason in group.inside)
    for reason in report.apart:
        first, second = reason.groups
        yield f"groups {first} and {second} are apart: {reason.text}"


def _statement(statement: r.Statement) -> str:
    targets = ", ".join(statement.writes)
    return f"{statement.kind}{f' of {targets}' if targets else ''}{_at(statement.place)}"


def _pair(reason: r.Reason, statements: dict[int, r.Statement]) -> str:
    places = [statements[s].place for s in reason.statements if s in statements]
    lines = dict.fromkeys(str(p.line) for p in places if p is not None)
    return f"lines {' and '.join(lines)}: " if len(lines) > 1 else ""


def _body(segment: r.Segment) -> list[str]:
    accesses = {a.id: a for a in segment.accesses}
    names = [f"{d.name} = {d.text}" for d in segment.definitions]
    lines = [
        f"{op.text}{_proofs(accesses[op.id]) if op.id in accesses else ''}"
        for op in segment.operations
        if op.kind not in _SILENT
    ]
    return [f"group {segment.group}, in each program", *names, *dict.fromkeys(lines)]


def _proofs(access: r.Access) -> str:
    """Why the coordinates are in bounds, said once when all have one reason."""
    reasons = [c.why for c in access.coordinates]
    once = f"; {access.detail}" if access.verb == "write" and access.detail else ""
    if len(set(reasons)) == 1:
        which = "it" if len(reasons) == 1 else "every axis"
        return f"; in bounds: {which} {reasons[0]}{once}"
    listed = ", ".join(f"axis {axis} {reason}" for axis, reason in enumerate(reasons))
    return f"; in bounds: {listed}{once}" if listed else once


_ROLES = {
    "declared": "",
    "held": "; holds what{at} is computed once",
    "partial": "; what each instance knows of its part, for the last one to arrive",
    "arrival": "; how many have arrived, zero between launches",
}


def _buffer(b: r.Buffer) -> str:
    where = "the hidden workspace" if b.storage == "workspace" else b.storage
    role = _ROLES[b.role].format(at=_at(b.place))
    shape = ", ".join(e.text for e in b.shape)
    return f"{b.name}: {b.dtype}[{shape}] in {where}, per {b.scope}{role}"


def _repeated(repeated: r.Repeated) -> str:
    groups = ", ".join(map(str, repeated.segments))
    of = "group" if len(repeated.segments) == 1 else "groups"
    return f"{repeated.text}{_at(repeated.place)}: {times(repeated.times)}, in {of} {groups}"


def _condition(condition: r.Condition) -> str:
    return f"{condition.text} ({condition.reason})"


def _assumption(assumption: r.Assumption) -> str:
    return f"{assumption.kind}: {assumption.text}{_at(assumption.place)}"


def _variants(report: r.Report) -> Iterator[str]:
    if len(report.variants) > 1:
        for number, variant in enumerate(report.variants):
            guards = ", ".join(variant.guards) or "no guard"
            yield f"{number}: {guards}{' (this one)' if variant.current else ''}"


def _work(work: r.Work) -> Iterator[str]:
    for moved in work.moved:
        yield f"{moved.verb} {moved.view}: {bytes_of(moved.once)} once, {requested(moved.requested)}"
    yield f"in all: {bytes_of(work.once)} once, {requested(work.requested)}"
    for name in ("pointwise", "reductions", "contractions"):
        count = getattr(work, name)
        if count.text != "0":
            yield f"{name}: {count.text if count.value is None else amount(count.value)} operations"
    if work.unknown:
        yield f"only data decides, so not counted: {', '.join(work.unknown)}"
