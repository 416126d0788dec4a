"""Domains and subregions whose bounds come from data (language decision 18)."""

from __future__ import annotations

from typing import Final

from intent import kir
from intent.diagnostics import InvalidStepValue
from intent.reference.sanitizer.context import Check, Context

__all__ = ["BEFORE"]


def _for(context: Context, op: kir.For) -> None:
    _step(context, op)


def _iota(context: Context, op: kir.Iota) -> None:
    _step(context, op)


def _step(context: Context, op: kir.For | kir.Iota) -> None:
    step = context.machine.scalar(op.step)
    if step < 1:
        context.found(op, lambda: InvalidStepValue(step, point=context.point), "step")
        raise context.stop(op, "a domain has no members to count")


BEFORE: Final[dict[type[kir.Op], Check]] = {kir.For: _for, kir.Iota: _iota}
