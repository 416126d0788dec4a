"""Programs that are refused: the error's class, and the part of the author's line that it blames."""

from __future__ import annotations

import os

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import (
    BranchTypesDiffer,
    BreakInParallel,
    CarryInParallel,
    CarryTypeChanged,
    CollidingWrites,
    ConditionNotScalar,
    ImmutableValue,
    IndexOutOfRange,
    InvalidStep,
    LiteralNotRepresentable,
    MixedDTypes,
    MutableCapture,
    NameMayBeUndefined,
    NonInjectiveAssignment,
    NotConstexpr,
    ReadBeforeWrite,
    Recursion,
    RemovedConstruct,
    ReturnInParallel,
    ReturnsTensor,
    ReturnTypesDiffer,
    ShapeMismatch,
    SubregionOutOfBounds,
    TargetQuery,
    UnknownAttribute,
    UnknownIntrinsic,
    UnknownName,
    UnsupportedSyntax,
    WriteToReadOnly,
    WrongDType,
    WrongKind,
    WrongRank,
)
from intent.diagnostics.frontend_syntax import AssertionFailed
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("M", "N")]
Y = I.InOut[I.f32, ("M", "N")]
TABLE = [1, 2, 3]
CASES: list[tuple[object, type[Exception], str]] = []


def case(error: type[Exception], text: str):
    """Register a kernel, the error that refuses it and the blamed text."""

    def register(made):
        CASES.append((made, error, text))
        return made

    return register


# -- names and syntax


@case(UnknownName, "rowz")
@kernel
def unknown_name(x: X, y: Y):
    rows = I.domain(0, x.shape[0])
    y[rows, :] = x[rowz, :] + x[rows, :]


@case(UnknownIntrinsic, "I.expp")
@kernel
def unknown_intrinsic(x: X, y: Y):
    y[...] = I.expp(x)


@case(RemovedConstruct, "I.partition")
@kernel
def removed(x: X, y: Y):
    for part in I.partition(I.domain(0, x.shape[0]), 4):
        y[part, :] = x[part, :]


@case(MutableCapture, "TABLE")
@kernel
def mutable_capture(x: X, y: Y):
    y[...] = x * TABLE[0]


@case(TargetQuery, "os.getenv")
@kernel
def target_query(x: X, y: Y):
    os.getenv("GPU")
    y[...] = x


@case(UnsupportedSyntax, "np.exp")
@kernel
def host_function(x: X, y: Y):
    y[...] = np.exp(x)


@case(UnsupportedSyntax, "np.sort")
@kernel
def host_only_function(x: X, y: Y):
    y[...] = np.sort(x)


@case(UnsupportedSyntax, "x[0, :].sum")
@kernel
def array_method(x: X, y: Y):
    y[...] = x[0, :].sum()


@case(UnsupportedSyntax, "f'{x}'")
@kernel
def f_string(x: X, y: Y):
    y[...] = f'{x}'  # fmt: skip


@case(UnsupportedSyntax, "[i for i in range(3)]")
@kernel
def comprehension(x: X, y: Y):
    y[...] = [i for i in range(3)]  # noqa: C416


@case(UnsupportedSyntax, "lambda v: v")
@kernel
def lambda_(x: X, y: Y):
    y[...] = I.reduce(x, axis=0, identity=0.0, combine=lambda v: v)


@case(UnsupportedSyntax, "x @ x")
@kernel
def matmul_operator(x: X, y: Y):
    y[...] = x @ x


@case(UnsupportedSyntax, "min(x[0, 0], x[0, 1])")
@kernel
def python_min(x: X, y: Y):
    y[0, 0] = min(x[0, 0], x[0, 1])


@case(UnknownAttribute, "x.rows")
@kernel
def attribute(x: X, y: Y):
    y[...] = x.rows


@case(ReturnsTensor, "return x")
@kernel
def returns(x: X, y: Y):
    y[...] = x
    return x


# -- dtypes and shapes


@case(MixedDTypes, "x + k")
@kernel
def mixed(x: X, y: Y, k: I.f64):
    y[...] = x + k


