"""f32 contractions that may be made of products of bf16 parts are marked.

Requires: a verified program. Ensures: the same values up to 2**-23 of each product, by the caller's leave.

    %c f32{m, n} = contract lhs=%a rhs=%b ...      ->      %c f32{m, n} = contract lhs=%a rhs=%b ... split=True

Matrix units multiply bf16 far faster than other units multiply f32. See docs/decisions/0015-split-products.md.
"""

from __future__ import annotations

from dataclasses import replace

from intent import physical as ph
from intent.passes.permissions import Permissions
from intent.passes.rewriting import map_operations
from intent.types.dtypes import F32


def splitting(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Permit the form for every contraction of f32 into f32, where the caller does."""
    return map_operations(program, _marked) if permissions.split else program


def _marked(op: ph.Op) -> ph.Op:
    if isinstance(op, ph.Contract) and op.lhs.dtype is op.result.dtype is F32 and not op.split:
        return replace(op, split=True)  # both operands are of one dtype
    return op
