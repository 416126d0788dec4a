"""Subnormal results that are only added to a constant need not be there.

Requires: a verified program. Ensures: the same values, bit for bit.

    %e f32 = pointwise fn=erf operands=(%x)                      %e f32 = pointwise fn=erf ... flush_to_zero=True
    %s f32 = pointwise fn=add operands=(%one, %e)        ->      %s f32 = pointwise fn=add operands=(%one, %e)

What is below 2**-99 is less than half of the last place of any constant of 2**-64 and more, powers of two included: the
sum is the constant, as it is with a zero. Error functions of hardware flush, and what keeps their subnormal results
costs registers and selects. Other functions have forms that flush, too, but those err otherwise as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeGuard

from intent import physical as ph
from intent.passes.constants import Known
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.passes.uses import Users, users_of
from intent.physical.walk import walk
from intent.types.dtypes import F32

FLUSHED: Final = ("erf",)
"""Functions whose form that flushes is the same where results are at least 2**-99."""
_LEAST: Final = 2.0**-64


def flushed(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Permit zero for subnormal results where every use adds a constant that swallows them."""
    del permissions  # every value stays the same bit for bit
    ops = [op for segment in program.segments for op in walk(segment.body)]
    if not any(_may(op) for op in ops):
        return program
    known, users = Known(), users_of(program)
    for op in ops:
        known.define(op)

    def change(op: ph.Op) -> ph.Op:
        return replace(op, flush_to_zero=True) if _may(op) and _swallowed(op.result, users, known) else op

    return map_operations(program, change)


def _may(op: ph.Op) -> TypeGuard[ph.Pointwise]:
    return (
        isinstance(op, ph.Pointwise) and op.fn in FLUSHED and op.result.dtype is F32 and not op.flush_to_zero
    )


def _swallowed(f: ph.Fragment, users: Users, known: Known) -> bool:
    """Whether the value is used only where a constant is added."""
    return all(_swallows(op, f, users, known) for op in users[f.id])


def _swallows(op: ph.Op | None, f: ph.Fragment, users: Users, known: Known) -> bool:
    match op:
        case ph.Broadcast() | ph.Rename():
            return _swallowed(op.result, users, known)
        case ph.Pointwise(fn="add" | "sub"):
            others = [known.value(g) for g in op.operands if g != f]
            return len(others) == 1 and isinstance(others[0], float) and abs(others[0]) >= _LEAST
    return False
