"""Structured control (spec: logical-program 3 and 4)."""

from __future__ import annotations

import numpy as np

from intent import kir
from intent.reference.logical.machine import Machine
from intent.reference.logical.observer import Observer

UNHEARD = Observer()


def for_loop(machine: Machine, op: kir.For) -> None:
    """Ordered iteration with carries, or every point of an unordered forall once, in any order."""
    points = range(machine.scalar(op.begin), machine.scalar(op.end), machine.scalar(op.step))
    observer = machine.observer or UNHEARD
    observer.entered(machine, op)
    if op.parallel:
        for k in machine.choices.order(len(points)):
            observer.point(machine, op, points[k])
            machine.run(op.body, [np.array(points[k], np.int64)])
        observer.left(machine, op)
        return
    carries = tuple(machine[v] for v in op.inits)
    for point in points:
        observer.point(machine, op, point)
        carries = machine.run(op.body, [np.array(point, np.int64), *carries])
    observer.left(machine, op)
    for result, carry in zip(op.results, carries, strict=True):
        machine[result] = carry


def if_then_else(machine: Machine, op: kir.If) -> None:
    """One of two regions."""
    yielded = machine.run(op.then if bool(machine[op.condition]) else op.orelse)
    for result, value in zip(op.results, yielded, strict=True):
        machine[result] = value


def while_loop(machine: Machine, op: kir.While) -> None:
    """Iteration while the condition holds."""
    carries = tuple(machine[v] for v in op.inits)
    observer = machine.observer or UNHEARD
    observer.entered(machine, op)
    steps = 0
    observer.point(machine, op, steps)
    while bool(machine.run(op.condition, carries)[0]):
        carries = machine.run(op.body, carries)
        steps += 1
        observer.point(machine, op, steps)
    observer.left(machine, op)
    for result, carry in zip(op.results, carries, strict=True):
        machine[result] = carry
