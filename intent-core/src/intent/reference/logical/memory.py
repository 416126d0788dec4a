"""Reads and unique writes of tensors, views and buffers (spec: logical-program 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.machine import Machine
from intent.reference.logical.relation import read, select, write

Array = NDArray[Any]


def load(machine: Machine, op: kir.Load) -> None:
    """A snapshot of the elements that the relation names, at this point of the program."""
    _read(machine, op, machine.resource(op.source))


def gather(machine: Machine, op: kir.Gather) -> None:
    """Selection from a tensor value."""
    _read(machine, op, machine[op.source])


def _read(machine: Machine, op: kir.Load | kir.Gather, source: Array) -> None:
    shape = machine.shape(op.result.shape)
    fill = np.zeros((), source.dtype) if op.fill is None else machine[op.fill]
    machine[op.result] = read(source, select(machine, op.relation, source.shape, shape, op.valid), fill)


def store(machine: Machine, op: kir.Store) -> None:
    """Write of active points. Two points of one element break the author's promise: the last one stays."""
    target, value = machine.resource(op.target), machine[op.value]
    write(target, select(machine, op.relation, target.shape, value.shape, op.valid), value)


def buffer_alloc(machine: Machine, op: kir.BufferAlloc) -> None:
    """A new allocation instance: its initial value, or garbage."""
    shape, dtype = machine.shape(op.buffer.shape), op.buffer.dtype.numpy
    if op.init is None:
        machine.buffers[op.buffer.id] = machine.choices.garbage(shape, dtype)
    else:
        machine.buffers[op.buffer.id] = np.array(np.broadcast_to(machine[op.init], shape))


def assume_in_bounds(machine: Machine, op: kir.AssumeInBounds) -> None:
    """A promise; the evaluation does not rest on it."""
    del machine, op
