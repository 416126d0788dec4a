"""Extents that come from data and have to agree (language decision 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from intent import kir
from intent.diagnostics import DivisionByZero, ExtentsDiffer
from intent.kir.walk import operands_of
from intent.reference.logical.observer import Stop
from intent.reference.sanitizer.context import Check, Context

__all__ = ["BEFORE", "zero_divisor"]


def _same(context: Context, op: kir.Pointwise | kir.Join) -> None:
    if not op.result.shape:
        return  # a scalar region runs at many points at once, and its operands are arrays of different ranks
    shapes = {_name(v, k): context.machine[v].shape for k, v in enumerate(operands_of(op))}
    if len(set(shapes.values())) > 1:
        raise _differ(context, op, "an operation", shapes)


def _broadcast(context: Context, op: kir.Broadcast) -> None:
    value, shape = context.machine[op.value], context.machine.shape(op.result.shape)
    for extent, axis in zip(value.shape, op.axes, strict=True):
        if extent not in (1, shape[axis]):
            raise _differ(context, op, "a broadcast", {_name(op.value, 0): value.shape, "the result": shape})


def _reshape(context: Context, op: kir.Reshape) -> None:
    value, shape = context.machine[op.value], context.machine.shape(op.result.shape)
    if value.size != math.prod(shape):
        raise _differ(context, op, "a reshape", {_name(op.value, 0): value.shape, "the result": shape})


def _contract(context: Context, op: kir.Contract) -> None:
    lhs, rhs = context.machine[op.lhs].shape, context.machine[op.rhs].shape
    if any(lhs[a] != rhs[b] for a, b in (*op.reduce, *op.batch)):
        raise _differ(context, op, "a contraction", {_name(op.lhs, 0): lhs, _name(op.rhs, 1): rhs})


def _access(context: Context, op: kir.Store | kir.ScatterReduce) -> None:
    shape = context.machine[op.value].shape
    for value, axes in zip(op.relation.coordinates, op.relation.axes, strict=True):
        found = context.machine[value].shape
        if found != tuple(shape[a] for a in axes):
            shapes = {_name(op.value, 0): shape, "the destination": found}
            raise _differ(context, op, "an assignment", shapes)


def _name(value: kir.Value, place: int) -> str:
    return value.name or f"operand {place + 1}"


def _differ(context: Context, op: kir.Op, operation: str, shapes: Mapping[str, object]) -> Stop:
    context.found(op, lambda: ExtentsDiffer(operation, shapes=shapes, point=context.point), "extents")
    return context.stop(op, f"{operation} has no shape")


def zero_divisor(context: Context, op: kir.Op) -> Stop:
    """A shape or bound of ``op`` divides by an extent that is zero."""
    context.found(op, lambda: DivisionByZero("an extent", point=context.point), "extent division")
    return context.stop(op, "an extent has no value")


BEFORE: Final[dict[type[kir.Op], Check]] = {
    kir.Pointwise: _same,
    kir.Join: _same,
    kir.Broadcast: _broadcast,
    kir.Reshape: _reshape,
    kir.Contract: _contract,
    kir.Store: _access,
    kir.ScatterReduce: _access,
}
