"""Returns: early, of None, on some paths only, and those of functions inside."""

from __future__ import annotations

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import ReturnTypesDiffer, UnsupportedSyntax
from intent.frontend import lower
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("N",)]
Y = I.Out[I.f32, ("N",)]


@kernel
def early(x: X, n: I.i32, y: Y):
    y[...] = x[...]
    if n == 0:
        return
        y[...] = 100.0
    elif n == 1:  # noqa: RET505
        y[...] = x[...] + 1.0
        return None  # noqa: RET501
    for i in range(x.shape[0]):
        if i == 2:
            return
        y[i] = x[i] * 3.0
    y[0] = 9.0


def _expected(x, n):
    if n == 0:
        return x
    if n == 1:
        return x + 1
    y = x.copy()
    y[:2] *= 3
    if len(x) <= 2:
        y[0] = 9
    return y


@pytest.mark.parametrize("n", range(3))
@pytest.mark.parametrize("length", [1, 2, 5])
def test_returns_of_a_kernel(run, n, length):
    x, y = np.arange(length, dtype=np.float32) + 1, np.zeros(length, np.float32)
    run(early, x, n, y)
    assert y.tolist() == _expected(x, n).tolist()


@fn  # noqa: RET503
def sometimes(value, n):
    if n > 0:
        return value


@fn
def none_or_value(value, n):
    if n > 0:
        return None
    return value


@fn
def bare_or_value(value, n):
    if n > 0:
        return  # noqa: RET502
    return value


@fn  # noqa: RET503
def found_in_loop(value, n):
    for i in range(n):
        if i > 3:
            return value


@fn
def found_without_end(value, n):
    while True:
        if n > 3:
            return value
        n = n + 1


@pytest.mark.parametrize(
    "helper", [sometimes, none_or_value, bare_or_value, found_in_loop], ids=lambda h: h.name
)
def test_a_path_without_a_value(helper):
    @kernel
    def calls(x: X, n: I.i32, y: Y):
        y[...] = helper(x[...], n)

    with pytest.raises(ReturnTypesDiffer) as found:
        lower(calls)
    assert found.value.span is not None
    first = helper.source.first_line
    assert first < found.value.span.line < first + 5


def test_a_loop_that_only_a_return_ends(run):
    @kernel
    def calls(x: X, n: I.i32, y: Y):
        y[...] = found_without_end(x[...], n)

    y = np.zeros(2, np.float32)
    run(calls, np.ones(2, np.float32), 1, y)
    assert y.tolist() == [1, 1]


@kernel
def function_inside(x: X, y: Y):
    def same(value):
        return value

    y[...] = same(x[...])


def test_the_return_of_a_function_inside_is_not_the_kernels(refused):
    refused(function_inside, UnsupportedSyntax, "def same(value):")


def test_async_is_refused_at_its_line():
    @kernel
    async def later(x: X, y: Y):
        y[...] = x[...]

    with pytest.raises(UnsupportedSyntax) as found:
        lower(later)
    assert found.value.span is not None
    assert found.value.span.source.strip().startswith("async def later")
