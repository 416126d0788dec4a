"""Constants, coordinates and rearrangements (spec: logical-program 1.1 and 2)."""

from __future__ import annotations

import numpy as np

from intent import kir
from intent.diagnostics import CompilerFault
from intent.reference.logical.machine import Machine
from intent.reference.logical.rounding import narrow


def constant(machine: Machine, op: kir.Constant) -> None:
    """A scalar literal."""
    dtype = op.result.dtype
    if dtype.is_float:
        machine[op.result] = narrow(np.asarray(float(op.value), np.float64), dtype)
    else:
        machine[op.result] = np.array(op.value, dtype.numpy)


def extent_value(machine: Machine, op: kir.ExtentValue) -> None:
    """The value of an extent."""
    machine[op.result] = np.array(machine.extent(op.extent), np.int64)


def iota(machine: Machine, op: kir.Iota) -> None:
    """Coordinates of a region."""
    (count,) = machine.shape(op.result.shape)
    begin, step = machine.scalar(op.begin), machine.scalar(op.step)
    machine[op.result] = begin + step * np.arange(count, dtype=np.int64)


def broadcast(machine: Machine, op: kir.Broadcast) -> None:
    """Repetition over new axes, and over axes where the operand has extent 1."""
    value, shape = machine[op.value], machine.shape(op.result.shape)
    spread = [1] * len(shape)
    for extent, axis in zip(value.shape, op.axes, strict=True):
        if extent not in (1, shape[axis]):
            raise CompilerFault(f"extent {extent} cannot be broadcast to {shape[axis]}", stage="evaluation")
        spread[axis] = extent
    machine[op.result] = np.broadcast_to(value.reshape(spread), shape)


def reshape(machine: Machine, op: kir.Reshape) -> None:
    """Row-major reinterpretation."""
    value, shape = machine[op.value], machine.shape(op.result.shape)
    if value.size != int(np.prod(shape, dtype=object)):
        raise CompilerFault(f"reshape of {value.shape} to {shape}", stage="evaluation")
    machine[op.result] = value.reshape(shape)


def transpose(machine: Machine, op: kir.Transpose) -> None:
    """Axis permutation."""
    machine[op.result] = machine[op.value].transpose(op.permutation)


def join(machine: Machine, op: kir.Join) -> None:
    """Two values side by side on a new trailing axis."""
    machine[op.result] = np.stack([machine[op.lhs], machine[op.rhs]], axis=-1)
