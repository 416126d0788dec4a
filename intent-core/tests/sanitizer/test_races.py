"""Points of parallel loops that meet in one element."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import CollidingStore, DataRace, NoProgress

F = np.float32


@intent.kernel
def scatter_add(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[at[i]] = y[at[i]] + x[i]


@intent.kernel
def scatter_add_atomic(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(y[at[i]], x[i])


def test_read_modify_write(faulty, clean):
    x, y = np.ones(4, F), np.zeros(4, F)
    at = np.array([0, 2, 1, 2], np.int32)
    report = faulty(scatter_add, (x, at, y), (DataRace, "y[at[i]]"), (DataRace, "y[at[i]] = y[at[i]] + x[i]"))
    assert report[0].seen["the element"] == "y[2]"
    assert report[0].seen["one access"] == "the point i = 3 reads it"
    other = report[0].seen["the other access"]
    assert other.startswith("the point i = 1 writes it\n")
    assert "test_races.py:" in other
    assert other.endswith("y[at[i]] = y[at[i]] + x[i]")
    clean(scatter_add, x, np.array([0, 2, 1, 3], np.int32), y)
    clean(scatter_add_atomic, x, at, y)


@intent.kernel
def smooth(x: I.InOut[I.f32, ("N",)]):
    for i in I.parallel(I.domain(1, x.shape[0])):
        x[i] = (x[i - 1] + x[i]) * 0.5


@intent.kernel
def smooth_snapshot(x: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    before = x[...]
    for i in I.parallel(I.domain(1, N)):
        x[i] = (before[i - 1] + before[i]) * 0.5


@intent.kernel
def smooth_in_order(x: I.InOut[I.f32, ("N",)]):
    for i in I.domain(1, x.shape[0]):
        x[i] = (x[i - 1] + x[i]) * 0.5


def test_a_stencil_in_place(faulty, clean):
    x = np.ones(6, F)
    faulty(smooth, (x,), (DataRace, "x[i - 1]"))
    clean(smooth_snapshot, x)
    clean(smooth_in_order, x)


@intent.kernel
def largest(x: I.In[I.f32, ("N",)], best: I.InOut[I.f32, ("B",)], group: I.In[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        g = group[i]
        if x[i] > best[g]:
            I.atomic.max(best[g], x[i])


@intent.kernel
def largest_atomic(x: I.In[I.f32, ("N",)], best: I.InOut[I.f32, ("B",)], group: I.In[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        g = group[i]
        if x[i] > I.atomic.load(best[g]):
            I.atomic.max(best[g], x[i])


def test_a_plain_read_beside_atomics(faulty, clean):
    """A test before the atomic saves traffic, and races."""
    x, best = np.arange(8, dtype=F), np.zeros(2, F)
    group = np.array([0, 1] * 4, np.int32)
    report = faulty(largest, (x, best, group), (DataRace, "best[g]"))
    assert "reads it" in report[0].seen["one access"]
    assert "updates it atomically" in report[0].seen["the other access"]
    clean(largest_atomic, x, best, group)


@intent.kernel
def flag_found(x: I.In[I.f32, ("N",)], found: I.InOut[I.i32, ("K",)], slot: I.In[I.i32, ()]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] < 0.0:
            found[slot[()]] = 1


@intent.kernel
def flag_found_atomic(x: I.In[I.f32, ("N",)], found: I.InOut[I.i32, ("K",)], slot: I.In[I.i32, ()]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] < 0.0:
            I.atomic.store(found[slot[()]], 1)


def test_equal_values_race_too(faulty, clean):
    x = np.array([1, -1, 2, -2], F)
    found, slot = np.zeros(3, np.int32), np.array(1, np.int32)
    faulty(flag_found, (x, found, slot), (DataRace, "found[slot[()]] = 1"))
    clean(flag_found, np.array([1, -1, 2, 2], F), found, slot)
    clean(flag_found_atomic, x, found, slot)


@intent.kernel
def rows_with_shared_scratch(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    scratch = I.buffer((N,), I.f32, init=0.0)
    for row in I.parallel(I.domain(0, M)):
        for k in I.domain(0, N):
            scratch[k] = x[row, k] * 2.0
        for k in I.domain(0, N):
            y[row, k] = scratch[N - 1 - k]


@intent.kernel
def rows_with_own_scratch(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        scratch = I.buffer((N,), I.f32)
        for k in I.domain(0, N):
            scratch[k] = x[row, k] * 2.0
        for k in I.domain(0, N):
            y[row, k] = scratch[N - 1 - k]


def test_a_buffer_declared_outside(faulty, clean):
    x, y = np.ones((3, 4), F), np.zeros((3, 4), F)
    report = faulty(rows_with_shared_scratch, (x, y), (DataRace, "scratch[k] = x[row, k] * 2.0"))
    assert ["writes it" in v.seen["the other access"] for v in report] == [True, False]
    clean(rows_with_own_scratch, x, y)


@intent.kernel
def columns_of_blocks(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "P")]):
    M, N = x.shape
    for row, column in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[row, column // 2] = x[row, column]


@intent.kernel
def every_second_column(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "P")]):
    M, N = x.shape
    for row, column in I.parallel((I.domain(0, M), I.domain(0, N, 2))):
        y[row, column // 2] = x[row, column]


def test_a_nest(faulty, clean):
    x, y = np.ones((2, 4), F), np.zeros((2, 2), F)
    report = faulty(columns_of_blocks, (x, y), (DataRace, "y[row, column // 2] = x[row, column]"))
    assert report[0].seen["one access"] == "the point row = 0, column = 1 writes it"
    clean(every_second_column, x, y)


@intent.kernel
def halves(x: I.InOut[I.f32, ("N",)], a: I.InOut[I.f32, ("K",), I.constraints(alias="g")],
           b: I.In[I.f32, ("K",), I.constraints(alias="g")]):  # fmt: skip
    for i in I.parallel(I.domain(0, a.shape[0])):
        a[i] = b[i] + 1.0


def test_views_of_one_alias_group(faulty, clean):
    """Each point has elements of its own by name, but not in memory."""
    memory, x = np.ones(9, F), np.ones(1, F)
    report = faulty(halves, (x, memory[1:9], memory[0:8]), (DataRace, "b[i]"))
    assert report[0].seen["the element"] == "b[1]"
    clean(halves, x, memory[0:4], memory[4:8])
    clean(halves, x, memory[0:8], memory[0:8])


@intent.kernel
def mirrored(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        y[i] = x[N - 1 - i]


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] * 2.0


def test_one_array_given_twice(faulty, clean):
    x = np.ones(6, F)
    faulty(mirrored, (x, x), (DataRace, "x[N - 1 - i]"))
    clean(mirrored, x, x.copy())
    clean(doubled, x, x)


@intent.kernel
def last_arriver(
    x: I.In[I.f32, ("M", "N")],
    part: I.InOut[I.f32, ("M",)],
    ticket: I.InOut[I.i32, ("K",)],
    y: I.InOut[I.f32, ("K",)],
):
    M = x.shape[0]
    for row in I.parallel(I.domain(0, M)):
        part[row] = I.reduce.sum(x[row, :], axis=0)
        arrived = I.atomic.add(ticket[0], 1, order="acq_rel")
        if I.cast(arrived, I.index) == M - 1:
            y[0] = I.reduce.sum(part[...], axis=0)


@intent.kernel
def last_arriver_relaxed(
    x: I.In[I.f32, ("M", "N")],
    part: I.InOut[I.f32, ("M",)],
    ticket: I.InOut[I.i32, ("K",)],
    y: I.InOut[I.f32, ("K",)],
):
    M = x.shape[0]
    for row in I.parallel(I.domain(0, M)):
        part[row] = I.reduce.sum(x[row, :], axis=0)
        arrived = I.atomic.add(ticket[0], 1)
        if I.cast(arrived, I.index) == M - 1:
            y[0] = I.reduce.sum(part[...], axis=0)


@intent.kernel
def arrives_too_early(
    x: I.In[I.f32, ("M", "N")],
    part: I.InOut[I.f32, ("M",)],
    ticket: I.InOut[I.i32, ("K",)],
    y: I.InOut[I.f32, ("K",)],
):
    M = x.shape[0]
    for row in I.parallel(I.domain(0, M)):
        arrived = I.atomic.add(ticket[0], 1, order="acq_rel")
        part[row] = I.reduce.sum(x[row, :], axis=0)
        if I.cast(arrived, I.index) == M - 1:
            y[0] = I.reduce.sum(part[...], axis=0)


def test_what_atomics_order(faulty, clean):
    """An acq_rel ticket orders what came before it, a relaxed one nothing, and neither what comes after."""
    args = (np.ones((4, 3), F), np.zeros(4, F), np.zeros(1, np.int32), np.zeros(1, F))
    clean(last_arriver, *args)
    faulty(last_arriver_relaxed, args, (DataRace, "part[...]"))
    faulty(arrives_too_early, args, (DataRace, "part[...]"))


@intent.kernel
def message(data: I.InOut[I.i32, ("K",)], flag: I.InOut[I.i32, ("K",)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        if i == 0:
            data[0] = 7
            I.atomic.store(flag[0], 1, order="release")
        elif I.atomic.load(flag[0], order="acquire") == 1:
            y[i] = data[0]


@intent.kernel
def message_relaxed(data: I.InOut[I.i32, ("K",)], flag: I.InOut[I.i32, ("K",)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        if i == 0:
            data[0] = 7
            I.atomic.store(flag[0], 1, order="release")
        elif I.atomic.load(flag[0]) == 1:
            y[i] = data[0]


def test_release_and_acquire(faulty, clean):
    args = (np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(3, np.int32))
    clean(message, *args)
    faulty(message_relaxed, args, (DataRace, "data[0]"))


@intent.kernel
def mixed(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("M",)], at: I.In[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i], value=x[i], combine=I.add)
        if x[i] > 5.0:
            y[at[i]] = 0.0


def test_scatter_reduce_beside_a_store(faulty, clean):
    x, y = np.array([1, 2, 9, 3], F), np.zeros(2, F)
    at = np.array([0, 1, 1, 1], np.int32)
    report = faulty(mixed, (x, y, at), (DataRace, "y[at[i]] = 0.0"))
    assert "updates it by scatter_reduce" in report[0].seen["the other access"]
    clean(mixed, x, y, np.array([0, 0, 1, 0], np.int32))


@intent.kernel
def place(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)]):
    I.scatter_unique(y, index=at[...], value=x[...], valid=x[...] >= 0.0)


def test_colliding_destinations(faulty, clean):
    x, at, y = np.ones(4, F), np.array([3, 0, 3, 1], np.int32), np.zeros(4, F)
    report = faulty(
        place,
        (x, at, y),
        (CollidingStore, "I.scatter_unique(y, index=at[...], value=x[...], valid=x[...] >= 0.0)"),
    )
    assert report[0].seen["the element"] == "y[3]"
    assert report[0].seen["the lanes"] == "[0] and [2]"
    clean(place, np.array([1, 1, -1, 1], F), at, y)
    clean(place, x, np.array([3, 0, 2, 1], np.int32), y)


@intent.kernel
def rows_to(x: I.In[I.f32, ("M", "N")], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M", "K")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row, at[...]] = x[row, :]


def test_an_assignment_inside_parallel(faulty, clean):
    x, y = np.ones((3, 4), F), np.zeros((3, 6), F)
    report = faulty(
        rows_to, (x, np.array([5, 1, 5, 0], np.int32), y), (CollidingStore, "y[row, at[...]] = x[row, :]")
    )
    assert report[0].seen["the point"] == "row = 0"
    clean(rows_to, x, np.array([5, 1, 2, 0], np.int32), y)


@intent.kernel
def two_phases(x: I.In[I.f32, ("N",)], t: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        t[i] = x[i] * 2.0
    for i in I.parallel(I.domain(0, N)):
        y[i] = t[N - 1 - i]


@intent.kernel
def nested_phases(x: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        for k in I.parallel(I.domain(0, N)):
            x[row, k] = x[row, k] + 1.0
        for k in I.domain(1, N):
            x[row, k] = x[row, k] + x[row, k - 1]
        for k in I.parallel(I.domain(0, N)):
            x[row, k] = x[row, k] * 2.0


def test_loops_one_after_another_are_ordered(clean):
    clean(two_phases, np.ones(5, F), np.zeros(5, F), np.zeros(5, F))
    clean(nested_phases, np.ones((2, 4), F))


@pytest.mark.parametrize("seed", range(3))
def test_races_are_found_whatever_the_order(seed):
    report = intent.check(smooth, np.ones(6, F), seed=seed, rounds=1)
    assert {type(v) for v in report} == {DataRace}


@intent.kernel
def turn_by_turn(flag: I.InOut[I.i32, ("K",)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        while I.cast(I.atomic.load(flag[0], order="acquire"), I.index) != i:
            y[i] = y[i] | 1
        I.atomic.add(flag[0], 1, order="release")


@intent.kernel
def halving(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        v = x[i]
        steps = I.cast(0, I.i32)
        while v != 1:
            if v % 2 == 0:
                v = v // 2
            else:
                v = 3 * v + 1
            steps = steps + 1
        y[i] = steps


@intent.kernel
def last_of_chain(next_: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, next_.shape[0])):
        v = I.cast(i, I.i32)
        while next_[v] != v:
            v = next_[v]
        y[i] = v


def test_waiting_for_another_point(faulty, clean):
    """It ends when the points run in source order, which nobody promises."""
    args = (np.zeros(1, np.int32), np.zeros(4, np.int32))
    clean(turn_by_turn, *args, rounds=1)
    blame = 'while I.cast(I.atomic.load(flag[0], order="acquire"), I.index) != i:'
    faulty(turn_by_turn, args, (NoProgress, blame))
    clean(halving, np.array([1, 27, 97], np.int32), np.zeros(3, np.int32))
    faulty(last_of_chain, (np.array([0, 2, 1], np.int32),), (NoProgress, "while next_[v] != v:"))
    clean(last_of_chain, np.array([1, 2, 2], np.int32), np.zeros(3, np.int32))
