"""Invalid input of structured operations: histogram values, empty arg_reduce, metadata of sparse contractions."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from intent import kir
from intent.diagnostics import EmptyArgReduce, HistogramOutOfRange, MetadataOutOfRange
from intent.reference.sanitizer.arithmetic import first
from intent.reference.sanitizer.context import Check, Context

__all__ = ["BEFORE"]

GROUPS: Final = {"one_of_two": 2, "two_of_four": 4}


def _histogram(context: Context, op: kir.Histogram) -> None:
    values = context.machine[op.values]
    (bins,) = context.machine.shape(op.result.shape)
    bad = (values < 0) | (values >= bins)
    if op.valid is not None:
        bad = bad & context.machine[op.valid]
    invalid = context.deferred.mask(op.values)
    if invalid is not None:
        bad = bad & ~invalid
    if bad.any():
        context.found(op, lambda: HistogramOutOfRange(first(values, bad), bins=bins, point=context.point))


def _reduce(context: Context, op: kir.Reduce) -> None:
    if op.kind not in ("argmax", "argmin"):
        return
    shape = context.machine[op.operands[0]].shape
    if math.prod(shape[k] for k in op.axes):
        return
    context.found(op, lambda: EmptyArgReduce(shape, axes=op.axes, point=context.point))
    raise context.stop(op, "an arg_reduce has no result")


def _sparse(context: Context, op: kir.SparseContract) -> None:
    group = GROUPS[op.format]
    positions = [context.machine[v].astype(np.int64) for v in op.metadata]
    bad = np.logical_or.reduce([(p < 0) | (p >= group) for p in positions])
    wild = bool(bad.any())
    if len(positions) == 2:
        bad = bad | (positions[0] == positions[1])
    if bad.any():
        shown = " and ".join(first(p, bad) for p in positions)
        context.found(op, lambda: MetadataOutOfRange(shown, group=group, point=context.point))
    if wild:
        raise context.stop(op, "a sparse operand has no logical positions")


BEFORE: Final[dict[type[kir.Op], Check]] = {
    kir.Histogram: _histogram,
    kir.Reduce: _reduce,
    kir.SparseContract: _sparse,
}