@case(MixedDTypes, "i + k")
@kernel
def index_and_i32(y: Y, k: I.i32):
    for i in range(4):
        y[i + k, 0] = 1.0


@case(MixedDTypes, "y[...] = I.cast(x, I.f16)")
@kernel
def store_dtype(x: X, y: Y):
    y[...] = I.cast(x, I.f16)


@case(WrongDType, "k / k")
@kernel
def integer_division(y: Y, k: I.i32):
    y[...] = I.cast(k / k, I.f32)


@case(LiteralNotRepresentable, "k + 1.5")
@kernel
def literal(y: Y, k: I.i32):
    y[...] = I.cast(k + 1.5, I.f32)


@case(ShapeMismatch, "a + b")
@kernel
def shapes(a: I.In[I.f32, (3, 4)], b: I.In[I.f32, (3, 5)], y: Y):
    y[...] = I.reduce.sum(a + b)


@case(ShapeMismatch, "y[0, :] = x")
@kernel
def store_rank(x: X, y: Y):
    y[0, :] = x


@case(WrongRank, "x[0, 1, 2]")
@kernel
def too_many_indices(x: X, y: Y):
    y[0, 0] = x[0, 1, 2]


@case(WrongDType, "x[0.5, 0]")
@kernel
def float_index(x: X, y: Y):
    y[0, 0] = x[0.5, 0]


@case(WrongDType, "x[x > 0.0, 0]")
@kernel
def mask_index(x: X, y: Y):
    y[...] = x[x > 0.0, 0]


@case(IndexOutOfRange, "a[7]")
@kernel
def out_of_range(a: I.In[I.f32, (4,)], y: Y):
    y[0, 0] = a[7]


@case(SubregionOutOfBounds, "a[1:7]")
@kernel
def slice_out_of_range(a: I.In[I.f32, (4,)], y: Y):
    y[0, 0] = I.reduce.sum(a[1:7], axis=0)


@case(InvalidStep, "range(4, 0, -1)")
@kernel
def negative_step(y: Y):
    for i in range(4, 0, -1):
        y[i, 0] = 1.0


@case(WrongKind, "for i in x:")
@kernel
def loop_over_a_view(x: X, y: Y):
    for i in x:
        y[0, 0] = i


@case(NotConstexpr, "pair[i]")
@kernel
def runtime_tuple_position(x: X, y: Y):
    pair = (1.0, 2.0)
    for i in range(2):
        y[i, 0] = pair[i]


# -- control


@case(ConditionNotScalar, "x > 0.0")
@kernel
def tensor_condition(x: X, y: Y):
    if x > 0.0:
        y[...] = x


@case(ConditionNotScalar, "x > 0.0")
@kernel
def tensor_and(x: X, y: Y):
    y[...] = I.select(x > 0.0 and x < 1.0, x, 0.0)


@case(CarryTypeChanged, "s = I.cast(s, I.f64)")
@kernel
def carry_dtype(x: X, y: Y):
    s = x[0, 0]
    for _ in range(3):
        s = I.cast(s, I.f64)
    y[0, 0] = I.cast(s, I.f32)


@case(CarryTypeChanged, "s = s + x[i, :]")
@kernel
def carry_shape(x: X, y: Y):
    s = 0.0
    for i in range(3):
        s = s + x[i, :]
    y[0, :] = s


@case(CarryTypeChanged, "s = (s, 1.0)")
@kernel
def carry_kind(x: X, y: Y):
    s = x[0, 0]
    while x[0, 0] > 0.0:
        s = (s, 1.0)
    y[0, 0] = s


@case(CarryInParallel, "s = s + x[i, 0]")
@kernel
def carry_in_parallel(x: X, y: Y):
    s = 0.0
    for i in I.parallel(I.domain(0, x.shape[0])):
        s = s + x[i, 0]
    y[0, 0] = s


@case(CarryInParallel, "last = x[i, 0]")
@kernel
def value_out_of_parallel(x: X, y: Y):
    last = x[0, 0]
    for i in I.parallel(I.domain(0, x.shape[0])):
        last = x[i, 0]
    y[0, 0] = last


