"""Reads and writes of one place: what comes first in the kernel comes first in every program."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I

LINES = (1, 2, 5, 33)


@intent.kernel
def added_to_what_was_read(
    c: I.InOut[I.i32, ("N",)], at: I.In[I.index, ("M",)], from_: I.In[I.index, ("M",)]
):
    I.scatter_reduce(c, index=at[...], value=c[from_[...]], combine=I.add)


@intent.kernel
def released_after_reads(x: I.InOut[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], flag: I.InOut[I.i32, (1,)]):
    y[...] = x[...] * 2
    I.atomic.add(flag[0], 1, order="release")
    x[...] = y[x.shape[0] - 1 - I.indices(I.domain(0, x.shape[0]))] + 1


@intent.kernel
def read_between_atomics(x: I.In[I.i32, ("N",)], c: I.InOut[I.i32, ("B",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    B = c.shape[0]
    for i in range(N):
        I.atomic.add(c[i % B], x[i])
        y[i] = c[(i + 1) % B]
        I.atomic.max(c[(i + 1) % B], x[i] * 2)


@pytest.mark.parametrize("n", LINES)
def test_atomics_and_plain_accesses(differ, rng, n):
    c = rng.integers(-9, 9, n).astype(np.int32)
    x = rng.integers(-9, 9, n).astype(np.int32)
    at, source = rng.integers(0, n, n), rng.integers(0, n, n)
    wanted = c.copy()
    np.add.at(wanted, at, c[source])
    differ(added_to_what_was_read, {"c": c, "at": at, "from_": source}, {"c": wanted})
    arguments = {"x": x, "y": np.zeros(n, np.int32), "flag": np.zeros(1, np.int32)}
    differ(released_after_reads, arguments, {"x": (x * 2)[::-1] + 1, "y": x * 2})
    for size in (1, 3):
        count, seen = np.zeros(size, np.int32), []
        for i, v in enumerate(x):
            count[i % size] += v
            seen.append(count[(i + 1) % size])
            count[(i + 1) % size] = max(count[(i + 1) % size], v * 2)
        arguments = {"x": x, "c": np.zeros(size, np.int32), "y": np.zeros(n, np.int32)}
        differ(read_between_atomics, arguments, {"c": count, "y": np.array(seen)})


@intent.fn
def rows(v):
    w = I.reshape(v, (-1,))
    return I.reduce.sum(w * w, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def fold_of_pairs(x: I.In[I.f32, ("N", 2)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=rows, combine=plus, identity=0.0)


@pytest.mark.parametrize("n", LINES)
def test_a_slice_that_is_seen_as_one_line(differ, rng, n):
    x = rng.normal(size=(n, 2)).astype(np.float32)
    wanted = (x.astype(np.float64) ** 2).sum()
    differ(fold_of_pairs, {"x": x, "y": np.zeros((), np.float32)}, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def cleared_after_all_have_read(
    x: I.InOut[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], flag: I.InOut[I.i32, (1,)]
):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        y[i] = x[i] * 2
        I.atomic.add(flag[0], 1, order="release")
    for i in I.parallel(points):
        if I.atomic.load(flag[0], order="acquire") > 0:
            x[i] = 0


@pytest.mark.parametrize("n", LINES)
def test_what_was_read_is_fenced_before_it_is_released(differ, rng, n):
    x = rng.integers(-9, 9, n).astype(np.int32)
    arguments = {"x": x, "y": np.zeros(n, np.int32), "flag": np.zeros(1, np.int32)}
    differ(cleared_after_all_have_read, arguments, {"x": 0 * x, "y": x * 2, "flag": np.int32([n])})


@intent.fn
def moments(part):
    """Members, their sum, the sum of their prefixes, and the sum of what comes after each prefix."""
    prefixes = I.cumsum(part, axis=0)
    later = I.cumsum(prefixes, axis=0, inclusive=False, reverse=True)
    ones = part * 0 + 1
    return I.record(
        n=I.reduce.sum(ones, axis=0), s=I.reduce.sum(part, axis=0), p=I.reduce.sum(prefixes, axis=0),
        q=I.reduce.sum(later, axis=0),
    )  # fmt: skip


@intent.fn
def joined(a, b):
    return I.record(
        n=a.n + b.n, s=a.s + b.s, p=a.p + b.p + b.n * a.s,
        q=a.q + b.q + a.n * (b.p + b.n * a.s) + a.s * (b.n * (b.n - 1) // 2),
    )  # fmt: skip


@intent.kernel
def fold_of_scans_of_scans(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, (4,)]):
    zero = I.cast(0, I.i64)
    m = I.region_fold(
        source=x[...], axis=0, summarize=moments, combine=joined,
        identity=I.record(n=zero, s=zero, p=zero, q=zero),
    )  # fmt: skip
    y[0] = m.n
    y[1] = m.s
    y[2] = m.p
    y[3] = m.q


@pytest.mark.parametrize("n", LINES)
def test_a_scan_of_a_scan_in_a_slice(differ, rng, n):
    x = rng.integers(-9, 9, n)
    prefixes = np.cumsum(x)
    later = prefixes.sum() - np.cumsum(prefixes)
    wanted = np.int64([n, x.sum(), prefixes.sum(), later.sum()])
    differ(fold_of_scans_of_scans, {"x": x, "y": np.zeros(4, np.int64)}, {"y": wanted})


@intent.kernel
def read_in_a_branch_and_behind_it(
    x: I.In[I.i32, ("N",)], taken: I.i32, y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ("N",)],
    w: I.Out[I.i32, ("N",)],
):  # fmt: skip
    turned = x.shape[0] - 1 - I.indices(I.domain(0, x.shape[0]))
    y[...] = I.cumsum(x[...], axis=0)
    z[...] = x[...]
    if taken > 0:
        z[...] = y[turned]
    w[...] = y[turned] + 1


@intent.kernel
def read_in_a_loop_and_behind_it(
    x: I.In[I.i32, ("N",)], count: I.i32, y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ("N",)],
    w: I.Out[I.i32, ("N",)],
):  # fmt: skip
    turned = x.shape[0] - 1 - I.indices(I.domain(0, x.shape[0]))
    y[...] = I.cumsum(x[...], axis=0)
    z[...] = x[...]
    for _ in range(count):
        z[...] = y[turned]
    w[...] = y[turned] + 1


@pytest.mark.parametrize("often", [0, 2])
def test_a_fence_that_may_not_have_been_passed(differ, rng, often):
    n = 9
    x = rng.integers(-9, 9, n).astype(np.int32)
    sums = np.cumsum(x)
    blank = np.zeros(n, np.int32)
    wanted = {"y": sums, "z": sums[::-1] if often else x, "w": sums[::-1] + 1}
    written = {"y": blank, "z": blank.copy(), "w": blank.copy()}
    differ(read_in_a_branch_and_behind_it, {"x": x, "taken": often, **written}, wanted, count=2)
    differ(read_in_a_loop_and_behind_it, {"x": x, "count": often, **written}, wanted, count=2)


@intent.kernel
def sums_on_one_side(
    x: I.In[I.f32, ("N", "M")], taken: I.i32, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]
):
    if taken > 0:
        s = I.reduce.sum(x[...], axis=1)
        t = I.zeros((x.shape[0],), I.f32)
    else:
        s = I.zeros((x.shape[0],), I.f32)
        t = I.reduce.sum(x[...], axis=1)
    y[...] = s
    z[...] = t


@pytest.mark.parametrize("taken", [0, 1])
def test_sides_of_other_lanes(differ, rng, taken):
    """One side is a number for all lanes, the other one differs between them."""
    x = rng.integers(-9, 9, (5, 7)).astype(np.float32)
    sums, none = x.sum(1), np.zeros(5, np.float32)
    given = {"x": x, "taken": taken, "y": none, "z": none.copy()}
    differ(sums_on_one_side, given, {"y": sums, "z": none} if taken else {"y": none, "z": sums})
