"""Values that are held instead of computed again stay right in loops, branches, parallel points and slices."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.physical.walk import walk


def f32(*shape):
    return np.full(shape, 7, np.float32)


def draw(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@intent.kernel
def in_a_loop(x: I.In[I.f32, ("N", "N")], n: I.i32, y: I.Out[I.f32, ("N", "N")]):
    s = x[...]
    for _ in range(n):
        r = I.reduce.sum(s, axis=1)
        c = I.reduce.max(s / (1.0 + I.abs(r))[:, None], axis=0)
        s = s * 0.5 + c[None, :]
    y[...] = s


@pytest.mark.parametrize("n", [1, 5, 9])
@pytest.mark.parametrize("count", [0, 2])
def test_in_an_ordered_loop(differ, rng, n, count):
    x = draw(rng, n, n)
    s = x.astype(np.float64)
    for _ in range(count):
        c = (s / (1 + np.abs(s.sum(1)))[:, None]).max(0)
        s = s * 0.5 + c
    differ(in_a_loop, {"x": x, "n": count, "y": f32(n, n)}, {"y": s}, tolerance=1e-4)


@intent.kernel
def in_a_branch(x: I.In[I.f32, ("N", "N")], flag: I.i32, y: I.Out[I.f32, ("N", "N")]):
    v = I.abs(x[...]) + 1.0
    if flag > 0:
        r = v / I.reduce.sum(v, axis=1)[:, None]
        c = r / I.reduce.sum(r, axis=0)[None, :]
    else:
        c = v / I.reduce.max(v, axis=0)[None, :]
    y[...] = c / I.reduce.sum(c, axis=1)[:, None]


@pytest.mark.parametrize("n", [1, 5, 9])
@pytest.mark.parametrize("flag", [0, 1])
def test_in_a_branch(differ, rng, n, flag):
    x = draw(rng, n, n)
    v = np.abs(x.astype(np.float64)) + 1
    r = v / v.sum(1, keepdims=True)
    c = r / r.sum(0, keepdims=True) if flag else v / v.max(0, keepdims=True)
    wanted = {"y": c / c.sum(1, keepdims=True)}
    differ(in_a_branch, {"x": x, "flag": flag, "y": f32(n, n)}, wanted, tolerance=1e-4)


@intent.kernel
def at_parallel_points(
    x: I.In[I.f32, ("B", "N", "N")], flag: I.In[I.i32, ("B",)], y: I.Out[I.f32, ("B", "N")]
):
    B = x.shape[0]
    for b in I.parallel(I.domain(0, B)):
        v = I.abs(x[b, :, :]) + 1.0
        r = v / I.reduce.sum(v, axis=1)[:, None]
        c = I.matmul(r, r)
        if flag[b] > 0:
            y[b, :] = I.reduce.sum(c / I.reduce.sum(c, axis=0)[None, :], axis=1)
        else:
            y[b, :] = I.reduce.max(c, axis=1)


@pytest.mark.parametrize(("b", "n"), [(0, 3), (1, 1), (4, 5), (9, 7)])
def test_at_parallel_points_that_branch(differ, rng, b, n):
    x, flag = draw(rng, b, n, n), rng.integers(0, 2, b).astype(np.int32)
    v = np.abs(x.astype(np.float64)) + 1
    r = v / v.sum(2, keepdims=True)
    c = r @ r
    wanted = np.where(flag[:, None] > 0, (c / c.sum(1, keepdims=True)).sum(2), c.max(2, initial=-np.inf))
    differ(at_parallel_points, {"x": x, "flag": flag, "y": f32(b, n)}, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def in_groups(x: I.In[I.f32, ("N", "D")], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("G", "D")]):
    N = x.shape[0]
    G = y.shape[0]
    axis = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        v = x[span, :]
        n = v / (1.0 + I.reduce.sum(v * v, axis=1))[:, None]
        p = I.matmul(I.transpose(n), n)
        y[g, :] = I.reduce.max(p / (1.0 + I.reduce.sum(I.abs(p), axis=0))[None, :], axis=1)


@pytest.mark.parametrize(("cuts", "d"), [((0,), 2), ((0, 1), 1), ((0, 3, 3, 9, 13), 3), ((0, 20, 20, 33), 5)])
def test_over_members_that_memory_decides(differ, rng, cuts, d):
    x = draw(rng, max(cuts), d)
    rows = []
    for begin, end in pairwise(cuts):
        v = x[begin:end].astype(np.float64)
        n = v / (1 + (v * v).sum(1))[:, None]
        p = n.T @ n
        rows.append((p / (1 + np.abs(p).sum(0))[None, :]).max(1))
    wanted = np.array(rows).reshape(len(cuts) - 1, d)
    arguments = {"x": x, "offsets": np.array(cuts, np.int32), "y": f32(*wanted.shape)}
    differ(in_groups, arguments, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def between_writes(x: I.InOut[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    x[...] = x[...] + 1.0
    r = x[...] / (1.0 + I.abs(I.reduce.sum(x[...], axis=1)))[:, None]
    y[...] = r / (1.0 + I.abs(I.reduce.sum(r, axis=0)))[None, :]
    x[...] = I.transpose(r)
    y[...] = y[...] + I.reduce.max(x[...] - I.reduce.sum(x[...], axis=0)[None, :], axis=1)[:, None]


@pytest.mark.parametrize("n", [0, 1, 5, 9])
def test_between_writes_of_its_source(differ, rng, n):
    x = draw(rng, n, n)
    v = x.astype(np.float64) + 1
    r = v / (1 + np.abs(v.sum(1)))[:, None]
    y = r / (1 + np.abs(r.sum(0)))[None, :]
    y = y + (r.T - r.T.sum(0)[None, :]).max(1, initial=-np.inf)[:, None]
    differ(between_writes, {"x": x, "y": f32(n, n)}, {"x": r.T, "y": y}, tolerance=1e-4)


@intent.kernel
def picked(x: I.In[I.f32, ("M", "N")], at: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("K", "N")]):
    v = x[...]
    s = I.reduce.sum(v * v, axis=1)
    c = I.cumsum(s, axis=0)
    i = I.cast(at[...], I.index)
    y[...] = v[i, :] * c[i][:, None] + I.gather(s, index=i - 1, valid=i > 0, fill=0.5)[:, None]


@pytest.mark.parametrize(("m", "n", "k"), [(3, 0, 2), (1, 1, 1), (5, 7, 9), (9, 3, 4)])
def test_at_loaded_coordinates(differ, rng, m, n, k):
    x, at = draw(rng, m, n), rng.integers(0, m, k)
    v = x.astype(np.float64)
    s = (v * v).sum(1)
    wanted = v[at] * np.cumsum(s)[at][:, None] + np.where(at > 0, s[at - 1], 0.5)[:, None]
    differ(picked, {"x": x, "at": at, "y": f32(k, n)}, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def scanned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    s = I.cumsum(I.matmul(v, I.transpose(v)), axis=0)
    w = I.cummax(s / (1.0 + I.reduce.max(I.abs(s), axis=0))[None, :], axis=1, reverse=True)
    y[...] = I.matmul(w, v)


@pytest.mark.parametrize(("m", "n"), [(0, 2), (2, 0), (1, 1), (5, 3), (4, 9)])
def test_scans_of_products_of_scans(differ, rng, m, n):
    x = draw(rng, m, n)
    v = x.astype(np.float64)
    s = np.cumsum(v @ v.T, axis=0)
    w = s / (1 + np.abs(s).max(0, initial=0))[None, :]
    w = np.maximum.accumulate(w[:, ::-1], axis=1)[:, ::-1]
    differ(scanned, {"x": x, "y": f32(m, n)}, {"y": w @ v}, tolerance=1e-3)


@intent.kernel
def chained(a: I.In[I.f32, ("B", "N", "N")], y: I.Out[I.f32, ("B", "N", "N")], total: I.Out[I.f32, ("B",)]):
    v = a[...]
    p = I.matmul(v, v)
    q = I.matmul(p, I.transpose(p, (0, 2, 1)))
    y[...] = q / (1.0 + I.reduce.max(I.abs(q), axis=(1, 2)))[:, None, None]
    total[...] = I.reduce.sum(q, axis=(1, 2))


@pytest.mark.parametrize(("b", "n"), [(0, 2), (1, 1), (3, 4), (2, 7)])
def test_products_of_products(differ, rng, b, n):
    a = draw(rng, b, n, n)
    v = a.astype(np.float64)
    p = v @ v
    q = p @ p.transpose(0, 2, 1)
    wanted = {"y": q / (1 + np.abs(q).max((1, 2), initial=0))[:, None, None], "total": q.sum((1, 2))}
    differ(chained, {"a": a, "y": f32(b, n, n), "total": f32(b)}, wanted, tolerance=1e-3)


@intent.kernel
def looked_up(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    v = x[...]
    counts = I.histogram(v, bins=6)
    y[...] = counts[I.cast(v, I.index)]
    z[...] = I.gather(counts, index=I.cast(v, I.index) - 1, valid=v > 0, fill=-1)


@pytest.mark.parametrize("n", [0, 1, 9, 70])
def test_counts_at_loaded_bins(differ, rng, n):
    x = rng.integers(0, 6, n).astype(np.int32)
    counts = np.bincount(x, minlength=6)
    wanted = {"y": counts[x], "z": np.where(x > 0, counts[x - 1], -1)}
    differ(looked_up, {"x": x, "y": np.zeros(n, np.int32), "z": np.zeros(n, np.int32)}, wanted)


def test_all_bins_are_counted_at_once():
    artifact = intent.compile(looked_up, provider="reference")
    x = np.arange(70, dtype=np.int32) % 6
    artifact(x, np.zeros(70, np.int32), np.zeros(70, np.int32))
    ops = [op for segment in artifact.program.segments for op in walk(segment.body)]
    assert any(isinstance(op, ph.Histogram) for op in ops)
    assert max(prod(d.size for d in r.dims) for op in ops for r in op.results) <= 1024, "lanes by lanes"


@intent.kernel
def of_counted_rows(x: I.In[I.f32, ("D",)], n: I.In[I.index, ("G",)], y: I.Out[I.f32, ("G", "D", "D")]):
    for g in I.parallel(I.domain(0, y.shape[0])):
        v = I.cast(I.indices(I.domain(0, n[g])), I.f32)[:, None] + x[...][None, :]
        r = v / (1.0 + I.reduce.sum(v * v, axis=1))[:, None]
        y[g, :, :] = I.matmul(I.transpose(r), r)


def test_what_has_no_room_is_computed_again(differ, rng):
    """Rows of a number that data says are held in no buffer, though each of them has a length that is known."""
    x, n = draw(rng, 3), np.array([4, 0, 7])
    wanted = []
    for count in n:
        v = np.arange(count)[:, None] + x.astype(np.float64)
        r = v / (1 + (v * v).sum(1))[:, None]
        wanted.append(r.T @ r)
    differ(of_counted_rows, {"x": x, "n": n, "y": f32(3, 3, 3)}, {"y": np.array(wanted)}, tolerance=1e-4)
