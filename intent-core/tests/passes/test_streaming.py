"""Loads that are read once beside atomic accesses say so."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.physical import Load


@intent.kernel
def rows_added(x: I.In[I.f32, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K", "D")]):
    columns = I.indices(I.domain(0, x.shape[1]))
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=x[...], combine=I.add)


@intent.kernel
def scaled_rows(
    x: I.In[I.f32, ("N", "D")], w: I.In[I.f32, ("D",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K", "D")]
):
    columns = I.indices(I.domain(0, x.shape[1]))
    value = x[...] * w[...][None, :]
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=value, combine=I.add)


@intent.kernel
def gathered_rows(
    x: I.In[I.f32, ("K", "D")],
    start: I.In[I.i32, ("N",)],
    at: I.In[I.i32, ("N",)],
    y: I.InOut[I.f32, ("K", "D")],
):
    columns = I.indices(I.domain(0, x.shape[1]))
    value = x[start[...], :]
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=value, combine=I.add)


@intent.kernel
def doubled(x: I.In[I.f32, ("N", "D")], y: I.Out[I.f32, ("N", "D")]):
    y[...] = x[...] * 2


def marks(stages, kernel, blocks, given, wanted, name, **more):
    made = stages(kernel, blocks, given, wanted, **more)
    return [op.reread for op in made.ops(Load) if op.source.name == name]


@pytest.fixture
def added(rng):
    x, at = rng.integers(-9, 10, (12, 10)).astype(np.float32), rng.integers(0, 5, 12).astype(np.int32)
    y = np.zeros((5, 10), np.float32)
    np.add.at(y, at, x)
    return {"x": x, "at": at, "y": np.zeros((5, 10), np.float32)}, {"y": y}


@pytest.mark.parametrize("blocks", [{"axis_N": 4}, {"axis_D": 4}, {"axis_N": 4, "axis_D": 4}])
def test_what_is_added_is_read_once(stages, added, blocks):
    assert set(marks(stages, rows_added, blocks, *added, "x")) == {"once"}


def test_a_walk_over_what_is_added_reads_it_once(stages, added):
    blocks = {"axis_N": 4, "axis_D": 4}
    assert set(marks(stages, rows_added, blocks, *added, "x", inside=("axis_N",))) == {"once"}


def test_accesses_of_single_elements_are_not_worth_it(stages, added):
    assert set(marks(stages, rows_added, {}, *added, "x")) == {""}


def test_indices_that_several_instances_read_are_not(stages, added):
    assert set(marks(stages, rows_added, {"axis_N": 4, "axis_D": 4}, *added, "at")) == {""}


def test_weights_of_all_rows_are_not(stages, added):
    given, wanted = added
    w = np.arange(10, dtype=np.float32)
    given, wanted = {**given, "w": w}, {"y": wanted["y"] * w}
    blocks = {"axis_N": 4, "axis_D": 4}
    assert set(marks(stages, scaled_rows, blocks, given, wanted, "w")) == {""}
    assert set(marks(stages, scaled_rows, blocks, given, wanted, "x")) == {"once"}


def test_rows_whose_numbers_were_read_may_come_twice(stages, rng):
    x = rng.integers(-9, 10, (5, 10)).astype(np.float32)
    start, at = (rng.integers(0, 5, 12).astype(np.int32) for _ in range(2))
    y = np.zeros((5, 10), np.float32)
    np.add.at(y, at, x[start])
    given = {"x": x, "start": start, "at": at, "y": np.zeros((5, 10), np.float32)}
    assert set(marks(stages, gathered_rows, {"axis_N": 4, "axis_D": 4}, given, {"y": y}, "x")) == {""}


def test_without_atomic_accesses_nothing_is_said(stages, rng):
    x = rng.normal(size=(5, 8)).astype(np.float32)
    given = {"x": x, "y": np.zeros((5, 8), np.float32)}
    assert set(marks(stages, doubled, {"axis_N": 4, "axis_D": 4}, given, {"y": x * 2}, "x")) == {""}
