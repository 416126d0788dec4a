"""Helpers in double precision: the same region with every float type replaced by f64.

An equation that holds for real numbers differs by 2**-52 there, one that does not hold differs as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.kir.roles import roles
from intent.kir.walk import walk
from intent.reference.logical.lifted import Components, apply
from intent.reference.logical.machine import Machine
from intent.types.dtypes import F64

Array = NDArray[Any]

__all__ = ["Helper", "helper"]

# Operations that mean bits or formats, not numbers.
_EXACT_BITS = (kir.Bitcast, kir.ScaledContract, kir.SparseContract, kir.RandomBits)
WIDE_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Helper:
    """A helper's region; ``wide``: its floats are f64, whatever the author's are."""

    region: kir.Region
    wide: bool

    def takes(self, value: Array, argument: kir.Value) -> Array:
        """An array as the argument of the region wants it."""
        return value.astype(argument.dtype.numpy) if value.dtype != argument.dtype.numpy else value

    def run(self, machine: Machine, args: Sequence[Array]) -> Components:
        """One application to whole values."""
        taken = [self.takes(a, p) for a, p in zip(args, self.region.args, strict=True)]
        return machine.run(self.region, taken)

    def lift(self, machine: Machine, points: Components, captures: Sequence[Array]) -> Components:
        """The application of a scalar region at every point of equally shaped arrays."""
        args = self.region.args
        taken = tuple(self.takes(a, p) for a, p in zip(points, args, strict=False))
        held = [self.takes(c, p) for c, p in zip(captures, args[len(points) :], strict=True)]
        return apply(machine, self.region, taken, held)

    @property
    def tolerance(self) -> float:
        """Relative difference up to which two results are one."""
        if self.wide:
            return WIDE_TOLERANCE
        bits = [v.dtype.mantissa_bits for v in self.region.yields if v.dtype.is_float]
        return max(WIDE_TOLERANCE, 64 * 2.0 ** -min(bits)) if bits else 0.0


def helper(region: kir.Region) -> Helper:
    """The region in double precision where that keeps its meaning, else as it is."""
    if any(isinstance(op, _EXACT_BITS) for op in walk(region)):
        return Helper(region=region, wide=False)
    return Helper(region=_region(region), wide=True)


def _value(value: kir.Value) -> kir.Value:
    return replace(value, dtype=F64) if value.dtype.is_float else value


def _region(region: kir.Region) -> kir.Region:
    return replace(
        region,
        args=tuple(map(_value, region.args)),
        ops=tuple(map(_op, region.ops)),
        yields=tuple(map(_value, region.yields)),
    )


def _op(op: kir.Op) -> kir.Op:
    changed: dict[str, Any] = {}
    for field, role in roles(type(op)):
        held = getattr(op, field.name)
        if held is None:
            continue
        if role == "operand":
            changed[field.name] = _value(held)
        elif role in ("operands", "result"):
            changed[field.name] = tuple(map(_value, held))
        elif role == "region":
            changed[field.name] = _region(held)
        elif role == "relation":
            changed[field.name] = replace(held, coordinates=tuple(map(_value, held.coordinates)))
    return replace(op, **changed)


def finite_scale(parts: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """The largest finite magnitude at every element among ``parts``."""
    scale = np.zeros(shape)
    for part in parts:
        magnitude = np.abs(part.astype(np.float64))
        scale = np.maximum(scale, np.where(np.isfinite(magnitude), magnitude, 0.0))
    return scale
