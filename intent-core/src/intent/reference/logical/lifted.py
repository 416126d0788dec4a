"""Scalar regions (combines) applied to whole arrays of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.kir.walk import walk
from intent.reference.logical.machine import Machine

Array = NDArray[Any]
Components = tuple[Array, ...]
Combine = Callable[[Components, Components], Components]

LIFTABLE = (kir.Constant, kir.ExtentValue, kir.Pointwise, kir.Cast, kir.Bitcast, kir.If)


def lift(machine: Machine, region: kir.Region, captures: Sequence[Array] = ()) -> Combine:
    """``region(acc..., element..., captures...)`` as a function of arrays, applied at every point.

    A capture whose region argument is a scalar is aligned with the trailing axes of the points.
    """

    def combine(lhs: Components, rhs: Components) -> Components:
        return apply(machine, region, (*lhs, *rhs), captures)

    return combine


def apply(
    machine: Machine, region: kir.Region, points: Components, captures: Sequence[Array] = ()
) -> Components:
    """One application of a scalar region at every point of equally shaped arrays."""
    shape = np.broadcast_shapes(*(p.shape for p in points))
    captured = region.args[len(points) :]
    whole = any(a.rank for a in captured) or not all(isinstance(op, LIFTABLE) for op in walk(region))
    if whole:
        return _one_by_one(machine, region, points, captures, shape)
    for parameter, argument in zip(region.args, (*points, *captures), strict=True):
        machine[parameter] = argument
    _run(machine, region, None)
    if machine.observer is not None:
        machine.observer.yielded(machine, region)
    return tuple(np.array(np.broadcast_to(machine[v], shape)) for v in region.yields)


def _run(machine: Machine, region: kir.Region, active: Array | None) -> None:
    """Run a region at every point, for the sake of the ``active`` ones."""
    for op in region.ops:
        if not isinstance(op, kir.If):
            machine.execute(op)
            continue
        # Both sides are pure and total here: evaluate both, then choose at every point.
        if machine.observer is not None:
            machine.observer.before(machine, op)
        condition = machine[op.condition]
        for side, taken in ((op.then, condition), (op.orelse, ~condition)):
            meant = taken if active is None else taken & active
            if machine.observer is not None:
                machine.observer.lanes(machine, meant)
            _run(machine, side, meant)
            if machine.observer is not None:
                machine.observer.yielded(machine, side)
        if machine.observer is not None:
            machine.observer.lanes(machine, active)
        for result, yes, no in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
            machine[result] = np.where(condition, machine[yes], machine[no])


def _one_by_one(
    machine: Machine,
    region: kir.Region,
    points: Components,
    captures: Sequence[Array],
    shape: tuple[int, ...],
) -> Components:
    out = tuple(np.empty(shape, v.dtype.numpy) for v in region.yields)
    spread = [np.broadcast_to(p, shape) for p in points]
    tensors = [a.rank > 0 for a in region.args[len(points) :]]
    aligned = [
        c if tensor else np.broadcast_to(c, shape) for c, tensor in zip(captures, tensors, strict=True)
    ]
    for i in np.ndindex(shape):
        here = [np.asarray(p[i]) for p in spread]
        here += [c if tensor else np.asarray(c[i]) for c, tensor in zip(aligned, tensors, strict=True)]
        for whole, value in zip(out, machine.run(region, here), strict=True):
            whole[i] = value
    return out
