"""Contractions: result axes, accumulators, batches, microscaled and sparse operands."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    InvalidAxis,
    MixedDTypes,
    SchemaMismatch,
    ShapeMismatch,
    WrongDType,
    WrongKind,
    WrongRank,
)
from intent.kir import Contract, ScaledContract, SparseContract


@intent.kernel
def pairs(
    a: I.In[I.f16, ("B", "M", "K", "L")],
    b: I.In[I.f16, ("L", "K", "N", "B")],
    y: I.Out[I.f32, ("B", "M", "N")],
):
    y[...] = I.contract(a, b, reduce=((2, 1), (-1, 0)), batch=((0, 3),))


@intent.kernel
def gram(a: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ("M", "M")]):
    y[...] = I.contract(a, a, reduce=((1, 1),), acc_dtype=I.f32)


@intent.kernel
def integers(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("K", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.matmul(a, b)


@intent.kernel
def flipped(a: I.In[I.f32, ("K", "M")], b: I.In[I.f32, ("N", "K")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a, b, acc_dtype=I.f32, transpose_lhs=True, transpose_rhs=True)


@intent.kernel
def batched(
    a: I.In[I.f32, ("B", 1, "M", "K")], b: I.In[I.f32, ("H", "K", "N")], y: I.Out[I.f32, ("B", "H", "M", "N")]
):
    y[...] = I.matmul(a, b, acc_dtype=I.f32)


@intent.kernel
def batched_right(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("H", "K", "N")], y: I.Out[I.f32, ("H", "M", "N")]
):
    y[...] = I.matmul(a, b)


@intent.kernel
def vectors(
    a: I.In[I.f32, ("M", "K")], v: I.In[I.f32, ("K",)], w: I.In[I.f32, ("M",)],
    y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("K",)], d: I.Out[I.f32, ()], o: I.Out[I.f32, ("K", "M")],
    t: I.Out[I.f32, ("K",)],
):  # fmt: skip
    y[...] = I.matvec(a, v, acc_dtype=I.f32)
    z[...] = I.vecmat(w, a, acc_dtype=I.f32)
    d[()] = I.dot(v, v, acc_dtype=I.f32)
    o[...] = I.outer(v, w)
    t[...] = I.matvec(a, w, transpose=True)


@intent.kernel
def other_extents(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("L", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a, b)


@intent.kernel
def scaled(
    a: I.In[I.u8, ("M", "G", 16)], sa: I.In[I.u8, ("M", "G")], b: I.In[I.f8e4m3fn, ("G", 32, "N")],
    sb: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.scaled_matmul(
        a, sa, b, sb, lhs_format=I.e2m1, rhs_format=I.e4m3, group_size=32, acc_dtype=I.f32
    )


@intent.kernel
def sparse(
    a: I.In[I.f16, ("M", "KC")], p: I.In[I.i8, ("M", "G")], q: I.In[I.i8, ("M", "G")],
    b: I.In[I.f16, ("K", "N")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.sparse_contract(
        a,
        I.record(first=I.cast(p, I.index), second=I.cast(q, I.index)),
        b,
        format=I.sparse.two_of_four(compression_axis=1, logical_extent=b.shape[0]),
        reduce=((1, 0),),
        acc_dtype=I.f32,
    )


def test_result_axes_are_lhs_free_and_batch_then_rhs_free(one):
    op = one(pairs, Contract)
    assert str(op.result.shape) == "(B, M, N)"
    assert op.result.dtype is I.f32
    assert (op.reduce, op.batch) == (((2, 1), (3, 0)), ((0, 3),))


def test_the_gram_matrix_has_one_axis_twice(one):
    assert str(one(gram, Contract).result.shape) == "(M, M)"


def test_small_integers_accumulate_in_i32(one):
    assert one(integers, Contract).result.dtype is I.i32


def test_transposes_only_choose_the_axes(ops, one):
    assert ops(flipped) == ["contract f32[M, N]"]
    assert one(flipped, Contract).reduce == ((0, 1),)


def test_leading_axes_broadcast_as_batch(lowered, one):
    op = one(batched, Contract)
    assert op.batch == ((1, 0),)
    assert str(op.result.shape) == "(B, H, M, N)"
    assert lowered(batched).conditions == ()


def test_a_batch_axis_of_the_right_side_only_comes_first(ops):
    assert ops(batched_right) == ["contract f32[M, H, N]", "transpose f32[H, M, N]"]


def test_vector_products(ops):
    found = ops(vectors)
    assert [f for f in found if f.startswith("contract")] == [
        "contract f32[M]", "contract f32[K]", "contract f32", "contract f32[K]",
    ]  # fmt: skip
    assert "mul f32[K, M]" in found


def test_extents_of_other_names_are_a_condition(lowered):
    (condition,) = lowered(other_extents).conditions
    assert (condition.kind, str(condition.lhs), str(condition.rhs)) == ("equal", "K", "L")


def test_scaled_contract(one):
    op = one(scaled, ScaledContract)
    assert (op.lhs_format, op.rhs_format, op.lhs_group, op.rhs_group) == ("e2m1", "e4m3", 32, 32)
    assert str(op.result.shape) == "(M, N)"


def test_sparse_contract_relates_the_compressed_axis(lowered, one):
    op = one(sparse, SparseContract)
    assert (op.format, len(op.metadata)) == ("two_of_four", 2)
    conditions = {(str(c.lhs), str(c.rhs)) for c in lowered(sparse).conditions}
    assert conditions == {("4*KC", "2*K"), ("2*G", "KC")}


# -- refusals


@intent.kernel
def mixed(a: I.In[I.f32, ("M", "K")], b: I.In[I.f16, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a, b, acc_dtype=I.f32)


@intent.kernel
def constant_extents(a: I.In[I.f32, ("M", 4)], b: I.In[I.f32, (5, "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a, b, acc_dtype=I.f32)


@intent.kernel
def axis_in_two_pairs(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "K")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.contract(a, b, reduce=((1, 0), (1, 1)))


@intent.kernel
def nothing_summed(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.contract(a, b, reduce=(), batch=((0, 0),))


@intent.kernel
def vector_in_matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.matmul(a, b)


@intent.kernel
def integer_accumulator(a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.matmul(a, b, acc_dtype=I.i32)


@intent.kernel
def bools(a: I.In[I.bool, ("M", "K")], b: I.In[I.bool, ("K", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.matmul(a, b)


@intent.kernel
def wrong_scale(
    a: I.In[I.u8, ("M", "G", 16)], sa: I.In[I.f32, ("M", "G")], b: I.In[I.u8, ("G", 16, "N")],
    sb: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.scaled_matmul(
        a, sa, b, sb, lhs_format=I.e2m1, rhs_format=I.e2m1, group_size=32, acc_dtype=I.f32
    )


@intent.kernel
def scale_format_for_elements(
    a: I.In[I.u8, ("M", "G", 32)],
    sa: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 16, "N")],
    sb: I.In[I.u8, ("N", "G")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.scaled_matmul(
        a, sa, b, sb, lhs_format=I.e8m0, rhs_format=I.e2m1, group_size=32, acc_dtype=I.f32
    )


@intent.kernel
def half_the_positions(
    a: I.In[I.f16, ("M", 8)], p: I.In[I.i8, ("M", 4)], b: I.In[I.f16, (16, "N")], y: I.Out[I.f32, ("M", "N")]
):
    y[...] = I.sparse_contract_2to4(a, I.cast(p, I.index), b, acc_dtype=I.f32)


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (mixed, MixedDTypes),
        (constant_extents, ShapeMismatch),
        (axis_in_two_pairs, InvalidAxis),
        (nothing_summed, WrongKind),
        (vector_in_matmul, WrongRank),
        (integer_accumulator, WrongDType),
        (bools, WrongDType),
        (wrong_scale, WrongDType),
        (scale_format_for_elements, WrongKind),
        (half_the_positions, SchemaMismatch),
    ],
    ids=lambda p: getattr(p, "name", None) or p.__name__,
)
def test_refused(refused, kernel, error):
    refused(kernel, error)
