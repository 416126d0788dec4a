"""Carried tensors exist at their home; bodies read them shifted, mirrored, transposed, reshaped and picked."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, relocate, resident
from intent.frontend import lower
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference.physical import execute

STEPS = ((0, 3), (3, 1), (4, 5), (3, 17))


def f32(*shape):
    return np.full(shape, 7, np.float32)


def steps(rng, t, n):
    return rng.normal(size=(t, n)).astype(np.float32)


@intent.kernel
def diffuse(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("N",)]):
    T, N = x.shape
    i = I.indices(I.domain(0, N))
    s = I.zeros((N,), I.f32)
    for t in range(T):
        left = I.gather(s, index=i - 1, valid=i > 0, fill=0.0)
        right = I.gather(s, index=i + 1, valid=i + 1 < N, fill=0.0)
        s = 0.25 * left + 0.5 * s + 0.25 * right + x[t, :]
    y[...] = s


@pytest.mark.parametrize(("t", "n"), STEPS)
def test_neighbours(differ, rng, t, n):
    x = steps(rng, t, n)
    s = np.zeros(n)
    for row in x:
        p = np.pad(s, 1)
        s = 0.25 * p[:-2] + 0.5 * s + 0.25 * p[2:] + row
    differ(diffuse, {"x": x, "y": f32(n)}, {"y": s})


@intent.kernel
def transposing(x: I.In[I.f32, ("N", "N")], count: I.i32, y: I.Out[I.f32, ("N", "N")]):
    s = x[...]
    for _ in range(count):
        s = I.transpose(s) * 0.5 + x[...]
    y[...] = s


@pytest.mark.parametrize("n", [0, 1, 5, 9])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_transposed(differ, rng, n, count):
    x = rng.normal(size=(n, n)).astype(np.float32)
    s = x.astype(np.float64)
    for _ in range(count):
        s = s.T * 0.5 + x
    differ(transposing, {"x": x, "count": count, "y": f32(n, n)}, {"y": s}, count=2)


@intent.kernel
def picked(
    x: I.In[I.f32, ("T", "N")], at: I.In[I.i64, ("T",)], y: I.Out[I.f32, ("N",)], seen: I.Out[I.f32, ("T",)]
):
    T, N = x.shape
    s = I.zeros((N,), I.f32)
    i = I.indices(I.domain(0, N))
    for t in range(T):
        j = I.cast(at[t], I.index)
        value = s[j]
        seen[t] = value
        s = I.select(i == j, value * 2.0 + x[t, :], s)
    y[...] = s


@pytest.mark.parametrize(("t", "n"), [*STEPS, (9, 4)])
def test_one_element_by_a_loaded_index(differ, rng, t, n):
    x, at = steps(rng, t, n), rng.integers(0, n, t)
    s, seen = np.zeros(n), []
    for row, j in zip(x.astype(np.float64), at, strict=True):
        seen.append(s[j])
        s[j] = s[j] * 2 + row[j]
    differ(picked, {"x": x, "at": at, "y": f32(n), "seen": f32(t)}, {"y": s, "seen": np.array(seen)})


@intent.kernel
def reshaped(x: I.In[I.f32, ("T", 6)], y: I.Out[I.f32, (6,)]):
    s = I.zeros((6,), I.f32)
    for t in range(x.shape[0]):
        s = I.reshape(I.transpose(I.reshape(s, (2, 3))), (6,)) * 0.5 + x[t, :]
    y[...] = s


@pytest.mark.parametrize("t", [0, 1, 5])
def test_reshaped(differ, rng, t):
    x = steps(rng, t, 6)
    s = np.zeros(6)
    for row in x:
        s = s.reshape(2, 3).T.reshape(6) * 0.5 + row
    differ(reshaped, {"x": x, "y": f32(6)}, {"y": s})


@intent.kernel
def nested(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("N",)]):
    T, N = x.shape
    s = I.zeros((N,), I.f32)
    for t in range(T):
        u = s
        for _ in range(3):
            u = u * 0.5 + x[t, :] + s[I.indices(I.domain(0, N)) * 0]
        s = u
    y[...] = s


@pytest.mark.parametrize(("t", "n"), STEPS)
def test_an_outer_carry_in_an_inner_loop(differ, rng, t, n):
    x = steps(rng, t, n)
    s = np.zeros(n)
    for row in x.astype(np.float64):
        u = s
        for _ in range(3):
            u = u * 0.5 + row + s[0]
        s = u
    differ(nested, {"x": x, "y": f32(n)}, {"y": s}, tolerance=1e-3)


@intent.kernel
def mirrored_by_batch(x: I.In[I.f32, ("B", "T", "N")], y: I.Out[I.f32, ("B", "N")]):
    B, T, N = x.shape
    i = I.indices(I.domain(0, N))
    for b in I.parallel(I.domain(0, B)):
        s = I.zeros((N,), I.f32)
        for t in range(T):
            s = s[N - 1 - i] * 0.5 + x[b, t, :]
        y[b, :] = s


@pytest.mark.parametrize(("b", "t", "n"), [(0, 2, 2), (1, 1, 1), (5, 3, 7), (9, 0, 5)])
def test_a_carry_of_every_parallel_point(differ, rng, b, t, n):
    x = rng.normal(size=(b, t, n)).astype(np.float32)
    s = np.zeros((b, n))
    for k in range(t):
        s = s[:, ::-1] * 0.5 + x[:, k]
    differ(mirrored_by_batch, {"x": x, "y": f32(b, n)}, {"y": s})


@intent.kernel
def delta_rule(
    k: I.In[I.f32, ("T", "D")],
    v: I.In[I.f32, ("T", "E")],
    q: I.In[I.f32, ("T", "D")],
    y: I.Out[I.f32, ("T", "E")],
    last: I.Out[I.f32, ("D", "E")],
):
    T, D = k.shape
    E = v.shape[1]
    s = I.zeros((D, E), I.f32)
    for t in range(T):
        seen = I.reduce.sum(s * k[t, :][:, None], axis=0)
        s = s * 0.9 + k[t, :][:, None] * (v[t, :] - seen)[None, :]
        y[t, :] = I.reduce.sum(s * q[t, :][:, None], axis=0)
    last[...] = s


@pytest.mark.parametrize(("t", "d", "e"), [(0, 2, 3), (4, 1, 1), (5, 3, 5), (7, 5, 9)])
def test_a_matrix_state_reduced_in_its_own_body(differ, rng, t, d, e):
    k, v, q = (rng.normal(size=(t, n)).astype(np.float32) * 0.5 for n in (d, e, d))
    s, y = np.zeros((d, e)), []
    for a, b, c in zip(k.astype(np.float64), v, q, strict=True):
        s = s * 0.9 + np.outer(a, b - a @ s)
        y.append(c @ s)
    arguments = {"k": k, "v": v, "q": q, "y": f32(t, e), "last": f32(d, e)}
    differ(delta_rule, arguments, {"y": np.array(y).reshape(t, e), "last": s}, tolerance=1e-3)


@intent.kernel
def power(a: I.In[I.f64, ("N", "N")], y: I.Out[I.f64, ("N",)], count: I.Out[I.i32, ()]):
    N = a.shape[0]
    v = I.full((N,), 1.0, I.f64)
    d = I.cast(1.0, I.f64)
    k = I.cast(0, I.i32)
    while d > 1e-3 and k < 50:
        w = I.matvec(a[...], v)
        w = w / I.reduce.max(I.abs(w), axis=0)
        d = I.reduce.max(I.abs(w - v), axis=0)
        v = w
        k = k + 1
    y[...] = v
    count[...] = k


@pytest.mark.parametrize("n", [1, 5, 9])
def test_a_while_loop_over_a_vector(differ, rng, n):
    a = rng.uniform(1, 2, (n, n))
    v, d, k = np.ones(n), 1.0, 0
    while d > 1e-3 and k < 50:
        w = a @ v
        w = w / np.abs(w).max()
        d, v, k = np.abs(w - v).max(), w, k + 1
    differ(power, {"a": a, "y": np.zeros(n), "count": np.zeros((), np.int32)}, {"y": v, "count": k})


@intent.kernel
def best_paths(e: I.In[I.i32, ("T", "N")], step: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N",)]):
    best = e[0, :]
    for t in range(1, e.shape[0]):
        best = I.reduce.max(best[:, None] + step[...], axis=0) + I.vecmat(best, step[...]) + e[t, :]
    y[...] = best


@pytest.mark.parametrize("block", [1, 2, 8, None])
@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("compared", [0, 1 << 20], ids=["through a buffer", "by comparing"])
def test_a_carried_vector_goes_through_a_matrix_of_its_class_in_blocks(monkeypatch, rng, compared, n, block):
    monkeypatch.setattr(relocate, "COMPARED", compared)
    e, step = rng.integers(-3, 4, (3, n)).astype(np.int32), rng.integers(-3, 4, (n, n)).astype(np.int32)
    wanted = e[0]
    for row in e[1:]:
        wanted = (wanted[:, None] + step).max(axis=0) + wanted @ step + row
    lowered = lower(best_paths)
    beside = () if block is None else (("axis_N", block),)
    plan = Plan(groups=(GroupPlan(inner=(("axis_N", resident(8)),), beside=beside),))
    program = construct(lowered, plan)
    verify(program, lowered)
    lanes = max(
        prod(d.size for d in r.dims) for s in program.segments for op in walk(s.body) for r in op.results
    )
    assert lanes == 8 * (block or 8)
    y = np.zeros(n, np.int32)
    execute(program, {"e": e, "step": step, "y": y}, {}, {"T": 3, "N": n}, find_races=True)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("compared", [0, 1 << 20], ids=["through a buffer", "by comparing"])
def test_neighbours_beyond_either_end_of_what_is_carried(monkeypatch, rng, compared):
    """Four lanes for four elements: the fifth one, which nobody asks for, is in no buffer."""
    monkeypatch.setattr(relocate, "COMPARED", compared)
    x = steps(rng, 3, 4)
    wanted = np.zeros(4)
    for row in x:
        p = np.pad(wanted, 1)
        wanted = 0.25 * p[:-2] + 0.5 * wanted + 0.25 * p[2:] + row
    lowered = lower(diffuse)
    labels = sorted(analyze(lowered).inner)
    program = construct(
        lowered, Plan(groups=(GroupPlan(inner=tuple((label, resident(4)) for label in labels)),))
    )
    verify(program, lowered)
    y = f32(4)
    execute(program, {"x": x, "y": y}, {}, {"T": 3, "N": 4}, find_races=True)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)
