"""Sums of products over paired axes (spec: logical-program 6).

Operands share a dtype; there is no implicit tf32.
"""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Pairs, Value
from intent.types import DType

__all__ = ["contract", "dot", "matmul", "matvec", "outer", "vecmat"]


@intrinsic("contract")
def contract(
    lhs: Value, rhs: Value, reduce: Pairs = ((1, 0),), batch: Pairs = (), *, acc_dtype: DType | None = None
) -> Value:
    """The sum of ``lhs * rhs`` over the axis pairs ``reduce``, pairing the axes of ``batch``.

    Shape: the free and batch axes of lhs in lhs order, then the free axes of rhs. An empty sum gives 0.

    Args:
        lhs: a numeric tensor.
        rhs: a numeric tensor of the same dtype.
        reduce: at least one pair (axis of lhs, axis of rhs); equal extents.
        batch: pairs of axes that occur once in the result.
        acc_dtype: the dtype to accumulate in and to give; by default that of the operands, widened as in
            ``I.reduce.sum``.

    Raises:
        MixedDTypes, InvalidAxis, ShapeMismatch, WrongDType.

    spec: logical-program 6
    """


@intrinsic("dot")
def dot(lhs: Value, rhs: Value, *, acc_dtype: DType | None = None) -> Value:
    """The inner product of two vectors ``[K]``: a rank-zero tensor of ``acc_dtype``."""


@intrinsic("matvec")
def matvec(matrix: Value, vector: Value, *, acc_dtype: DType | None = None, transpose: bool = False) -> Value:
    """``[..., M, K]`` times ``[..., K]`` gives ``[..., M]``.

    ``transpose`` swaps the matrix's axes M and K.
    """


@intrinsic("vecmat")
def vecmat(vector: Value, matrix: Value, *, acc_dtype: DType | None = None, transpose: bool = False) -> Value:
    """``[..., K]`` times ``[..., K, N]`` gives ``[..., N]``.

    ``transpose`` swaps the matrix's axes K and N.
    """


@intrinsic("matmul")
def matmul(
    lhs: Value,
    rhs: Value,
    *,
    acc_dtype: DType | None = None,
    transpose_lhs: bool = False,
    transpose_rhs: bool = False,
) -> Value:
    """``[..., M, K]`` times ``[..., K, N]`` gives ``[..., M, N]``; leading axes broadcast as batch.

    Args:
        lhs: a tensor of rank 2 or more.
        rhs: a tensor of rank 2 or more and the same dtype.
        acc_dtype: the dtype to accumulate in and to give; by default that of the operands, widened as in
            ``I.reduce.sum``.
        transpose_lhs: swap the last two axes of lhs first.
        transpose_rhs: swap the last two axes of rhs first.

    Raises:
        MixedDTypes, WrongRank, ShapeMismatch, WrongDType.

    spec: logical-program 6
    """


@intrinsic("outer")
def outer(lhs: Value, rhs: Value) -> Value:
    """The products of two vectors ``[M]`` and ``[N]``: ``[M, N]``, dtype kept."""
