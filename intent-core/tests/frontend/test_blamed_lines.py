"""Calls over several lines: an error about one argument blames that argument's line."""

from __future__ import annotations

import pytest

import intent.language as I
from intent.diagnostics import IntentError
from intent.frontend import lower
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("M", "N")]
Y = I.Out[I.f32, ("M", "N")]

# The line at fault of each kernel ends with this comment.
MARK = "# at fault"


@fn
def scaled(a, b, *, by=1.0):
    return a * b * by


@kernel
def mixed(x: X, y: Y):
    y[...] = I.select(
        x[...] > 0.0,
        x[...],
        I.cast(1, I.f16),  # at fault
    )


@kernel
def axis(x: X, y: Y):
    y[...] = I.cumsum(
        x[...],
        axis=5,  # at fault
    )


@kernel
def positional_axis(x: X, y: Y):
    y[...] = I.cumsum(
        x[...],
        5,  # at fault
    )


@kernel
def paired(x: X, y: Y):
    y[...] = I.contract(
        x[...],
        x[...],
        reduce=((1, 7),),  # at fault
    )


@kernel
def permutation(x: X, y: Y):
    y[...] = I.transpose(
        x[...],
        perm=(0, 2),  # at fault
    )


@kernel
def shape(x: X, y: Y):
    y[...] = I.reshape(
        x[...],
        (-1, -1),  # at fault
    )


@kernel
def keyword(x: X, y: Y):
    y[...] = scaled(
        x[...],
        x[...],
        bye=2.0,  # at fault
    )


@kernel
def dtype(x: X, y: Y):
    y[...] = I.cumsum(
        x[...],
        axis=0,
        acc_dtype=3,  # at fault
    )


@kernel
def within_a_tuple(x: X, y: Y):
    y[0, 0:3] = I.gather(
        x,
        index=(
            I.full((3,), 0, I.i32),
            I.full((3,), 0.5, I.f32),  # at fault
        ),
    )


@kernel
def run_time(x: X, n: I.i32, y: Y):
    y[...] = I.cumsum(
        x[...],
        axis=n,  # at fault
    )


@kernel
def about_the_call(x: X, y: Y):
    y[...] = I.cumsum(  # at fault
        axis=0,
    )


MADE = (mixed, axis, positional_axis, paired, permutation, shape, keyword, dtype, within_a_tuple, run_time)


@pytest.mark.parametrize("made", [*MADE, about_the_call], ids=lambda made: made.name)
def test_the_line_of_the_argument_is_blamed(made):
    with pytest.raises(IntentError) as found:
        lower(made)
    span = found.value.span
    assert span is not None
    assert span.source.splitlines()[0].endswith(MARK)
