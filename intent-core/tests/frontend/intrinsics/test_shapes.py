"""Making values, changing shapes, casts and choices."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    InvalidPermutation,
    LiteralNotRepresentable,
    NotConstexpr,
    ReshapeCount,
    SchemaMismatch,
    ShapeMismatch,
    WrongDType,
)
from intent.kir import Broadcast, Cast, Join, Reshape, Transpose


@intent.kernel
def filled(y: I.Out[I.f32, ("M", 2)]):
    y[...] = I.full((y.shape[0], 2), 1, I.f32) + I.zeros((2,), I.f32)


@intent.kernel
def reshaped(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("K",)]):
    M, N = x.shape
    y[...] = I.reshape(I.reshape(x, (N, -1)), (M * N,))


@intent.kernel
def reshaped_to_parameter(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("K", 4)]):
    y[...] = I.reshape(x, y.shape)


@intent.kernel
def transposed(
    x: I.In[I.f32, ("A", "B", "C")], y: I.Out[I.f32, ("C", "B", "A")], z: I.Out[I.f32, ("B", "C", "A")]
):
    y[...] = I.transpose(x)
    z[...] = I.transpose(x, permutation=(1, -1, 0))


@intent.kernel
def joined(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", 2)]):
    y[...] = I.join(a, b)


@intent.kernel
def casts(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.u32, ("N",)]):
    y[...] = I.cast(x, I.i32) + I.cast(1.9, I.i32)
    z[...] = I.bitcast(x, I.u32)


@intent.kernel
def chosen(x: I.In[I.f32, ("M", "N")], keep: I.In[I.bool, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    pair = I.select(keep, I.record(a=x, b=x + 1.0), 0.0)
    y[...] = I.mask(pair.a, valid=pair.b > 0.0, fill=-I.inf)


def test_full_and_zeros_broadcast_a_constant(lowered):
    constants = [op for op in lowered(filled).body.ops if isinstance(op, Broadcast)]
    assert [str(op.result.shape) for op in constants[:2]] == ["(M, 2)", "(2,)"]
    assert all(op.axes == () for op in constants[:2])


def test_reshape_infers_one_extent_without_a_condition(lowered):
    kernel = lowered(reshaped)
    shapes = [op.result.shape for op in kernel.body.ops if isinstance(op, Reshape)]
    assert [str(s) for s in shapes] == ["(N, M)", "(M*N,)"]
    assert [(c.kind, str(c.lhs), str(c.rhs)) for c in kernel.conditions] == [("equal", "M*N", "K")]


def test_reshape_to_other_symbols_is_a_condition(lowered):
    (condition,) = lowered(reshaped_to_parameter).conditions
    assert (condition.kind, str(condition.lhs), str(condition.rhs)) == ("equal", "M*N", "4*K")
    assert "reshape" in condition.reason


def test_transpose_defaults_to_reversal_and_takes_negative_axes(lowered):
    found = [op.permutation for op in lowered(transposed).body.ops if isinstance(op, Transpose)]
    assert found == [(2, 1, 0), (1, 2, 0)]


def test_join_demands_equal_extents(lowered, one):
    (condition,) = lowered(joined).conditions
    assert (condition.kind, {str(condition.lhs), str(condition.rhs)}) == ("equal", {"M", "N"})
    assert str(one(joined, Join).result.shape) == "(M, 2)"


def test_a_cast_of_a_literal_is_a_constant(ops, one):
    assert one(casts, Cast).result.dtype is I.i32
    assert "bitcast u32[N]" in ops(casts)


def test_select_of_products_works_on_each_component(ops):
    found = ops(chosen)
    assert found.count("select f32[M, N]") == 3


@intent.kernel
def fill_that_does_not_fit(y: I.Out[I.u8, (4,)]):
    y[...] = I.full((4,), -1, I.u8)


@intent.kernel
def count_changes(x: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (5,)]):
    y[...] = I.reshape(x, (5,))


@intent.kernel
def two_open_extents(x: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (4, 3)]):
    y[...] = I.reshape(x, (-1, -1))


@intent.kernel
def open_beside_zero(x: I.In[I.f32, (0, 3)], y: I.Out[I.f32, (0, 3)]):
    y[...] = I.reshape(x, (0, -1))


@intent.kernel
def open_not_divisible(x: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (5, 2)]):
    y[...] = I.reshape(x, (5, -1))


@intent.kernel
def no_permutation(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.transpose(x, (0, 0))


@intent.kernel
def runtime_permutation(x: I.In[I.f32, ("M", "N")], k: I.i32, y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.transpose(x, (k, 0))


@intent.kernel
def join_of_ranks(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("M", 2)], y: I.Out[I.f32, ("M", 2)]):
    y[...] = I.join(a, b)


@intent.kernel
def bits_of_another_width(x: I.In[I.f32, ("N",)], y: I.Out[I.u16, ("N",)]):
    y[...] = I.bitcast(x, I.u16)


@intent.kernel
def bits_of_index(n: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)]):
    y[...] = I.bitcast(I.indices(I.domain(0, n.shape[0])), I.i64)


@intent.kernel
def condition_of_numbers(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.select(x, x, 0.0)


@intent.kernel
def select_of_other_products(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.select(x > 0.0, I.record(a=x), I.record(b=x)).a


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (fill_that_does_not_fit, LiteralNotRepresentable),
        (count_changes, ReshapeCount),
        (two_open_extents, ReshapeCount),
        (open_beside_zero, ReshapeCount),
        (open_not_divisible, ReshapeCount),
        (no_permutation, InvalidPermutation),
        (runtime_permutation, NotConstexpr),
        (join_of_ranks, ShapeMismatch),
        (bits_of_another_width, WrongDType),
        (bits_of_index, WrongDType),
        (condition_of_numbers, WrongDType),
        (select_of_other_products, SchemaMismatch),
    ],
    ids=lambda p: getattr(p, "name", None) or p.__name__,
)
def test_refused(refused, kernel, error):
    refused(kernel, error)
