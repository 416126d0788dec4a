"""Points of parallel loops that meet in one element: refused where it is certain, left to the author where not."""

from __future__ import annotations

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import CollidingWrites, ConflictingAccess
from intent.frontend import lower
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("N",)]
Y = I.InOut[I.f32, ("N",)]
X2 = I.In[I.f32, ("M", "N")]
Y2 = I.InOut[I.f32, ("M", "N")]


@fn
def first(y, value):
    y[0] = value


@kernel
def one_element(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[0] = x[i]


@kernel
def through_a_helper(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        first(y, x[i])


@kernel
def whole_view(x: X2, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[...] = x[i, :]


@kernel
def inner_of_a_nest(x: X2, y: Y2):
    for i, j in I.parallel((I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))):
        y[i, 0] = x[i, j]


@kernel
def halves(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i // 2] = x[i]


@kernel
def windows(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0] - 2)):
        y[i : i + 3] = x[i : i + 3]


@kernel
def two_statements(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0] - 1)):
        y[i] = x[i]
        y[i + 1] = x[i]


@kernel
def inner_loop(x: X2, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        for j in range(x.shape[1]):
            y[j] = x[i, j]


@kernel
def shared_buffer(x: X, y: I.Out[I.f32, ()]):
    total = I.buffer((), I.f32, init=0.0)
    for i in I.parallel(I.domain(0, x.shape[0])):
        total[()] = total[()] + x[i]
    y[()] = total[()]


@kernel
def previous(x: X, y: Y):
    for i in I.parallel(I.domain(1, x.shape[0])):
        y[i] = y[i - 1] + x[i]


@kernel
def whole_read(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] - I.reduce.max(y[...], axis=0)


@kernel
def above_left(x: X2, y: Y2):
    for i in I.parallel(I.domain(1, x.shape[0])):
        for j in range(1, x.shape[1]):
            y[i, j] = y[i - 1, j - 1] + x[i, j]


@pytest.mark.parametrize(
    ("made", "error", "text"),
    [
        (one_element, CollidingWrites, "y[0] = x[i]"),
        (through_a_helper, CollidingWrites, "y[0] = value"),
        (whole_view, CollidingWrites, "y[...] = x[i, :]"),
        (inner_of_a_nest, CollidingWrites, "y[i, 0] = x[i, j]"),
        (halves, CollidingWrites, "y[i // 2] = x[i]"),
        (windows, CollidingWrites, "y[i : i + 3] = x[i : i + 3]"),
        (two_statements, CollidingWrites, "y[i + 1] = x[i]"),
        (inner_loop, CollidingWrites, "y[j] = x[i, j]"),
        (shared_buffer, CollidingWrites, "total[()] = total[()] + x[i]"),
        (previous, ConflictingAccess, "y[i] = y[i - 1] + x[i]"),
        (whole_read, ConflictingAccess, "y[i] = x[i] - I.reduce.max(y[...], axis=0)"),
        (above_left, ConflictingAccess, "y[i, j] = y[i - 1, j - 1] + x[i, j]"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_refused(made, error, text, refused):
    refused(made, error, text)


@kernel
def conditional(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] == 3.0:
            y[0] = x[i]


@kernel
def digits(x: I.In[I.f32, (6,)], y: I.InOut[I.f32, (3, 2)]):
    for i in I.parallel(I.domain(0, 6)):
        y[i // 2, i % 2] = x[i]


@kernel
def steps(x: X, y: Y):
    for i in I.parallel(I.domain(0, x.shape[0] - 2, 3)):
        y[i : i + 3] = x[i : i + 3]


@kernel
def red_black(x: X, y: Y):
    for i in I.parallel(I.domain(1, x.shape[0] - 1, 2)):
        y[i] = y[i - 1] + y[i + 1] + x[i]


@kernel
def own_buffer(x: X2, y: Y):
    for j in I.parallel(I.domain(0, x.shape[1])):
        total = I.buffer((), I.f32, init=0.0)
        for i in range(x.shape[0]):
            total[()] = total[()] + x[i, j]
        y[j] = total[()]


@kernel
def one_point(x: X, y: Y):
    for _ in I.parallel(I.domain(0, 1)):
        y[0] = x[0]


@kernel
def pivot_row(k: I.i32, y: I.InOut[I.f32, ("N", "N")]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i, :] = I.minimum(y[i, :], y[i, k] + y[k, :])


@pytest.mark.parametrize(
    "made", [digits, steps, red_black, own_buffer, one_point, pivot_row], ids=lambda k: k.name
)
def test_accepted(made):
    assert lower(made).name == made.name


def test_the_author_promises_that_one_point_writes(run):
    y = np.zeros(5, np.float32)
    run(conditional, np.arange(5, dtype=np.float32), y)
    assert y.tolist() == [3, 0, 0, 0, 0]
