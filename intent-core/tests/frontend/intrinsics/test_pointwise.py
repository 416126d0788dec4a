"""Pointwise functions: dtypes, literals, broadcasts, permissions."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    LiteralNotRepresentable,
    MixedDTypes,
    NotConstexpr,
    ShapeMismatch,
    WrongDType,
    WrongKind,
)
from intent.kir import Pointwise


@intent.kernel
def unary_f32(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.exp(I.abs(x[...]))


@intent.kernel
def unary_bf16(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)]):
    y[...] = I.floor(I.exp(x[...]))


@intent.kernel
def add_f8(x: I.In[I.f8e5m2, ("N",)], y: I.Out[I.bool, ("N",)]):
    y[...] = I.add(x[...], 1.0) < x[...]


@intent.kernel
def clamp(x: I.In[I.f32, ("M", "N")], hi: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.clamp(x, 0.0, hi)


@intent.kernel
def permitted(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.fdiv(I.exp2(x, approximate=True, flush_to_zero=True), I.tanh(x, approximate=True))


@intent.kernel
def nan_or_inf(x: I.In[I.f16, ("N",)], y: I.Out[I.bool, ("N",)]):
    y[...] = I.isnan(x) | I.isinf(x)


@intent.kernel
def fused(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.fma(x, 2.0, I.pow(x, x))


def test_elementary_functions_keep_f32(ops):
    assert ops(unary_f32) == ["abs f32[N]", "exp f32[N]"]


def test_elementary_functions_of_bf16_round_once_and_exact_ones_stay(ops):
    assert ops(unary_bf16) == ["cast f32[N]", "exp f32[N]", "cast bf16[N]", "floor bf16[N]"]


def test_eight_bit_floats_have_no_arithmetic_of_their_own(ops):
    found = ops(add_f8)
    assert "add f32[N]" in found
    assert "cast f8e5m2[N]" in found
    assert found[-1] == "lt bool[N]"
    assert not any(text.startswith(("add f8", "lt f8")) for text in found)


def test_clamp_is_maximum_then_minimum_and_broadcasts_its_bounds(ops):
    found = ops(clamp)
    assert [f for f in found if not f.startswith("broadcast")] == ["maximum f32[M, N]", "minimum f32[M, N]"]
    assert found.count("broadcast f32[M, N]") == 2


def test_permissions_stay_on_their_operation(lowered):
    functions = {op.fn: op for op in lowered(permitted).body.ops if isinstance(op, Pointwise)}
    assert (functions["exp2"].approximate, functions["exp2"].flush_to_zero) == (True, True)
    assert (functions["tanh"].approximate, functions["tanh"].flush_to_zero) == (True, False)
    assert (functions["div"].approximate, functions["div"].flush_to_zero) == (False, False)


def test_isnan_and_isinf_give_bool(ops):
    assert ops(nan_or_inf) == ["isnan bool[N]", "isinf bool[N]", "or bool[N]"]


def test_fma_and_pow(ops):
    assert ops(fused) == ["pow f32[N]", "broadcast f32[N]", "fma f32[N]"]


@intent.kernel
def mixed(x: I.In[I.f32, ("N",)], h: I.In[I.f16, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.maximum(x, h)


@intent.kernel
def exp_of_integers(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = I.exp(x)


@intent.kernel
def literal_too_large(x: I.In[I.i8, ("N",)], y: I.Out[I.i8, ("N",)]):
    y[...] = I.minimum(x, 300)


@intent.kernel
def approximate_f16(x: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("N",)]):
    y[...] = I.tanh(x, approximate=True)


@intent.kernel
def flushing_alone(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.exp2(x, flush_to_zero=True)


@intent.kernel
def runtime_permission(x: I.In[I.f32, ("N",)], fast: I.bool, y: I.Out[I.f32, ("N",)]):
    y[...] = I.exp2(x, approximate=fast)


@intent.kernel
def shapes_that_cannot_agree(x: I.In[I.f32, ("M", 3)], z: I.In[I.f32, (4,)], y: I.Out[I.f32, ("M", 3)]):
    y[...] = I.add(x, z)


def test_mixed_dtypes_name_the_cast(refused):
    error = refused(mixed, MixedDTypes)
    assert error.seen == {"x": "f32", "h": "f16"}
    assert "I.cast" in error.fix
    assert "I.maximum(x, h)" in error.span.source


def test_integers_have_no_exponential(refused):
    error = refused(exp_of_integers, WrongDType)
    assert "I.exp" in error.message
    assert "i32" in error.seen.values()


def test_a_literal_must_fit(refused):
    assert "300" in refused(literal_too_large, LiteralNotRepresentable).message


def test_approximate_is_for_f32(refused):
    assert "f16" in refused(approximate_f16, WrongDType).seen.values()


def test_flushing_needs_approximation(refused):
    refused(flushing_alone, WrongKind)


def test_permissions_are_compile_time(refused):
    refused(runtime_permission, NotConstexpr)


def test_constant_extents_that_differ(refused):
    refused(shapes_that_cannot_agree, ShapeMismatch)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "log",
        "log1p",
        "lgamma",
        "sin",
        "asin",
        "cos",
        "erf",
        "erfc",
        "i0",
        "rsqrt",
        "sqrt",
        "sigmoid",
        "floor",
        "ceil",
        "round",
        "trunc",
        "log2",
        "abs",
    ],
)
def test_every_unary_function_has_a_lowering(name):
    from intent.frontend.intrinsics import LOWERINGS

    assert name in LOWERINGS


def test_every_intrinsic_of_the_language_has_a_lowering():
    from intent.frontend.intrinsics import LOWERINGS
    from intent.language.intrinsic import INTRINSICS

    assert set(LOWERINGS) == set(INTRINSICS)
