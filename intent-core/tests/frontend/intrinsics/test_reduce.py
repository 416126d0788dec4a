"""Builtin and generic reductions, positions, scans."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ImpureHelper,
    InvalidAxis,
    MixedDTypes,
    SchemaMismatch,
    ShapeMismatch,
    WrongDType,
    WrongKind,
)
from intent.kir import Reduce, Scan


@intent.kernel
def sum_f16(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x, axis=-1)


@intent.kernel
def sum_u8(x: I.In[I.u8, ("M", "N")], y: I.Out[I.u32, ()]):
    y[()] = I.reduce.sum(x, axis=(0, 1))


@intent.kernel
def sum_acc(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f64, ("N",)]):
    y[...] = I.reduce.sum(x, axis=0, acc_dtype=I.f64)


@intent.kernel
def max_f16(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M",)]):
    y[...] = I.reduce.max(x, axis=1, identity=-I.inf)


@intent.kernel
def any_bool(x: I.In[I.i32, ("M", "N")], y: I.Out[I.bool, ("M",)]):
    y[...] = I.reduce.any(x > 0, axis=1, identity=I.full((x.shape[0],), False, I.bool))


@intent.fn
def welford(a, b):
    n = a.n + b.n
    delta = b.mean - a.mean
    safe = I.maximum(n, 1.0)
    return I.record(n=n, mean=a.mean + delta * b.n / safe, m2=a.m2 + b.m2 + delta * delta * a.n * b.n / safe)


@intent.kernel
def statistics(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], m2: I.Out[I.f32, ("M",)]):
    stats = I.reduce(
        I.record(n=1.0, mean=x[...], m2=0.0),
        axis=1,
        identity=I.record(n=I.cast(0.0, I.f32), mean=I.cast(0.0, I.f32), m2=I.cast(0.0, I.f32)),
        combine=welford,
    )
    mean[...] = stats.mean
    m2[...] = stats.m2 / stats.n


@intent.fn
def scaled_sum(a, b, factor):
    return (a + b) * factor / factor


@intent.kernel
def with_operands(x: I.In[I.f32, ("M",)], factor: I.f32, y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=scaled_sum, combine_operands=(factor,))


@intent.kernel
def slice_operands(x: I.In[I.f32, ("M", "N")], factor: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce(x, axis=0, identity=0.0, combine=scaled_sum, combine_operands=(factor[...],))


@intent.kernel
def add_as_combine(x: I.In[I.f16, ("M",)], y: I.Out[I.f16, ()], z: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=I.add)
    z[()] = I.reduce(x, axis=0, identity=0.0, combine=I.add, acc_dtype=I.f32)


@intent.kernel
def identity_slices(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x, axis=1, identity=I.full((x.shape[0],), 3.0, I.f32), combine=I.maximum)


@intent.kernel
def positions(x: I.In[I.f32, ("A", "B", "C")], v: I.Out[I.f32, ("B",)], p: I.Out[I.i64, ("B",)]):
    value, index = I.arg_reduce.max(x, axis=(2, 0))
    v[...] = value
    p[...] = I.cast(index, I.i64)


@intent.kernel
def prefixes(x: I.In[I.bf16, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.bf16, ("M", "N")]):
    y[...] = I.cumsum(x, axis=1, inclusive=False)
    z[...] = I.cummax(x, axis=0, reverse=True)


@intent.fn
def affine(first, second):
    return I.record(scale=first.scale * second.scale, shift=second.scale * first.shift + second.shift)


@intent.kernel
def recurrence(a: I.In[I.f32, ("T",)], b: I.In[I.f32, ("T",)], y: I.Out[I.f32, ("T",)]):
    states = I.scan(
        I.record(scale=a[...], shift=b[...]),
        axis=0,
        identity=I.record(scale=1.0, shift=0.0),
        combine=affine,
        reverse=True,
    )
    y[...] = states.shift


def test_sums_of_narrow_floats_are_f32(ops):
    assert ops(sum_f16) == ["cast f32[M, N]", "reduce.sum f32[M]"]


def test_sums_of_narrow_integers_widen(ops, one):
    assert ops(sum_u8) == ["cast u32[M, N]", "reduce.sum u32"]
    assert one(sum_u8, Reduce).axes == (0, 1)


def test_an_accumulator_dtype_casts_the_operand(ops):
    assert ops(sum_acc) == ["cast f64[M, N]", "reduce.sum f64[N]"]


def test_max_keeps_its_dtype_and_takes_its_own_identity(ops):
    assert ops(max_f16) == ["reduce.max f16[M]"]


def test_the_identity_of_a_builtin_may_be_a_full_slice(one):
    assert one(any_bool, Reduce).identity == ()


def test_generic_reduce_of_a_record(one):
    op = one(statistics, Reduce)
    assert op.kind is None
    assert [str(r.shape) for r in op.results] == ["(M,)"] * 3
    assert len(op.combine.args) == 6
    assert all(v.shape == () for v in (*op.combine.args, *op.combine.yields))
    assert len(op.identity) == 3


def test_operands_become_arguments_of_the_combine(one):
    op = one(with_operands, Reduce)
    assert [v.name for v in op.captures] == ["factor"]
    assert len(op.combine.args) == 3


def test_an_operand_of_a_slice_comes_element_by_element(one):
    op = one(slice_operands, Reduce)
    assert op.captures == ()
    assert [str(v.shape) for v in op.operands] == ["(M, N)", "(M, N)"]
    assert [str(v.shape) for v in op.identity] == ["()", "(N,)"]
    assert all(v.shape == () for v in op.combine.args)
    assert op.combine.yields[1] == op.combine.args[1]


def test_add_as_combine_is_the_builtin_in_the_component_dtype(lowered):
    found = [op for op in lowered(add_as_combine).body.ops if isinstance(op, Reduce)]
    assert [(op.kind, op.result.dtype.name) for op in found] == [("sum", "f16"), ("sum", "f32")]


def test_an_identity_that_is_not_neutral_for_a_builtin_keeps_its_value(one):
    op = one(identity_slices, Reduce)
    assert op.kind is None
    assert str(op.identity[0].shape) == "(M,)"


def test_positions_over_several_axes(one):
    op = one(positions, Reduce)
    assert (op.kind, op.axes) == ("argmax", (0, 2))
    assert [r.dtype.name for r in op.results] == ["f32", "index"]


def test_builtin_scans(lowered):
    found = [op for op in lowered(prefixes).body.ops if isinstance(op, Scan)]
    assert [(op.kind, op.axis, op.inclusive, op.reverse, op.result.dtype.name) for op in found] == [
        ("sum", 1, False, False, "f32"),
        ("max", 0, True, True, "bf16"),
    ]


def test_generic_scan_of_a_record(one):
    op = one(recurrence, Scan)
    assert (op.kind, op.reverse, len(op.operands), len(op.combine.args)) == (None, True, 2, 4)


# -- refusals


@intent.kernel
def axis_outside(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(x, axis=1)


@intent.kernel
def axis_twice(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x, axis=(1, -1))


@intent.kernel
def domain_as_axis(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x, axis=I.domain(0, 4))


@intent.kernel
def scalar_source(s: I.f32, y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(s, axis=0)


@intent.kernel
def any_of_numbers(x: I.In[I.f32, ("M",)], y: I.Out[I.bool, ()]):
    y[()] = I.reduce.any(x, axis=0)


@intent.kernel
def another_identity(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(x, axis=0, identity=1.0)


@intent.fn
def reads_a_view(a, b, view):
    return a + b + view[0]


@intent.fn
def to_f64(a, b):
    return I.cast(a + b, I.f64)


@intent.fn
def mixes(a, b):
    return a + I.cast(b, I.f16)


@intent.fn
def draws(a, b):
    return a + b + I.random.uniform(1, 2)


@intent.kernel
def value_operand(x: I.In[I.f32, ("M",)], w: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=reads_a_view, combine_operands=(w[...],))


@intent.kernel
def tensor_operand(x: I.In[I.f32, ("M",)], w: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=reads_a_view, combine_operands=(w,))


@intent.kernel
def combine_of_another_dtype(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=to_f64)


@intent.kernel
def combine_that_mixes(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=mixes)


@intent.kernel
def combine_that_draws(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=draws)


@intent.kernel
def identity_of_another_dtype(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=I.cast(0.0, I.f64), combine=I.add)


@intent.kernel
def identity_of_another_structure(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(I.record(a=x[...]), axis=0, identity=0.0, combine=I.add).a


@intent.kernel
def exp_as_combine(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=I.exp)


@intent.kernel
def number_as_combine(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x, axis=0, identity=0.0, combine=3)


@intent.kernel
def scan_over_two_axes(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(x, axis=(0, 1))


@pytest.mark.parametrize(
    ("kernel", "error", "says"),
    [
        (axis_outside, InvalidAxis, "no axis 1"),
        (axis_twice, InvalidAxis, "twice"),
        (domain_as_axis, WrongKind, "I.reduce.sum"),
        (scalar_source, InvalidAxis, "I.reduce.sum"),
        (any_of_numbers, WrongDType, "bool"),
        (another_identity, SchemaMismatch, "identity="),
        (tensor_operand, ImpureHelper, "reads_a_view"),
        (value_operand, ShapeMismatch, "combine_operands="),
        (combine_of_another_dtype, SchemaMismatch, "to_f64"),
        (combine_that_mixes, MixedDTypes, "different dtypes"),
        (combine_that_draws, ImpureHelper, "draws"),
        (identity_of_another_dtype, SchemaMismatch, "identity="),
        (identity_of_another_structure, SchemaMismatch, "identity="),
        (exp_as_combine, WrongKind, "I.reduce"),
        (number_as_combine, WrongKind, "I.reduce"),
        (scan_over_two_axes, WrongKind, "one axis"),
    ],
    ids=lambda p: getattr(p, "name", None),
)
def test_refused(refused, kernel, error, says):
    assert says in refused(kernel, error).message


def test_a_fault_inside_the_combine_blames_the_helper_and_the_call(refused):
    error = refused(combine_that_mixes, MixedDTypes)
    assert "a + I.cast(b, I.f16)" in error.span.source
    assert any("combine=mixes" in site.source for site in error.chain)
