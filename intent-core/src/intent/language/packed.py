"""Contractions of microscaled and of structured sparse data (spec: logical-program 6)."""

from __future__ import annotations

from intent.language.formats import ScaledFormat
from intent.language.intrinsic import Namespace, intrinsic
from intent.language.kinds import Pairs, Value
from intent.types import DType

__all__ = [
    "scaled_contract",
    "scaled_matmul",
    "sparse",
    "sparse_contract",
    "sparse_contract_2to4",
    "sparse_matmul",
]


@intrinsic("scaled_contract")
def scaled_contract(
    lhs: Value,
    lhs_scale: Value,
    rhs: Value,
    rhs_scale: Value,
    *,
    lhs_format: ScaledFormat,
    rhs_format: ScaledFormat,
    lhs_group_size: int,
    rhs_group_size: int,
    acc_dtype: DType,
    reduce: Pairs = ((1, 0), (2, 1)),
    batch: Pairs = (),
) -> Value:
    """``lhs[M,G,C]`` with scales ``[M,G]`` times ``rhs[G,C,N]`` with scales ``[N,G]``: ``[M,N]``.

    Args:
        lhs: stored items; ``C`` of them hold one group.
        lhs_scale: one ``I.e8m0`` scale for each row and group; f32 scales on both sides of ``I.e4m3`` items.
        rhs: stored items; ``C`` of them hold one group.
        rhs_scale: one ``I.e8m0`` scale for each column and group.
        lhs_format: ``I.e2m1`` or ``I.e4m3``.
        rhs_format: ``I.e2m1`` or ``I.e4m3``.
        lhs_group_size: logical elements that share one scale.
        rhs_group_size: logical elements that share one scale; equal to the other side's.
        acc_dtype: the dtype to accumulate in and to give.
        reduce: always ``((1, 0), (2, 1))``.
        batch: always ``()``.

    spec: logical-program 6
    """


@intrinsic("scaled_matmul")
def scaled_matmul(
    lhs: Value,
    lhs_scale: Value,
    rhs: Value,
    rhs_scale: Value,
    *,
    lhs_format: ScaledFormat,
    rhs_format: ScaledFormat,
    group_size: int,
    acc_dtype: DType,
) -> Value:
    """``I.scaled_contract`` with one group size for both sides."""


@intrinsic("sparse.one_of_two")
def one_of_two(compression_axis: int, logical_extent: Value) -> Value:
    """The format that keeps one of every two elements; metadata holds the kept position as ``index``.

    Args:
        compression_axis: the axis of the compressed operand that is shortened.
        logical_extent: the extent of that axis before compression.

    spec: logical-program 6
    """


@intrinsic("sparse.two_of_four")
def two_of_four(compression_axis: int, logical_extent: Value) -> Value:
    """The format that keeps two of every four.

    Metadata is a record ``first, second`` of positions (``index``).
    """


class Sparse(Namespace):
    """Formats of structured sparse operands."""

    name = "sparse"
    one_of_two = one_of_two
    two_of_four = two_of_four


sparse = Sparse()


@intrinsic("sparse_contract", rhs="dense", dense_rhs="dense")
def sparse_contract(
    compressed: Value,
    metadata: Value,
    dense: Value,
    *,
    format: Value,  # noqa: A002 -- the published spelling
    acc_dtype: DType,
    reduce: Pairs = ((1, 0),),
    batch: Pairs = (),
) -> Value:
    """``I.contract`` whose lhs is stored compressed. ``rhs=`` and ``dense_rhs=`` mean the same as ``dense=``.

    Args:
        compressed: the kept elements.
        metadata: their logical positions, as ``format`` says.
        dense: the other operand.
        format: ``I.sparse.one_of_two(...)`` or ``I.sparse.two_of_four(...)``.
        acc_dtype: the dtype to accumulate in and to give.
        reduce: pairs of axes to sum over, in logical terms.
        batch: pairs of axes that occur once in the result.

    spec: logical-program 6
    """


@intrinsic("sparse_matmul", rhs="dense", dense_rhs="dense")
def sparse_matmul(
    compressed: Value,
    metadata: Value,
    dense: Value,
    *,
    format: Value,  # noqa: A002 -- the published spelling
    acc_dtype: DType,
) -> Value:
    """``I.sparse_contract`` of two matrices, compressed along the axis that is summed over."""


@intrinsic("sparse_contract_2to4", rhs="dense", dense_rhs="dense")
def sparse_contract_2to4(compressed: Value, metadata: Value, dense: Value, *, acc_dtype: DType) -> Value:
    """``I.sparse_contract`` of two matrices in the format two of four, compressed along axis 1."""
