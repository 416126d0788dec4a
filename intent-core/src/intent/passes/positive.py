"""Bounds of positive floats, as far as a program's guards and constants give them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from intent import physical as ph
from intent.passes.constants import Known
from intent.types.extent import Atom, Symbol

Bounds = tuple[float, float]
"""Inclusive, both positive and finite."""

_LEAST, _MOST = 2.0**-100, 2.0**100
"""Products of two bounds within these are normal numbers of f32 and f64."""
_SLACK: Final = 2.0**-20
"""More than any function or conversion here errs by in f32, relative to its result."""


def fixed_extents(program: ph.Program) -> dict[Atom, int]:
    """The symbols that are one number in every launch of the program."""
    return {
        atom: guard.bound
        for guard in program.guards
        if guard.kind == "equal"
        for atom in guard.extent.atoms()
        if isinstance(atom, Symbol) and str(guard.extent) == atom.name
    }


def positive(known: Known, fixed: Mapping[Atom, int], value: ph.Fragment) -> Bounds | None:
    """Bounds of a value that is positive and finite on all lanes, or None where that does not show."""
    found = _bounds(known, fixed, known.plain(value))
    if found is None or not _LEAST <= found[0] <= found[1] <= _MOST:
        return None
    return found


def _bounds(known: Known, fixed: Mapping[Atom, int], value: ph.Fragment) -> Bounds | None:
    op = known.definition.get(value.id)
    if isinstance(op, ph.Constant):
        return (float(op.value), float(op.value)) if op.value > 0 else None
    if isinstance(op, ph.LaunchValue):
        return _of_extent(op, fixed)
    if value.dtype.is_float and value.dtype.bits < 32:
        return None
    if isinstance(op, ph.Cast) and value.dtype.is_float:
        return _widened(positive(known, fixed, op.value))
    if not isinstance(op, ph.Pointwise) or op.fn not in _FUNCTIONS or not value.dtype.is_float:
        return None
    operands = [positive(known, fixed, f) for f in op.operands]
    given = [b for b in operands if b is not None]
    return _widened(_of_function(op.fn, given)) if len(given) == len(operands) else None


def _of_extent(op: ph.LaunchValue, fixed: Mapping[Atom, int]) -> Bounds | None:
    if not all(atom in fixed for atom in op.extent.atoms()):
        return None
    number = op.extent.evaluate(dict(fixed))
    return (number, number) if number > 0 else None


_FUNCTIONS: Final = ("mul", "div", "sqrt", "rsqrt")


def _of_function(fn: str, given: list[Bounds]) -> Bounds:
    (low, high), *rest = given
    match fn:
        case "sqrt":
            return math.sqrt(low), math.sqrt(high)
        case "rsqrt":
            return 1 / math.sqrt(high), 1 / math.sqrt(low)
        case "div":
            return low / rest[0][1], high / rest[0][0]
    return low * rest[0][0], high * rest[0][1]


def _widened(bounds: Bounds | None) -> Bounds | None:
    return None if bounds is None else (bounds[0] * (1 - _SLACK), bounds[1] * (1 + _SLACK))
