"""Loops of points that share an instance: each runs as often as its own point says, and those that are done wait."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I

from .conftest import built

SIZES = (0, 1, 5, 37)
FAR = 1 << 40
"""A bound that nobody may walk to: it stands where no branch leads."""


@intent.kernel
def counted_down(x: I.In[I.i64, ("N",)], steps: I.Out[I.i64, ("N",)], sums: I.InOut[I.i64, (1,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        n = x[i]
        k = 0
        while n > 1:
            k += 1
            if n % 2 == 0:
                n = n // 2
                continue
            n = 3 * n + 1
            if n > 100:
                I.atomic.add(sums[0], k)
                break
        steps[i] = k


@pytest.mark.parametrize("n", SIZES)
def test_while_loops_of_different_lengths(differ, rng, n):
    x = rng.integers(-2, 60, n)
    steps, total = [], 0
    for value in map(int, x):
        k = 0
        while value > 1:
            k += 1
            if value % 2 == 0:
                value //= 2  # noqa: PLW2901 - the loop of the kernel
                continue
            value = 3 * value + 1  # noqa: PLW2901
            if value > 100:
                total += k
                break
        steps.append(k)
    arguments = {"x": x, "steps": np.zeros(n, np.int64), "sums": np.zeros(1, np.int64)}
    differ(counted_down, arguments, {"steps": np.array(steps, np.int64), "sums": np.array([total])})


@intent.kernel
def ranges(
    ok: I.In[I.bool, ("N",)],
    begin: I.In[I.i64, ("N",)],
    end: I.In[I.i64, ("N",)],
    x: I.In[I.i64, ("K",)],
    y: I.InOut[I.i64, ("N",)],
    z: I.InOut[I.i64, ("K",)],
    total: I.Out[I.i64, ("N",)],
):
    """Where it is not ok, the bounds are far away."""
    for i in I.parallel(I.domain(0, ok.shape[0])):
        total[i] = 0
        if ok[i]:
            last = y[i]
            for k in I.domain(begin[i], end[i], 3):
                last = last * 2 + x[k]
                I.atomic.max(z[k], last)
                for j in I.domain(k, end[i]):
                    if x[j] > 5:
                        break
                    y[i] += 1
            total[i] = last


@pytest.mark.parametrize("n", SIZES)
def test_for_loops_of_different_lengths(differ, rng, n):
    size = 11
    x, ok = rng.integers(0, 8, size), rng.random(n) < 0.6
    begin, end = np.sort(rng.integers(0, size, (2, n), endpoint=True), axis=0)
    y, z, total = rng.integers(0, 5, n), np.zeros(size, np.int64), np.zeros(n, np.int64)
    wanted_y, wanted_z = y.copy(), z.copy()
    for i in np.flatnonzero(ok):
        last = y[i]
        for k in range(begin[i], end[i], 3):
            last = last * 2 + x[k]
            wanted_z[k] = max(wanted_z[k], last)
            for j in range(k, end[i]):
                if x[j] > 5:
                    break
                wanted_y[i] += 1
        total[i] = last
    arguments = {
        "ok": ok, "begin": np.where(ok, begin, 0), "end": np.where(ok, end, FAR), "x": x, "y": y, "z": z,
        "total": np.full(n, 9),
    }  # fmt: skip
    differ(ranges, arguments, {"y": wanted_y, "z": wanted_z, "total": total})


@intent.kernel
def counted_places(
    begin: I.In[I.index, ("N",)],
    end: I.In[I.index, ("N",)],
    z: I.InOut[I.i64, ("K",)],
    w: I.InOut[I.i64, ("K",)],
):
    """One bound is the point's own, the other one that of all; nothing else that is written knows the point."""
    for i in I.parallel(I.domain(0, begin.shape[0])):
        for k in I.domain(begin[i], z.shape[0]):
            I.atomic.add(z[k], I.cast(1, I.i64))
        for k in I.domain(0, end[i] + 2):
            I.atomic.add(w[k], I.cast(1, I.i64))


@pytest.mark.parametrize("n", [0, 5])
def test_no_point_but_those_that_there_are_takes_passes(differ, rng, n):
    size = 9
    begin, end = rng.integers(0, size, n), rng.integers(0, size - 2, n, endpoint=True)
    z = np.array([(begin <= k).sum() for k in range(size)], np.int64)
    w = np.array([(end + 2 > k).sum() for k in range(size)], np.int64)
    arguments = {"begin": begin, "end": end, "z": np.zeros(size, np.int64), "w": np.zeros(size, np.int64)}
    differ(counted_places, arguments, {"z": z, "w": w})


@intent.kernel
def rows_until_small(x: I.InOut[I.f64, ("M", "N")], turns: I.Out[I.i32, ("M",)]):
    """A row for each point is carried, and written when its loop is over; branches around loops are the points' own."""
    for m in I.parallel(I.domain(0, x.shape[0])):
        row = x[m, :]
        t = I.cast(0, I.i32)
        if row[0] > 0.5:
            while I.reduce.max(row, axis=0) > 1.0 and t < 9:
                row = row * 0.5
                t += 1
            x[m, :] = row
        else:
            while t < 2:
                t += 1
        turns[m] = t


@pytest.mark.parametrize("m", SIZES)
def test_rows_carried_by_loops_of_different_lengths(differ, rng, m):
    x = np.abs(rng.normal(size=(m, 3))) * 4
    wanted, turns = x.copy(), np.full(m, 2, np.int32)
    for i in range(m):
        if x[i, 0] > 0.5:
            turns[i] = 0
            while wanted[i].max() > 1 and turns[i] < 9:
                wanted[i] *= 0.5
                turns[i] += 1
    differ(rows_until_small, {"x": x, "turns": np.zeros(m, np.int32)}, {"x": wanted, "turns": turns})


@intent.kernel
def endless_unless_asked(ask: I.In[I.bool, ("N",)], start: I.i64, y: I.Out[I.i64, ("N",)]):
    """No point asks: the loop, which is the same for all points, must not begin."""
    for i in I.parallel(I.domain(0, ask.shape[0])):
        y[i] = 1
        if ask[i]:
            n = start
            while n != 0:
                n = n - 1
            y[i] = n


def test_a_loop_that_no_point_comes_to(differ):
    arguments = {"ask": np.zeros(5, np.bool_), "start": -1, "y": np.zeros(5, np.int64)}
    differ(endless_unless_asked, arguments, {"y": np.ones(5, np.int64)})


@pytest.mark.parametrize("kernel", [counted_down, ranges, rows_until_small])
def test_points_share_instances(kernel):
    for group in built(kernel).analysis.groups:
        assert any(axis.uneven and not axis.single for axis in group.axes) or not group.axes
