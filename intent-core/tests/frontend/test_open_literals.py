"""Numbers whose dtype their uses give: selected, computed and carried ones."""

from __future__ import annotations

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import MixedDTypes
from intent.frontend import lower
from intent.kir import Cast
from intent.kir.walk import walk
from intent.language.definitions import fn, kernel
from intent.types.dtypes import F64

X = I.In[I.f32, ("N",)]
Y = I.Out[I.f32, ("N",)]
VALUES = np.array([-1, 0, 2, 5], np.float32)


@kernel
def selected(x: X, y: Y):
    sign = I.select(x[...] > 0, 1.0, I.select(x[...] < 0, -1.0, 0.0))
    y[...] = x[...] * sign


@kernel
def selected_and_computed(x: X, y: Y):
    y[...] = x[...] * (2.0 * I.mask(1.0, x[...] > 0, 0.0) + 0.5)


@kernel
def chosen_by_element(x: X, y: Y):
    y[...] = x[...] * (1.0 if x[...] > 0 else -1.0)


@kernel
def function_of_a_number(x: X, y: Y):
    scale = I.sqrt(4.0) * I.maximum(0.0, 1.0)
    y[...] = x[...] * scale


@kernel
def carried(x: X, y: Y):
    v = 0.0
    for _ in range(3):
        v = v + 1.0
    y[...] = x[...] * v


@fn
def above(x, limit):
    count = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            count += 1
    return count


@kernel
def counted(x: X, y: Y):
    y[...] = x[...] * above(x, 0.0) + above(x, -5.0)


@kernel
def carried_by_a_while(x: X, y: Y):
    guess, k = 1.0, 0
    while k < 6:
        guess = 0.5 * (guess + 9.0 / guess)
        k = k + 1
    y[...] = x[...] * guess


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (selected, [1, 0, 2, 5]),
        (selected_and_computed, [-0.5, 0, 5, 12.5]),
        (chosen_by_element, [1, 0, 2, 5]),
        (function_of_a_number, [-2, 0, 4, 10]),
        (carried, [-3, 0, 6, 15]),
        (counted, [2, 4, 8, 14]),
        (carried_by_a_while, [-3, 0, 6, 15]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_use_gives_the_dtype(made, expected, run):
    y = np.zeros(4, np.float32)
    kernel_made = run(made, VALUES, y)
    assert y.tolist() == pytest.approx(expected, rel=1e-6)
    dtypes = {v.dtype for op in walk(kernel_made.body) for v in op.results}
    assert F64 not in dtypes
    assert not any(isinstance(op, Cast) and op.result.dtype.is_float for op in walk(kernel_made.body))


@kernel
def integers(x: X, y: I.Out[I.i32, ()], z: I.Out[I.u8, ()], w: I.Out[I.i64, ()]):
    y[()] = above(x, 0.0)
    z[()] = above(x, 1.0)
    w[()] = above(x, 3.0)


def test_one_helper_counts_in_the_dtype_of_each_call(run):
    y, z, w = np.zeros((), np.int32), np.zeros((), np.uint8), np.zeros((), np.int64)
    run(integers, VALUES, y, z, w)
    assert (y[()], z[()], w[()]) == (2, 2, 1)


@kernel
def fibonacci(n: I.i32, y: I.Out[I.i32, ()], z: I.Out[I.f32, ()]):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    y[()] = a
    c, d = 0.0, 1.0
    for _ in range(n):
        c, d = d, c + d
    z[()] = d


def test_carries_that_meet_have_one_dtype(run):
    y, z = np.zeros((), np.int32), np.zeros((), np.float32)
    run(fibonacci, 10, y, z)
    assert (y[()], z[()]) == (55, 89)


@kernel
def two_uses(x: X, y: Y, z: I.Out[I.f64, ("N",)]):
    v = 0.0
    for _ in range(3):
        v = v + 1.0
    y[...] = x[...] * v
    z[...] = I.cast(x[...], I.f64) * v


def test_the_first_use_counts():
    with pytest.raises(MixedDTypes) as found:
        lower(two_uses)
    assert found.value.span is not None
    assert found.value.span.source.strip().startswith("z[...]")


@kernel
def constants_of_python(x: X, y: I.Out[I.i64, (4,)], z: Y):
    n = I.cast(x.shape[0], I.i64) - 7
    y[0] = n**3
    for at, value in zip((1, 2), (20, 30), strict=True):
        y[at] = value
    for at in reversed((3,)):
        y[at] = 40
    z[...] = I.minimum(x[...], float("-inf"))


def test_numbers_and_tuples_that_python_makes(run):
    y, z = np.zeros(4, np.int64), np.zeros(4, np.float32)
    run(constants_of_python, VALUES, y, z)
    assert y.tolist() == [-27, 20, 30, 40]
    assert z.tolist() == [-np.inf] * 4
