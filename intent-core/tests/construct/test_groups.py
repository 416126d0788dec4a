"""Groups: what shares an instance domain, in-place updates, snapshots, conflicts, several outputs."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.frontend import lower
from intent.kir.snapshot import with_copies
from intent.physical.verify import verify
from intent.planning import default_plan, minimal_plan
from intent.provider.registry import registry
from intent.reference.physical import execute

from .conftest import built

CAPABILITIES = registry().get("reference").capabilities

LINES = (1, 2, 5, 33)
PLANES = ((0, 2), (2, 0), (1, 1), (5, 7), (3, 33))


def line(rng, n):
    return rng.normal(size=n).astype(np.float32)


def f32(*shape):
    return np.full(shape, 7, np.float32)


def axes_of(kernel):
    """Labels of the axes that each group may share out."""
    return [tuple(a.label for a in g.axes) for g in built(kernel).analysis.groups]


@intent.kernel
def shift(x: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    x[1:N] = x[0 : N - 1]


@intent.kernel
def mirror_and_add(x: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    x[...] = x[N - 1 - I.indices(I.domain(0, N))] + x[...]


@intent.kernel
def twice(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    x[...] = v * 2.0
    y[...] = v
    x[...] = x[...] + v


@intent.kernel
def add_total(x: I.InOut[I.f32, ("N",)]):
    x[...] = x[...] + I.reduce.sum(x[...], axis=0)


@pytest.mark.parametrize("n", LINES)
def test_a_store_reads_before_it_writes(differ, rng, n):
    x = line(rng, n)
    differ(shift, {"x": x}, {"x": np.concatenate((x[:1], x[:-1]))})
    differ(mirror_and_add, {"x": x}, {"x": x[::-1] + x})
    differ(twice, {"x": x, "y": f32(n)}, {"x": x * 3, "y": x})
    differ(add_total, {"x": x}, {"x": x + x.astype(np.float64).sum()}, tolerance=1e-4)


@intent.kernel
def transpose_and_add(x: I.InOut[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    x[...] = I.transpose(v) + v
    y[...] = x[...] * 2.0


@pytest.mark.parametrize("n", [0, 1, 5, 9])
def test_a_transpose_in_place(differ, rng, n):
    x = rng.normal(size=(n, n)).astype(np.float32)
    differ(transpose_and_add, {"x": x, "y": f32(n, n)}, {"x": x + x.T, "y": (x + x.T) * 2})


@intent.kernel
def chain(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)], w: I.Out[I.f32, ()]):
    y[...] = x[...] + 1.0
    z[...] = y[...] * 2.0
    w[...] = I.reduce.sum(z[...], axis=0)
    y[...] = z[...] + w[()]


@pytest.mark.parametrize("n", LINES)
def test_outputs_that_read_each_other(differ, rng, n):
    x = line(rng, n)
    z = (x + 1) * 2
    w = z.astype(np.float64).sum()
    differ(
        chain, {"x": x, "y": f32(n), "z": f32(n), "w": f32()}, {"y": z + w, "z": z, "w": w}, tolerance=1e-4
    )
    assert len(axes_of(chain)) == 1


@intent.kernel
def thirds(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    N = x.shape[0]
    M = y.shape[0]
    y[0:N] = x[...]
    y[N : 2 * N] = x[...] * 2.0
    y[2 * N : M] = I.full((M - 2 * N,), 5.0, I.f32)


@pytest.mark.parametrize("n", [0, 1, 5, 33])
def test_disjoint_parts_of_one_output_are_independent(differ, rng, n):
    x = line(rng, n)
    wanted = np.concatenate((x, x * 2, np.full(3, 5)))
    differ(thirds, {"x": x, "y": f32(2 * n + 3)}, {"y": wanted})
    assert len(axes_of(thirds)) == 3


@intent.kernel
def overlapping(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    y[0 : N - 1] = x[0 : N - 1]
    y[1:N] = x[1:N] * 3.0
    y[0] = y[N - 1]


@pytest.mark.parametrize("n", LINES)
def test_overlapping_parts_keep_their_order(differ, rng, n):
    x, y = line(rng, n), line(rng, n)
    wanted = y.copy()
    wanted[:-1] = x[:-1]
    wanted[1:] = x[1:] * 3
    wanted[0] = wanted[-1]
    differ(overlapping, {"x": x, "y": y}, {"y": wanted})
    assert len(axes_of(overlapping)) == 1


@intent.kernel
def smear(x: I.InOut[I.f32, ("N",)], count: I.i32):
    N = x.shape[0]
    for _ in range(count):
        x[1:N] = x[0 : N - 1] * 0.5 + x[1:N]


@intent.kernel
def pair(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], count: I.i32):
    for _ in range(count):
        x[...] = x[...] * 0.5 + y[...]
        y[...] = x[...] + 1.0


@intent.kernel
def relax(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], count: I.i32):
    N = x.shape[0]
    for _ in range(count):
        for i in I.parallel(I.domain(1, N - 1)):
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        for i in I.parallel(I.domain(1, N - 1)):
            x[i] = y[i]


@pytest.mark.parametrize("n", LINES[1:])
def test_effects_in_ordered_loops(differ, rng, n):
    x, y = line(rng, n), line(rng, n)
    a = x.astype(np.float64)
    for _ in range(3):
        a[1:] = a[:-1] * 0.5 + a[1:]
    differ(smear, {"x": x, "count": 3}, {"x": a})
    a, b = x.astype(np.float64), y.astype(np.float64)
    for _ in range(3):
        a = a * 0.5 + b
        b = a + 1
    differ(pair, {"x": x, "y": y, "count": 3}, {"x": a, "y": b})
    a, b = x.astype(np.float64), y.astype(np.float64)
    for _ in range(3):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = b[1:-1]
    differ(relax, {"x": x, "y": y, "count": 3}, {"x": a, "y": b})


def test_elementwise_loops_are_shared_out_and_neighbours_are_not():
    assert axes_of(pair) == [("axis_N",)]
    assert axes_of(smear) == [()]
    assert axes_of(relax) == [()]


@intent.kernel
def softmax_in_place(x: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        x[i, :] = I.exp(x[i, :] - I.reduce.max(x[i, :], axis=0))
        x[i, :] = x[i, :] / I.reduce.sum(x[i, :], axis=0)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_several_updates_of_a_row_at_each_point(differ, rng, m, n):
    x = rng.normal(size=(m, n)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, initial=-np.inf, keepdims=True))
    differ(softmax_in_place, {"x": x}, {"x": e / e.sum(1, keepdims=True)})


@intent.kernel
def branches(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], flag: I.i32):
    N = x.shape[0]
    if flag > 0:
        x[...] = x[...] + y[...]
        if flag > 1:
            y[0 : N - 1] = x[1:N]
    else:
        y[...] = I.reduce.sum(x[...], axis=0) + y[...]
    x[...] = x[...] * y[...]


@pytest.mark.parametrize("flag", [0, 1, 2])
@pytest.mark.parametrize("n", LINES)
def test_effects_in_branches(differ, rng, flag, n):
    x, y = line(rng, n), line(rng, n)
    a, b = x.astype(np.float64), y.astype(np.float64)
    if flag > 0:
        a = a + b
        if flag > 1:
            b[:-1] = a[1:]
    else:
        b = a.sum() + b
    differ(branches, {"x": x, "y": y, "flag": flag}, {"x": a * b, "y": b}, tolerance=1e-4, count=3)


@intent.kernel
def dependent(
    x: I.In[I.f32, ("M", "N")], s: I.Out[I.f32, ("M",)], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("N",)]
):
    s[...] = I.reduce.sum(x[...], axis=1)
    y[...] = x[...] / (1.0 + I.abs(s[...]))[:, None]
    z[...] = I.reduce.sum(y[...], axis=0)


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_an_output_read_across_its_rows(differ, rng, m, n):
    x = rng.normal(size=(m, n)).astype(np.float32)
    s = x.astype(np.float64).sum(1)
    y = x / (1 + np.abs(s))[:, None]
    arguments = {"x": x, "s": f32(m), "y": f32(m, n), "z": f32(n)}
    differ(dependent, arguments, {"s": s, "y": y, "z": y.sum(0)}, tolerance=1e-4)


@intent.kernel
def shared_buffer(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    b = I.buffer((N,), I.f32, init=0.0)
    for i in range(M):
        b[...] = b[...] * 0.5 + x[i, :]
        y[i, :] = b[...]


@intent.kernel
def buffer_of_a_point(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        b = I.buffer((N,), I.i32, init=0)
        for j in range(N):
            k = (j * 3 + 1) % N
            b[k] = b[k] + x[i, j]
        for j in I.parallel(I.domain(0, N)):
            y[i, j] = b[N - 1 - j]


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_buffers(differ, rng, m, n):
    x = rng.normal(size=(m, n)).astype(np.float32)
    b, rows = np.zeros(n), []
    for row in x.astype(np.float64):
        b = b * 0.5 + row
        rows.append(b)
    differ(shared_buffer, {"x": x, "y": f32(m, n)}, {"y": np.array(rows).reshape(m, n)})
    q = rng.integers(-9, 9, (m, n)).astype(np.int32)
    wanted = np.zeros((m, n), np.int32)
    for i in range(m):
        np.add.at(wanted[i], (np.arange(n) * 3 + 1) % max(n, 1), q[i])
    arguments = {"x": q, "y": np.zeros((m, n), np.int32)}
    differ(buffer_of_a_point, arguments, {"y": wanted[:, ::-1]})


@intent.kernel
def three_effects(
    x: I.In[I.i32, ("M", "N")],
    low: I.InOut[I.i32, ("M",)],
    total: I.InOut[I.i64, ("N",)],
    y: I.Out[I.i32, ("M", "N")],
):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.atomic.min(low[i], x[i, j])
            I.atomic.add(total[j], I.cast(x[i, j], I.i64))
            b = I.buffer((4,), I.i32, init=0)
            for k in range(4):
                b[k] = b[3 - k] + x[i, j]
            y[i, j] = b[0]


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_the_effects_of_one_parallel_body_are_distributed(differ, rng, m, n):
    x = rng.integers(-99, 99, (m, n)).astype(np.int32)
    low = np.full(m, 5, np.int32)
    arguments = {"x": x, "low": low, "total": np.zeros(n, np.int64), "y": np.zeros((m, n), np.int32)}
    wanted = {"low": np.minimum(low, x.min(1, initial=5)), "total": x.sum(0), "y": x}
    differ(three_effects, arguments, wanted)
    # The buffer belongs to the third group alone.
    assert len(axes_of(three_effects)) == 3


@intent.kernel
def moved_by_one(x: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    v = x[...] * 2
    x[0 : N - 1] = v[1:N]


@intent.kernel
def wanted_in_two_loops(x: I.InOut[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], count: I.i32):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        v = x[i]
        for _ in range(count):
            y[i] = y[i] * 3 + v
        for _ in range(count):
            y[i] = y[i] * 2 - v
        x[i] = y[i] + 1


@intent.kernel
def begins_with_what_was_written(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    y[...] = y[...] + x[...]
    b = I.buffer((N,), I.i32, init=y[...])
    for i in I.parallel(I.domain(0, N)):
        b[i] = b[i] * 2
    for i in I.parallel(I.domain(0, N)):
        z[i] = b[N - 1 - i]


@pytest.mark.parametrize("n", LINES)
def test_values_of_memory_that_changes(differ, rng, n):
    x, y = (rng.integers(-9, 9, n).astype(np.int32) for _ in range(2))
    moved = np.concatenate((x[1:] * 2, x[-1:]))
    differ(moved_by_one, {"x": x}, {"x": moved})
    wanted = y.copy()
    for step in (lambda v: v * 3 + x, lambda v: v * 2 - x):
        for _ in range(3):
            wanted = step(wanted)
    differ(wanted_in_two_loops, {"x": x, "y": y, "count": 3}, {"x": wanted + 1, "y": wanted})
    arguments = {"x": x, "y": y, "z": np.zeros(n, np.int32)}
    differ(begins_with_what_was_written, arguments, {"y": x + y, "z": ((x + y) * 2)[::-1]})


def test_a_store_of_what_another_element_held_is_known_as_one():
    (group,) = built(moved_by_one).analysis.groups
    assert len(group.snapshot) == 1


@intent.kernel
def sums_of_chosen_rows(x: I.In[I.f32, ("M", "N")], on: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        s = I.cast(0.0, I.f32)
        if on[i] > 0:
            s = I.reduce.sum(x[i, :], axis=0)
        y[i] = s


@pytest.mark.parametrize(("m", "n"), PLANES)
def test_rows_that_are_summed_where_their_points_say_so(differ, rng, m, n):
    x, on = rng.normal(size=(m, n)).astype(np.float32), rng.integers(0, 2, m).astype(np.int32)
    wanted = np.where(on > 0, x.astype(np.float64).sum(1), 0)
    differ(sums_of_chosen_rows, {"x": x, "on": on, "y": f32(m)}, {"y": wanted}, tolerance=1e-4)


@intent.kernel
def ends_of_columns(x: I.In[I.f32, ("K", "N")], low: I.Out[I.f32, ("N",)], both: I.Out[I.f32, ("N", 2)]):
    least = I.reduce.min(x[...], axis=0)
    low[...] = least
    both[...] = I.join(least, I.reduce.max(x[...], axis=0))


def test_what_is_joined_follows_the_axes_of_both(differ, rng):
    (group,) = built(ends_of_columns).analysis.groups
    assert [(a.label, a.owned) for a in group.axes] == [("axis_N", True)]
    x = rng.normal(size=(3, 5)).astype(np.float32)
    wanted = {"low": x.min(0), "both": np.stack([x.min(0), x.max(0)], -1)}
    differ(ends_of_columns, {"x": x, "low": f32(5), "both": f32(5, 2)}, wanted)


@intent.kernel
def branches_in_branches(
    x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], total: I.InOut[I.i32, (2,)]
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        v = x[i]
        w = 0 * v
        if v > 0:
            w = v + 1
            if v > 3:
                old = I.atomic.add(total[0], v)
                if old >= 0 and v % 2 == 0:
                    y[i] = 100 // v + x[at[i]]
                    w = w * 2
            elif v == 2:
                I.atomic.max(total[1], v)
        y[i] = y[i] + w


@pytest.mark.parametrize("n", LINES)
def test_points_with_branches_in_branches_share_instances(differ, rng, n):
    (group,) = built(branches_in_branches).analysis.groups
    assert [axis.single for axis in group.axes] == [False]
    x, y = rng.integers(-6, 7, n, dtype=np.int32), rng.integers(0, 9, n, dtype=np.int32)
    at = rng.permutation(n).astype(np.int32)
    wanted, total = y.copy(), np.zeros(2, np.int32)
    for i, v in enumerate(x):
        even = v > 3 and v % 2 == 0
        if even:
            wanted[i] = 100 // v + x[at[i]]
        wanted[i] += 0 if v <= 0 else (v + 1) * (2 if even else 1)
        total += (v if v > 3 else 0, 0)
        total[1] = max(total[1], v) if v == 2 else total[1]
    arguments = {"x": x, "at": at, "y": y, "total": np.zeros(2, np.int32)}
    differ(branches_in_branches, arguments, {"y": wanted, "total": total})


@intent.kernel
def turned_behind_a_branch(x: I.In[I.f32, ("K", "K")], u: I.InOut[I.f32, ("K", "K")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        for j in I.parallel(I.domain(0, x.shape[0])):
            v = x[i, j]
            if i > 0 and x[1, j] > 0.0:
                v = x[i - 1, j]
            u[j, i] = v


@pytest.mark.parametrize("n", [2, 5])
def test_one_axis_is_never_two_of_a_statement(rng, n):
    """In place: a copy of x is made first, whose columns are those of points j by the branch, and i by the store."""
    x = rng.normal(size=(n, n)).astype(np.float32)
    wanted = x.copy()
    wanted[1:] = np.where(x[1] > 0, x[:-1], x[1:])
    kernel = with_copies(lower(turned_behind_a_branch), [("u", "x")])
    analysis = analyze(kernel)
    for plan in (minimal_plan(analysis, CAPABILITIES), default_plan(analysis, CAPABILITIES, {"K": n})):
        program = construct(kernel, plan, analysis)
        verify(program, kernel)
        both = x.copy()
        execute(program, {"x": both, "u": both}, {}, {"K": n}, find_races=True)
        np.testing.assert_array_equal(both, wanted.T)
