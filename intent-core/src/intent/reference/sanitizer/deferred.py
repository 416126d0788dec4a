"""Invalid elements that are not observed yet.

Arithmetic has no side effects: ``I.select(d != 0, n // d, 0)`` divides by zero where it does not look. An invalid
element of a value is therefore followed through pointwise operations and rearrangements, and reported, with the
line that made it, where something observes it: a store, a reduction, a condition, an index that is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import IntentError
from intent.kir.walk import operands_of
from intent.reference.logical.colliding import point_shape
from intent.reference.logical.relation import read, select
from intent.reference.sanitizer.places import places

if TYPE_CHECKING:
    from intent.reference.sanitizer.context import Context

Array = NDArray[Any]

__all__ = ["Deferred"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Invalid:
    """The invalid elements of one value, and the violation that made them."""

    mask: Array
    op: kir.Op
    error: IntentError
    key: str


class Deferred:
    """Invalid elements by value id."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.invalid: dict[int, list[Invalid]] = {}
        self._fresh: list[Invalid] = []

    def add(self, op: kir.Op, mask: Array, error: Callable[[], IntentError], key: str) -> None:
        """Elements of the result of ``op`` that are invalid."""
        mask = self.context.meant(mask)
        if mask.any() and (op.id, key) not in self.context.findings.errors:
            self._fresh.append(Invalid(mask=mask, op=op, error=error(), key=key))

    def before(self, op: kir.Op) -> None:
        """Report what ``op`` observes of its operands; what it only hands on is followed."""
        if not self.invalid or isinstance(op, _TRANSPARENT):
            return
        for value in operands_of(op):
            for entry in self.invalid.get(value.id, ()):
                active = _active(self.context, op, value)
                seen = entry.mask if active is None else np.broadcast_to(entry.mask, active.shape) & active
                if self.context.meant(seen).any():
                    self._report(entry)

    def yielded(self, region: kir.Region) -> None:
        """What a region yields goes where it is not followed."""
        if self.invalid:
            for value in region.yields:
                for entry in self.invalid.get(value.id, ()):
                    if self.context.meant(entry.mask).any():
                        self._report(entry)

    def mask(self, value: kir.Value) -> Array | None:
        """The invalid elements of a value, or None."""
        entries = self.invalid.get(value.id, ())
        return np.logical_or.reduce([e.mask for e in entries]) if entries else None

    def after(self, op: kir.Op) -> None:
        """The results have new values: set what is invalid of them."""
        if not self.invalid and not self._fresh:
            return
        fresh, self._fresh = self._fresh, []
        if isinstance(op, _TRANSPARENT):
            fresh += self._handed_on(op)
        for result in op.results:
            self.invalid.pop(result.id, None)
        if fresh and len(op.results) == 1:
            self.invalid[op.result.id] = fresh
        elif fresh:
            for entry in fresh:
                self._report(entry)

    def _report(self, entry: Invalid) -> None:
        self.context.found(entry.op, lambda: entry.error, entry.key)

    def _handed_on(self, op: kir.Op) -> list[Invalid]:
        out = []
        for place, value in enumerate(operands_of(op)):
            for entry in self.invalid.get(value.id, ()):
                mask = _passed(self.context, op, place, entry.mask)
                if mask.any():
                    out.append(Invalid(mask=mask, op=entry.op, error=entry.error, key=entry.key))
        return out


_TRANSPARENT = (
    kir.Pointwise, kir.Cast, kir.Bitcast, kir.Broadcast, kir.Reshape, kir.Transpose, kir.Join, kir.Gather,
)  # fmt: skip


def _passed(context: Context, op: kir.Op, place: int, mask: Array) -> Array:
    """Which elements of the result are invalid because of the invalid elements of operand ``place``."""
    machine = context.machine
    match op:
        case kir.Pointwise():
            return _pointwise(context, op, place, mask)
        case kir.Broadcast():
            shape = machine[op.result].shape
            spread = [1] * len(shape)
            for extent, axis in zip(mask.shape, op.axes, strict=True):
                spread[axis] = extent
            return np.asarray(np.broadcast_to(mask.reshape(spread), shape))
        case kir.Reshape():
            return mask.reshape(machine[op.result].shape)
        case kir.Transpose():
            return mask.transpose(op.permutation)
        case kir.Join():
            other = np.zeros_like(mask)
            return np.stack([mask, other] if place == 0 else [other, mask], axis=-1)
        case kir.Gather():
            return _gathered(context, op, place, mask)
    return mask


def _pointwise(context: Context, op: kir.Pointwise, place: int, mask: Array) -> Array:
    machine = context.machine
    if op.fn == "select" and place > 0:
        chosen = machine[op.operands[0]]
        return np.asarray(mask & (chosen if place == 1 else ~chosen))
    if op.fn in ("and", "or") and op.operands[0].dtype.kind == "bool":
        # A valid False decides an 'and', a valid True an 'or', whatever stands on the other side.
        other = op.operands[1 - place]
        decided = machine[other] == (op.fn == "or")
        for entry in context.deferred.invalid.get(other.id, ()):
            decided = decided & ~entry.mask
        return np.asarray(mask & ~decided)
    return mask


def _gathered(context: Context, op: kir.Gather, place: int, mask: Array) -> Array:
    machine = context.machine
    shape = machine[op.result].shape
    if place == 0:
        source = machine[op.source]
        return read(mask, select(machine, op.relation, source.shape, shape, op.valid), np.zeros((), np.bool_))
    coordinates = len(op.relation.coordinates)
    if place <= coordinates:
        return _spread(op.relation, place - 1, mask, shape) & _valid(context, op.valid, shape)
    return np.broadcast_to(mask, shape)


def _active(context: Context, op: kir.Op, value: kir.Value) -> Array | None:
    """The lanes whose element of ``value`` the operation looks at; None: all of them."""
    machine = context.machine
    if isinstance(op, kir.Histogram) and value is op.values:
        return None if op.valid is None else machine[op.valid]
    if isinstance(op, kir.Store | kir.ScatterReduce) and value is op.value:
        return _valid(context, op.valid, machine[op.value].shape)
    if (
        isinstance(op, kir.Store | kir.ScatterReduce | kir.Load | kir.Atomic)
        and value in op.relation.coordinates
    ):
        target = op.source if isinstance(op, kir.Load) else op.target
        if isinstance(op, kir.Load):
            shape = machine.shape(op.result.shape)
        else:
            shape = point_shape(machine, op) if isinstance(op, kir.Atomic) else machine[op.value].shape
        lanes = places(machine, op.relation, machine.resource(target).shape, shape, op.valid).active
        axes = op.relation.axes[op.relation.coordinates.index(value)]
        kept = np.asarray(lanes.any(axis=tuple(k for k in range(len(shape)) if k not in axes)))
        # The axes that are left stand in the relation's order; the coordinate has an order of its own.
        return np.asarray(kept.transpose(np.argsort(np.argsort(np.array(axes, dtype=np.intp)))))
    return None


def _spread(relation: kir.Relation, number: int, mask: Array, shape: tuple[int, ...]) -> Array:
    axes = relation.axes[number]
    spread = [1] * len(shape)
    for size, axis in zip(mask.shape, axes, strict=True):
        spread[axis] = size
    ordered = mask.transpose(np.argsort(np.array(axes, dtype=np.intp))).reshape(spread)
    return np.broadcast_to(ordered, shape)


def _valid(context: Context, valid: kir.Value | None, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(np.True_ if valid is None else context.machine[valid], shape)
