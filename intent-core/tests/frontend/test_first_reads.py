"""Reads that come before every write, and views that were meant to be written."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    LaunchCondition,
    NameMayBeUndefined,
    NotSupportedYet,
    ReadBeforeWrite,
    UnsupportedSyntax,
    WrongKind,
)
from intent.language.definitions import kernel

X = I.In[I.f32, ("N",)]
Y = I.Out[I.f32, ("N",)]
X2 = I.In[I.f32, ("M", "N")]
Y2 = I.Out[I.f32, ("M", "N")]


@kernel
def each_element(x: X, y: Y):
    for i in range(x.shape[0]):
        y[i] = y[i] + x[i]


@kernel
def each_row(x: X2, y: Y2):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i, :] += x[i, :]


@kernel
def nested(x: X2, y: Y2):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            old = y[i, j]
            y[i, j] = old + x[i, j]


@kernel
def counted(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=x[i], value=1, combine=I.add)


@kernel
def ticket(y: I.Out[I.i32, (1,)]):
    I.atomic.add(y[0], 1)


@kernel
def never_written(x: X, y: Y, z: Y):
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            z[i] = y[i]


@kernel
def scratch(y: Y):
    b = I.buffer(y.shape, I.f32)
    y[...] = b[...]


@kernel
def rebound(x: X, y: Y):
    y = x[...]  # noqa: F841


@kernel
def rebound_sum(x: X, y: I.InOut[I.f32, ("N",)]):
    y += x[...]


@kernel
def zero_divisor(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = x[...] // 0


@kernel
def long_shift(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = x[...] << 32


@pytest.mark.parametrize(
    ("made", "error", "text"),
    [
        (each_element, ReadBeforeWrite, "y[i]"),
        (each_row, ReadBeforeWrite, "y[i, :] += x[i, :]"),
        (nested, ReadBeforeWrite, "y[i, j]"),
        (counted, ReadBeforeWrite, "I.scatter_reduce(y, index=x[i], value=1, combine=I.add)"),
        (ticket, ReadBeforeWrite, "I.atomic.add(y[0], 1)"),
        (never_written, ReadBeforeWrite, "y[i]"),
        (scratch, ReadBeforeWrite, "b[...]"),
        (rebound, UnsupportedSyntax, "y = x[...]"),
        (rebound_sum, UnsupportedSyntax, "y += x[...]"),
        (zero_divisor, WrongKind, "x[...] // 0"),
        (long_shift, WrongKind, "x[...] << 32"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_refused(made, error, text, refused):
    refused(made, error, text)


@kernel
def running(x: X, y: Y):
    for t in range(x.shape[0]):
        if t > 0:
            y[t] = y[t - 1] + x[t]
        else:
            y[t] = x[t]


@kernel
def written_in_the_step(x: X, y: Y):
    for i in range(x.shape[0]):
        y[i] = x[i]
        y[i] = y[i] * 2.0


@kernel
def written_in_an_earlier_step(x: X, y: Y):
    for t in range(2):
        for i in range(x.shape[0]):
            if t == 0:
                y[i] = x[i]
            else:
                y[i] = y[i] * 3.0


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (running, [1, 3, 6, 10]),
        (written_in_the_step, [2, 4, 6, 8]),
        (written_in_an_earlier_step, [3, 6, 9, 12]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_reads_after_writes(made, expected, run):
    y = np.zeros(4, np.float32)
    run(made, np.arange(1, 5, dtype=np.float32), y)
    assert y.tolist() == expected


@kernel
def one_element(x: X, n: I.i32, y: I.Out[I.f32, (3,)]):
    y[0] = x[n]
    y[1] = I.gather(x, index=7, valid=x.shape[0] > 7, fill=-1.0)
    y[2] = 0.0
    if x.shape[0] > 3:
        y[2] = x[3]


@pytest.mark.parametrize("n", [-1, 3])
def test_an_index_known_at_launch_is_checked_there(n):
    with pytest.raises(LaunchCondition) as found:
        intent.compile(one_element, provider="reference")(np.ones(3, np.float32), n, np.zeros(3, np.float32))
    assert found.value.span is not None
    assert found.value.span.source.strip() == "y[0] = x[n]"


def test_an_index_under_a_condition_is_not():
    y = np.zeros(3, np.float32)
    intent.compile(one_element, provider="reference")(np.arange(3, dtype=np.float32), 2, y)
    assert y.tolist() == [2, -1, 0]


OFFSET = 1.0


@kernel
def local_name(x: X, y: Y):
    OFFSET = OFFSET + 1.0  # noqa: F823
    y[...] = x[...] * OFFSET


def test_a_name_that_is_assigned_is_never_the_one_outside(refused):
    refused(local_name, NameMayBeUndefined, "OFFSET")


@kernel
def data_sized(x: I.In[I.i32, ("N",)], y: Y):
    t = I.buffer((x[0],), I.f32, init=0.0)
    y[...] = t[...]


def test_a_buffer_of_an_extent_from_data():
    with pytest.raises(NotSupportedYet) as found:
        intent.compile(data_sized, provider="reference")
    assert found.value.span is not None
    assert "I.buffer" in found.value.span.source
