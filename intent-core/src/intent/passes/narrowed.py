"""An f32 factor of what is only ever rounded to 16 bits or less need not be the nearest f32.

Requires: a verified program. Ensures: the same values up to 2**-8 of the narrow type's last place.

    %q f32 = pointwise fn=div operands=(%a, %b)                      %q f32 = pointwise fn=div ... approximate=True
    %p f32 = pointwise fn=mul operands=(%q, %c)                      %p f32 = pointwise fn=mul operands=(%q, %c)
    %r bf16 = cast value=%p                                   ->     %r bf16 = cast value=%p

Products and quotients keep a relative error as it is, and so do signs and choices between values; a sum does not,
because its terms may cancel. So quotients, exponentials and logistic functions are marked where every use leads
through such operations to a cast to a float of at most 16 bits. Special values and subnormals stay what they are.
See docs/decisions/0013-narrowed-factors.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from intent import physical as ph
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.passes.uses import Users, users_of
from intent.types.dtypes import F32

APPROXIMATE: Final = ("div", "exp", "sigmoid")
"""Functions with a form that is off by 2**-17 of the result at most (and much less where results are not tiny)."""
_CARRIED: Final = ("mul", "div", "neg", "abs")
"""Functions that keep the relative error of every operand."""


def narrowed(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Permit approximate forms where every use ends in a cast to a float of at most 16 bits."""
    del permissions  # the language itself leaves this room
    users = users_of(program)
    known: dict[int, bool] = {}

    def change(op: ph.Op) -> ph.Op:
        if not isinstance(op, ph.Pointwise) or op.fn not in APPROXIMATE or op.result.dtype is not F32:
            return op
        return op if op.approximate or not _only(op.result, users, known) else replace(op, approximate=True)

    return map_operations(program, change)


def _only(f: ph.Fragment, users: Users, known: dict[int, bool]) -> bool:
    """Whether the value is used only as a factor of what is narrowed."""
    if f.id not in known:
        known[f.id] = all(_narrows(op, users, known) for op in users[f.id])
    return known[f.id]


def _narrows(op: ph.Op | None, users: Users, known: dict[int, bool]) -> bool:
    match op:
        case ph.Cast():
            return op.result.dtype.is_float and op.result.dtype.bits <= 16
        case ph.Broadcast() | ph.Rename() | ph.Pointwise(fn="select"):
            return _only(op.result, users, known)
        case ph.Pointwise():
            return op.fn in _CARRIED and _only(op.result, users, known)
    return False
