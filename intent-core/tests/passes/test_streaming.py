"""Loads that are read once beside atomic accesses say so."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.physical import Buffer, Load


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


@intent.kernel
def rows_of_numbers(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K", 16)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(
            y, index=(at[i], I.indices(I.domain(0, 16))), value=x[i] + I.zeros((16,), I.f32), combine=I.add
        )


@intent.kernel
def row_sums_added(x: I.In[I.f32, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i], value=I.reduce.sum(x[i, :], axis=0), combine=I.add)


@intent.kernel
def added_in_private(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, (8,)]):
    b = I.buffer((8,), I.f32, init=0.0)
    I.scatter_reduce(b, index=at[...], value=x[...], combine=I.add)
    y[...] = b[...]


@intent.kernel
def kept_and_added(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)]):
    b = I.buffer((16,), I.f32, init=0.0)
    b[0 : x.shape[0]] = x[...] * 2.0
    I.scatter_reduce(y, index=at[...], value=b[0 : x.shape[0]], combine=I.add)


@intent.kernel
def read_twice(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)]):
    N = x.shape[0]
    value = x[...] + x[N - 1 - I.indices(I.domain(0, N))]
    I.scatter_reduce(y, index=at[...], value=value, combine=I.add)


@intent.kernel
def added_from_itself(at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    I.scatter_reduce(y, index=at[...], value=y[...], combine=I.add)


@intent.kernel
def gathered_near(x: I.In[I.f32, ("M",)], near: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)],
                  y: I.InOut[I.f32, ("K",)]):  # fmt: skip
    where = I.cast(near[...], I.index) + I.indices(I.domain(0, at.shape[0]))
    I.scatter_reduce(y, index=at[...], value=x[where], combine=I.add)


@intent.kernel
def gathered_near_half(x: I.In[I.f32, ("M",)], near: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)],
                       y: I.InOut[I.f32, ("K",)]):  # fmt: skip
    where = I.cast(near[...], I.index) // 2 + I.indices(I.domain(0, at.shape[0]))
    I.scatter_reduce(y, index=at[...], value=x[where], combine=I.add)


@intent.kernel
def parts_of_rows(
    x: I.In[I.f32, ("M", "D")], size: I.In[I.i32, (1,)], y: I.InOut[I.f32, ("M", "D")], N: I.index
):
    columns = I.indices(I.domain(0, x.shape[1]))
    for i in I.parallel(I.domain(0, N)):
        row = i // I.cast(size[0], I.index)
        I.scatter_reduce(y, index=(row, columns), value=x[row, :], combine=I.add)


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


def given_points(rng, n=12, k=5):
    x, at = rng.integers(-9, 10, n).astype(np.float32), rng.integers(0, k, n).astype(np.int32)
    return x, at


def sums(at, value, k=5):
    y = np.zeros((k, *value.shape[1:]), np.float32)
    np.add.at(y, at, value)
    return y


def test_numbers_that_lanes_share_are_not_worth_it(stages, rng):
    """The elements beside it are for other instances."""
    x, at = given_points(rng)
    wanted = {"y": sums(at, np.repeat(x[:, None], 16, 1))}
    given = {"x": x, "at": at, "y": np.zeros((5, 16), np.float32)}
    assert set(marks(stages, rows_of_numbers, {}, given, wanted, "x", inside=("n16_2",))) == {""}


def test_lanes_that_are_added_up_before_one_access_are_not_worth_it(stages, added):
    given, wanted = added
    given = {**given, "y": np.zeros(5, np.float32)}
    assert set(marks(stages, row_sums_added, {}, given, {"y": wanted["y"].sum(1)}, "x")) == {""}


def test_sums_that_nobody_shares_say_nothing(stages, rng):
    x, at = given_points(rng, k=8)
    given, wanted = {"x": x, "at": at, "y": np.zeros(8, np.float32)}, {"y": sums(at, x, 8)}
    found = marks(stages, added_in_private, {"axis_N": 4}, given, wanted, "x", inside=("axis_N",))
    assert set(found) == {""}


def test_storage_of_the_instance_is_no_memory_that_streams_by(stages, rng):
    x, at = given_points(rng)
    given, wanted = {"x": x, "at": at, "y": np.zeros(5, np.float32)}, {"y": sums(at, 2 * x)}
    made = stages(kept_and_added, {"N": 4}, given, wanted, inside=("N",))
    assert [op.reread for op in made.ops(Load) if isinstance(op.source, Buffer)] == [""]


def test_what_is_read_in_two_places_is_read_again(stages, rng):
    x, at = given_points(rng)
    given, wanted = {"x": x, "at": at, "y": np.zeros(5, np.float32)}, {"y": sums(at, x + x[::-1])}
    assert set(marks(stages, read_twice, {"axis_N": 4}, given, wanted, "x")) == {""}


def test_what_is_added_to_is_not_what_streams_by(stages, rng):
    y, at = given_points(rng, k=12)
    wanted = {"y": y + sums(at, y, 12)}
    assert set(marks(stages, added_from_itself, {}, {"at": at, "y": y}, wanted, "y")) == {""}


@pytest.mark.parametrize(("kernel", "part"), [(gathered_near, 1), (gathered_near_half, 2)])
def test_places_that_were_read_may_come_twice_although_the_point_takes_part(stages, rng, kernel, part):
    _, at = given_points(rng)
    near, x = rng.integers(0, 9, 12).astype(np.int32), np.arange(30, dtype=np.float32)
    wanted = {"y": sums(at, x[near // part + np.arange(12)])}
    given = {"x": x, "near": near, "at": at, "y": np.zeros(5, np.float32)}
    assert set(marks(stages, kernel, {"axis_N": 4}, given, wanted, "x")) == {""}


def test_points_that_data_puts_together_read_alike(stages, rng):
    x = rng.integers(-9, 10, (6, 16)).astype(np.float32)
    given = {"x": x, "size": np.int32([2]), "y": np.zeros((6, 16), np.float32), "N": 12}
    assert set(marks(stages, parts_of_rows, {"axis_D": 16}, given, {"y": 2 * x}, "x")) == {""}
