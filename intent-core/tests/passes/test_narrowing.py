"""Ranges of loops: what is left out contributes nothing, and everything else stays."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
import intent.physical as ph

SIZES = (0, 1, 7, 8, 9, 21, 32)
BLOCKS = {"axis": 4, "axis_M": 8, "axis_N": 4}


def f32(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def empty(*shape):
    return np.full(shape, 7, np.float32)


@intent.kernel
def lower_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    y[...] = I.reduce.sum(I.select(columns[None, :] <= rows[:, None], x[...], 0.0), axis=1)


@pytest.mark.parametrize("n", SIZES)
def test_a_sum_that_a_mask_ends_is_walked_to_the_mask(stages, rng, n):
    x = f32(rng, 19, n)
    made = stages(lower_sums, BLOCKS, {"x": x, "y": empty(19)}, {"y": np.tril(x).sum(1)}, tolerance=1e-5)
    assert made.changed("narrowing")
    (before,), (after, *_) = made.loops("constructed"), made.loops("narrowing")
    assert before.end != after.end


def test_a_mask_that_ends_nothing_leaves_the_range(stages, rng):
    @intent.kernel
    def kept(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
        y[...] = I.reduce.sum(I.select(columns[None, :] <= rows[:, None], x[...], 1.0), axis=1)

    x = f32(rng, 19, 21)
    wanted = np.where(np.tri(19, 21, dtype=bool), x, 1.0).sum(1)
    assert not stages(kept, BLOCKS, {"x": x, "y": empty(19)}, {"y": wanted}, tolerance=1e-5).changed(
        "narrowing"
    )


def test_zero_times_a_value_is_nothing_only_by_permission(stages, rng, relaxed):
    @intent.kernel
    def weighted(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
        weights = I.select(columns[None, :] <= rows[:, None], 1.0, 0.0)
        y[...] = I.reduce.sum(weights * x[...], axis=1)

    x = f32(rng, 19, 32)
    given = {"x": x, "y": empty(19)}
    wanted = {"y": np.tril(x).sum(1)}
    assert stages(weighted, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed).changed("narrowing")
    x[0, 31] = np.inf
    wanted = {"y": np.where(np.arange(19) == 0, np.nan, np.tril(x).sum(1))}
    assert not stages(weighted, BLOCKS, given, wanted, tolerance=1e-5).changed("narrowing")


@intent.kernel
def window_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], W: I.i64):
    rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    at, end = I.cast(columns, I.i64)[None, :], I.cast(rows, I.i64)[:, None]
    y[...] = I.reduce.sum(I.select(at > end - W, I.select(at <= end, x[...], 0.0), 0.0), axis=1)


@pytest.mark.parametrize("w", [0, 1, 5, 13, 100, -3, 2**62, 2**63 - 1, -(2**62), -(2**63) + 32])
def test_windows_of_any_width_begin_in_place(stages, rng, w):
    x = f32(rng, 29, 29)
    rows, columns = np.arange(29)[:, None], np.arange(29)[None, :]
    wanted = np.where((columns > rows - w) & (columns <= rows), x, 0.0).sum(1)
    made = stages(window_sums, BLOCKS, {"x": x, "y": empty(29), "W": w}, {"y": wanted}, tolerance=1e-5)
    (before,), (after, *_) = made.loops("constructed"), made.loops("narrowing")
    assert before.begin != after.begin
    assert before.end != after.end


def test_a_sum_that_wraps_keeps_its_meaning(stages, rng):
    """``row - W`` wraps for the smallest W, and then every place is beyond it."""
    x = f32(rng, 29, 29)
    rows = np.arange(29, dtype=np.int64)
    with np.errstate(over="ignore"):
        least = rows - np.int64(-(2**63))
    keep = (rows[None, :] > least[:, None]) & (rows[None, :] <= rows[:, None])
    wanted = np.where(keep, x, 0.0).sum(1)
    assert keep.any()
    stages(window_sums, BLOCKS, {"x": x, "y": empty(29), "W": -(2**63)}, {"y": wanted}, tolerance=1e-5)


@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_loaded_positions_bound_the_range_by_their_greatest(stages, rng, dtype):
    element = I.dtype(dtype)

    @intent.kernel
    def placed(x: I.In[I.f32, ("M", "N")], at: I.In[element, ("M",)], y: I.Out[I.f32, ("M",)]):
        columns = I.indices(I.domain(0, x.shape[1]))
        last = I.cast(at[...], I.index)[:, None]
        y[...] = I.reduce.sum(I.select(columns[None, :] < last, x[...], 0.0), axis=1)

    x = f32(rng, 19, 29)
    at = rng.integers(-3, 12, 19).astype(dtype.replace("i", "int"))
    at[5] = np.iinfo(at.dtype).min
    at[11] = np.iinfo(at.dtype).max
    wanted = np.where(np.arange(29)[None, :] < at[:, None], x, 0.0).sum(1)
    made = stages(placed, BLOCKS, {"x": x, "at": at, "y": empty(19)}, {"y": wanted}, tolerance=1e-5)
    assert made.changed("narrowing")


def test_alternatives_end_where_the_last_of_them_does(stages, rng):
    @intent.kernel
    def prefixed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], P: I.index):
        rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
        keep = (columns[None, :] <= rows[:, None]) | (columns < P)[None, :]
        y[...] = I.reduce.sum(I.select(keep, x[...], 0.0), axis=1)

    x = f32(rng, 19, 30)
    for p in (0, 3, 17, 40):
        keep = np.tri(19, 30, dtype=bool) | (np.arange(30) < p)
        given = {"x": x, "y": empty(19), "P": p}
        made = stages(prefixed, BLOCKS, given, {"y": np.where(keep, x, 0.0).sum(1)}, tolerance=1e-5)
        assert made.changed("narrowing")


def test_a_walk_that_does_not_begin_at_zero_keeps_its_blocks(stages, rng):
    @intent.kernel
    def from_three(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], W: I.i32):
        N = x.shape[1]
        for i in I.parallel(I.domain(0, x.shape[0])):
            total = I.cast(0.0, I.f32)
            for j in range(3, N):
                if j > i - I.cast(W, I.index):
                    if j <= i:
                        total += x[i, j]
            y[i] = total

    x = f32(rng, 19, 19)
    rows, columns = np.arange(19)[:, None], np.arange(19)[None, :]
    wanted = np.where((columns > rows - 5) & (columns <= rows) & (columns >= 3), x, 0.0).sum(1)
    stages(from_three, BLOCKS, {"x": x, "y": empty(19), "W": 5}, {"y": wanted}, tolerance=1e-5)


def test_writes_under_a_mask_are_walked_to_the_mask(stages, rng):
    @intent.kernel
    def lower(x: I.In[I.f32, ("N", "N")], y: I.InOut[I.f32, ("N", "N")]):
        N = x.shape[0]
        for i in I.parallel(I.domain(0, N)):
            for j in range(N):
                if j <= i:
                    y[i, j] = x[i, j] * 2.0

    x, y = f32(rng, 13, 13), f32(rng, 13, 13)
    stages(lower, {}, {"x": x, "y": y}, {"y": np.where(np.tri(13, dtype=bool), x * 2, y)}, tolerance=1e-6)


def test_minus_zero_survives_a_sum_that_is_not_the_languages(stages):
    """An ordinary loop that starts at -0.0 and adds a masked 0.0 gives 0.0, in every block or in none."""

    @intent.kernel
    def signed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        M, N = x.shape
        for i in I.parallel(I.domain(0, M)):
            total = I.cast(-0.0, I.f32)
            for j in range(N):
                total = total + I.select(j < i, x[i, j], 0.0)
            y[i] = 1.0 / total

    x = np.full((3, 8), -0.0, np.float32)
    made = stages(signed, {}, {"x": x, "y": empty(3)}, {"y": np.full(3, np.inf)})
    assert not made.changed("narrowing")


@intent.kernel
def bins_of_carried(x: I.In[I.i64, ("M", "M")], y: I.Out[I.i32, ()]):
    value = x[...]
    for _ in range(x.shape[0]):
        value = value + 0
    y[...] = I.reduce.sum(I.histogram(value, bins=3), axis=0)


@pytest.mark.filterwarnings("error")
def test_bounds_from_wide_integers_are_indices():
    x, y = np.array([[2, 0], [1, 2]], np.int64), np.zeros((), np.int32)
    intent.compile(bins_of_carried, "reference")(x, y)
    assert y == 4


@intent.kernel
def counts_of_prefix(x: I.In[I.i32, ("N",)], m: I.i32, y: I.Out[I.i32, (32,)]):
    places = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.histogram(x[...], bins=32, valid=places < I.cast(m, I.index))


@pytest.mark.parametrize("n", SIZES)
def test_a_histogram_of_a_prefix_walks_the_prefix(stages, rng, n):
    x, m = rng.integers(0, 32, n).astype(np.int32), n // 2
    wanted = np.bincount(x[:m], minlength=32)
    arguments = {"x": x, "m": m, "y": np.full(32, 7, np.int32)}
    made = stages(counts_of_prefix, {"axis_N": 4}, arguments, {"y": wanted}, inside=("n32",))
    assert made.ops(ph.Histogram)
    assert made.changed("narrowing")
    (before,), (after, *_) = made.loops("constructed"), made.loops("narrowing")
    assert before.end != after.end
