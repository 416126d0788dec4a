"""What errors tell an author to write instead, for mistakes that come from other languages."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ConditionNotScalar,
    NotConstexpr,
    RuntimeCapture,
    UnsupportedSyntax,
    WrongDType,
    WrongKind,
)


@intent.fn
def scaled_sum(a, b):
    return a + b * scale


@intent.fn
def scaled(a):
    return a * scale


@intent.kernel
def captures_in_a_combine(x: I.In[I.f32, ("N",)], scale: I.f32, y: I.Out[I.f32, ()]):
    y[...] = I.reduce(x[...], axis=0, identity=0.0, combine=scaled_sum)


@intent.kernel
def captures_in_a_call(x: I.In[I.f32, ("N",)], scale: I.f32, y: I.Out[I.f32, ("N",)]):
    y[...] = scaled(x[...])


@intent.kernel
def half_a_range(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in range(x.shape[0] / 2):
        y[i] = x[i]


@intent.kernel
def floored_floats(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] // 2.0


@intent.kernel
def coordinates_as_points(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.indices(I.domain(0, x.shape[0]))):
        y[i] = x[i]


@intent.kernel
def a_number_of_points(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(N):
        y[i] = x[i]


@intent.kernel
def identity_of_a_number(n: I.i32, m: I.i32, y: I.Out[I.i32, ()]):
    y[...] = 0
    if n is m:
        y[...] = 1


@intent.kernel
def dtype_of_a_view(x: I.In[I.i32, ("N",)], y: I.Out[I.f16, ("N",)]):
    y[...] = I.cast(x[...], y.dtype)


@intent.kernel
def dtype_of_a_library(x: I.In[I.i32, ("N",)], y: I.Out[I.f64, ("N",)]):
    y[...] = I.cast(x[...], np.float64)


@intent.kernel
def number_as_a_condition(n: I.i32, y: I.Out[I.i32, ()]):
    y[...] = 0
    if n:
        y[...] = 1


@intent.fn
def power(x, n: I.Constexpr[int]):
    return x * n


@intent.kernel
def runtime_for_a_constexpr(x: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.i32, ("N",)]):
    y[...] = power(x[...], n)


@intent.kernel
def method_of_an_array(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...].exp()


@pytest.mark.parametrize(
    ("kernel", "error", "text", "fix"),
    [
        (captures_in_a_combine, RuntimeCapture, "scale", "'scale' through combine_operands=(...)"),
        (captures_in_a_call, RuntimeCapture, "scale", "'scale' as an argument"),
        (half_a_range, WrongDType, "x.shape[0] / 2", "write //"),
        (floored_floats, WrongDType, "x[...] // 2.0", "I.floor(a / b)"),
        (
            coordinates_as_points,
            WrongKind,
            "I.parallel(I.indices(I.domain(0, x.shape[0])))",
            "the domain itself",
        ),
        (a_number_of_points, WrongKind, "I.parallel(N)", "I.domain(0, N)"),
        (identity_of_a_number, UnsupportedSyntax, "n is m", "=="),
        (dtype_of_a_view, UnsupportedSyntax, "y.dtype", "I.f16"),
        (dtype_of_a_library, UnsupportedSyntax, "np.float64", "write I.f64"),
        (number_as_a_condition, ConditionNotScalar, "n", "!= 0"),
        (runtime_for_a_constexpr, NotConstexpr, "power(x[...], n)", "I.Constexpr"),
        (method_of_an_array, UnsupportedSyntax, "x[...].exp", "I.exp(x[...])"),
    ],
    ids=lambda p: getattr(p, "name", None) or getattr(p, "__name__", p),
)
def test_what_to_write(refused, kernel, error, text, fix):
    assert fix in refused(kernel, error, text).fix


@intent.kernel
def known_for_a_constexpr(x: I.In[I.i32, ("N",)], k: I.Constexpr[int], y: I.Out[I.i32, ("N",)]):
    y[...] = power(x[...], k) + power(n=3, x=x[...])


def test_a_constexpr_of_a_helper_takes_what_is_known():
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    intent.compile(known_for_a_constexpr, provider="reference", constexprs={"k": 2})(x, y)
    assert np.array_equal(y, x * 5)
