"""An f32 quotient that is only ever rounded to 16 bits or less need not be the nearest f32.

Requires: a verified program. Ensures: the same values up to 2**-12 of the narrow type's last place.

    %q f32 = pointwise fn=div operands=(%a, %b)                      %q f32 = pointwise fn=div ... approximate=True
    %r bf16 = cast value=%q                                   ->     %r bf16 = cast value=%q

The exact sequence rounds twice: to f32 (0.5 ulp) and to the narrow type. An approximate quotient is within 2 f32
ulp, so an f16 result is within 0.5 + 2**-12 ulp of the true quotient instead of 0.5 + 2**-14; bf16 is closer still.
See docs/decisions/0003-narrowed-division.md.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from intent import physical as ph
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.physical.walk import operands_of, regions_of, walk
from intent.types.dtypes import F32


def narrowed_division(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Permit approximate division where every use is a cast to a float of at most 16 bits."""
    del permissions  # the language itself leaves this room
    users: dict[int, list[ph.Op | None]] = defaultdict(list)
    for segment in program.segments:
        for op in walk(segment.body):
            for f in operands_of(op):
                users[f.id].append(op)
            for region in regions_of(op):
                for f in region.yields:
                    users[f.id].append(None)

    def change(op: ph.Op) -> ph.Op:
        if not (isinstance(op, ph.Pointwise) and op.fn == "div" and op.result.dtype is F32) or op.approximate:
            return op
        uses = users[op.result.id]
        narrowed = all(
            isinstance(u, ph.Cast) and u.result.dtype.is_float and u.result.dtype.bits <= 16 for u in uses
        )
        return replace(op, approximate=True) if uses and narrowed else op

    return map_operations(program, change)