@case(BreakInParallel, "break")
@kernel
def break_in_parallel(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i, 0] > 0.0:
            break
        y[i, 0] = 1.0


@case(ReturnInParallel, "return")
@kernel
def return_in_parallel(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        for j in range(3):
            if x[i, j] > 0.0:
                return
        y[i, 0] = 1.0


@case(NameMayBeUndefined, "s")
@kernel
def one_branch(x: X, y: Y):
    if x[0, 0] > 0.0:
        s = x[0, 1]
    y[0, 0] = s


@case(NameMayBeUndefined, "s")
@kernel
def only_in_loop(x: X, y: Y):
    for i in range(3):
        s = x[i, 0]
    y[0, 0] = s


@case(BranchTypesDiffer, "if x[0, 0] > 0.0:")
@kernel
def branch_types(x: X, y: Y):
    if x[0, 0] > 0.0:
        s = x[0, 1]
    else:
        s = x[0, :]
    y[0, :] = s


@case(UnsupportedSyntax, "else")
@kernel
def for_else(y: Y):
    for i in range(3):
        y[i, 0] = 0.0
    else:  # noqa: PLW0120
        y[0, 0] = 1.0


@case(AssertionFailed, "assert x.shape[1] == 3")
@kernel
def failed_assertion(x: I.In[I.f32, (2, 4)], y: Y):
    assert x.shape[1] == 3
    y[...] = 0.0


# -- helpers


@fn
def twice(v):
    return twice(v) * 2.0


@case(Recursion, "twice(v)")
@kernel
def recursion(x: X, y: Y):
    y[...] = twice(x)


@fn
def either(c, a, b):
    if c:
        return a
    return (a, b)


@case(ReturnTypesDiffer, "(a, b)")
@kernel
def return_types(x: X, y: Y):
    y[0, 0] = either(x[0, 0] > 0.0, x[0, 1], x[0, 2])


# -- memory


@case(WriteToReadOnly, "x[0, 0]")
@kernel
def write_to_in(x: X, y: Y):
    x[0, 0] = 1.0


@case(ReadBeforeWrite, "z[0]")
@kernel
def read_of_out(y: Y, z: I.Out[I.f32, ("N",)]):
    y[0, 0] = z[0]
    z[0] = 1.0


@case(ImmutableValue, "v[0]")
@kernel
def write_to_value(x: X, y: Y):
    v = x[0, :]
    v[0] = 1.0
    y[0, :] = v


@case(NonInjectiveAssignment, "y[rows[...], 0] = 1.0")
@kernel
def not_injective(rows: I.In[I.i32, ("N",)], y: Y):
    y[rows[...], 0] = 1.0


@case(NonInjectiveAssignment, "y[i // 2, 0] = 1.0")
@kernel
def halved(y: Y):
    i = I.domain(0, 8)
    y[i // 2, 0] = 1.0


@case(CollidingWrites, "y[0, 0] = x[i, 0]")
@kernel
def colliding(x: X, y: Y):
    for i in I.parallel(I.domain(0, 8)):
        y[0, 0] = x[i, 0]


@pytest.mark.parametrize(("made", "error", "text"), CASES, ids=[made.name for made, *_ in CASES])
def test_refused(refused, made, error, text):
    refused(made, error, text)


def test_an_error_in_a_helper_names_its_call_sites(refused):
    error = refused(recursion, Recursion, "twice(v)")
    assert [site.source.strip() for site in error.chain] == ["y[...] = twice(x)"]
    assert error.seen == {"the cycle": "twice -> twice"}


def test_habits_from_array_libraries_are_answered_with_what_to_write(refused):
    assert "write I.exp" in str(refused(host_function, UnsupportedSyntax, "np.exp"))
    assert "write I.reduce.sum(x[0, :], axis=...)" in str(
        refused(array_method, UnsupportedSyntax, "x[0, :].sum")
    )


def test_mixed_dtypes_name_the_operands_as_written(refused):
    error = refused(mixed, MixedDTypes, "x + k")
    assert error.seen == {"x": "f32", "k": "f64"}
