"""Bounds of positive floats, as far as a program's guards and constants give them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from intent import physical as ph
from intent.passes.constants import Known
from intent.types.dtypes import F32, F64
from intent.types.extent import Atom, Extent, Symbol

Bounds = tuple[float, float]
"""Inclusive, both positive and finite."""

_LEAST, _MOST = 2.0**-100, 2.0**100
"""Products of two bounds within these are normal numbers of f32 and f64."""
_WIDE: Final = (F32, F64)
"""Other floats overflow, and integers wrap, long before."""
_SLACK: Final = 2.0**-20
"""More than any function or conversion here errs by in f32, relative to its result."""


def fixed_extents(program: ph.Program) -> dict[Atom, int]:
    """The symbols that are one number in every launch of the program."""
    fixed: dict[Atom, int] = {}
    for guard in program.guards:
        match guard:
            case ph.Guard(kind="equal", extent=Extent(terms=(((Symbol() as symbol,), 1),))):
                fixed[symbol] = guard.bound
    return fixed


def positive(known: Known, fixed: Mapping[Atom, int], value: ph.Fragment) -> Bounds | None:
    """Bounds of a value that is positive and finite on all lanes, or None where that does not show."""
    found = _bounds(known, fixed, known.plain(value))
    if found is None or not _LEAST <= found[0] <= found[1] <= _MOST:
        return None
    return found


def _bounds(known: Known, fixed: Mapping[Atom, int], value: ph.Fragment) -> Bounds | None:
    match known.definition.get(value.id):
        case ph.Constant(value=number):
            return (float(number), float(number)) if number > 0 else None
        case ph.LaunchValue() as op:
            return _of_extent(op, fixed)
        case ph.Cast(value=inner) if value.dtype in _WIDE:
            return _widened(positive(known, fixed, inner))
        case ph.Pointwise(fn="mul" | "div" | "sqrt" | "rsqrt") as op if value.dtype in _WIDE:
            given = [b for f in op.operands if (b := positive(known, fixed, f)) is not None]
            return _widened(_of_function(op.fn, given)) if len(given) == len(op.operands) else None
    return None


def _of_extent(op: ph.LaunchValue, fixed: Mapping[Atom, int]) -> Bounds | None:
    if not all(atom in fixed for atom in op.extent.atoms()):
        return None
    number = op.extent.evaluate(dict(fixed))
    return (number, number) if number > 0 else None


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
