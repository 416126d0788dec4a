"""Programs that rest on the author's promise about points: trials show nothing on data that breaks it."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.frontend import lower
from intent.physical.verify.trial.points import Points
from intent.physical.verify.trial.trial import attempt
from intent.planning import default_plan, minimal_plan
from intent.reference.plugin import Reference


@intent.kernel
def append(
    key: I.In[I.f16, ("B", "D")],
    length: I.In[I.i32, ("B",)],
    table: I.In[I.i32, ("B", "P")],
    cache: I.InOut[I.f16, ("S", 4, "D")],
):
    for b in I.parallel(I.domain(0, key.shape[0])):
        page = length[b] // 4
        cache[table[b, page], length[b] % 4, :] = key[b, :]


@intent.kernel
def add_rows(
    destination: I.InOut[I.f32, ("C", "D")], at: I.In[I.i64, ("M",)], source: I.In[I.f32, ("M", "D")]
):
    for row in I.parallel(I.domain(0, source.shape[0])):
        here = at[row]
        I.assume_in_bounds(here, destination, axis=0)
        destination[here, :] = destination[here, :] + source[row, :]


@intent.kernel
def own_scratch(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        scratch = I.buffer((N,), I.f32)
        scratch[...] = x[row, :] * 2.0
        y[row, :] = scratch[...] + 1.0


@intent.kernel
def first_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.i64, ()]):
    column = I.indices(I.domain(0, x.shape[1]))
    y[...] = I.select(column < 4, -x[...], x[...])
    z[()] = I.reduce.sum(I.select(column < 4, 1, 2), axis=0)


@pytest.mark.parametrize("extents", [None, {"M": 32, "N": 16}], ids=["any", "full"])
@pytest.mark.parametrize("plan", [default_plan, minimal_plan], ids=lambda p: p.__name__)
@pytest.mark.parametrize("made", [append, add_rows, own_scratch, first_columns], ids=lambda k: k.name)
def test_no_difference_is_found(made, plan, extents):
    kernel = lower(made)
    analysis = analyze(kernel)
    program = construct(kernel, plan(analysis, Reference().capabilities, extents), analysis)
    assert attempt(program, kernel).difference is None


@pytest.mark.parametrize(
    ("touches", "meet"),
    [
        ([(0, "write", [1, 2]), (1, "write", [3])], False),
        ([(0, "write", [1, 2]), (1, "write", [2])], True),
        ([(0, "write", [1]), (1, "read", [1])], True),
        ([(0, "read", [5]), (1, "write", [5])], True),
        ([(0, "read", [5]), (0, "write", [5]), (1, "read", [6])], False),
        ([(0, "read", [5]), (1, "read", [5])], False),
    ],
)
def test_points_meet(touches, meet):
    points = Points()
    for point, kind, elements in touches:
        points.point = point
        points.touch("y", kind, np.array(elements))
    assert points.meet() is meet
