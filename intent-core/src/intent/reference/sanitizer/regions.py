"""Domains and subregions whose bounds come from data (language decision 18)."""

from __future__ import annotations

from typing import Final

from intent import kir
from intent.diagnostics import InvalidStepValue, InvalidSubregion
from intent.reference.sanitizer.context import Check, Context

__all__ = ["BEFORE"]


def _for(context: Context, op: kir.For) -> None:
    _step(context, op)
    _subregion(context, op, op.body.args[0])


def _iota(context: Context, op: kir.Iota) -> None:
    _step(context, op)
    _subregion(context, op, op.result)


def _while(context: Context, op: kir.While) -> None:
    """A loop over a subregion that may be left early; its first carry is the coordinate."""
    if op.domain is not None:
        _subregion(context, op, op.body.args[0])


def _step(context: Context, op: kir.For | kir.Iota) -> None:
    step = context.machine.scalar(op.step)
    if step < 1:
        context.found(op, lambda: InvalidStepValue(step, point=context.point), "step")
        raise context.stop(op, "a domain has no members to count")


def _subregion(context: Context, op: kir.For | kir.Iota | kir.While, coordinate: kir.Value) -> None:
    """``source.begin <= begin <= end <= source.end``; what such coordinates do later is not reported again.

    Bounds known at the launch are launch conditions, asked where the branches around them are taken.
    """
    info = None if op.domain is None else context.domains.get(op.domain)
    parent = None if info is None or info.parent is None else context.domains.get(info.parent)
    bounds, source = _bounds(context, info), _bounds(context, parent)
    if info is None or bounds is None or source is None or _at_launch(info, parent):
        return
    context.explained.discard(coordinate.id)
    if source[0] <= bounds[0] <= bounds[1] <= source[1]:
        return
    context.explained.add(coordinate.id)
    span, point = info.span, context.point
    error = InvalidSubregion(begin=bounds[0], end=bounds[1], source=source, point=point, span=span)
    context.findings.add(("subregion", info.id), error)


def _at_launch(*regions: kir.DomainInfo | None) -> bool:
    ends = (e for r in regions if r is not None for e in (r.begin, r.end))
    return all(e is None or e.launch_visible for e in ends)


def _bounds(context: Context, info: kir.DomainInfo | None) -> tuple[int, int] | None:
    if info is None or info.begin is None or info.end is None:
        return None
    return context.machine.extent(info.begin), context.machine.extent(info.end)


BEFORE: Final[dict[type[kir.Op], Check]] = {
    kir.For: _for,
    kir.Iota: _iota,
    kir.While: _while,
}
