"""Indices outside what they index, and promises about them."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    FalseBoundsPromise,
    FalseNoaliasPromise,
    InvalidStepValue,
    InvalidSubregion,
    OutOfBounds,
)
from intent.frontend import lower
from intent.kir.parse import parse_kernel
from intent.kir.text import print_kernel


@intent.kernel
def difference(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i + 1] - x[i]


@intent.kernel
def difference_inside(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        if i + 1 < N:
            y[i] = x[i + 1] - x[i]
        else:
            y[i] = -x[i]


def test_the_last_neighbour(faulty, clean):
    x = np.arange(8, dtype=np.float32)
    report = faulty(difference, (x, np.zeros(8, np.float32)), (OutOfBounds, "x[i + 1]"))
    assert report[0].seen["the index"] == "x[8]"
    assert report[0].seen["the point"] == "i = 7"
    clean(difference_inside, x, np.zeros(8, np.float32))


@intent.kernel
def previous_masked_late(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    before = x[i - 1]
    y[...] = I.select(i > 0, before, 0.0)


@intent.kernel
def previous_masked(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.gather(x, index=i - 1, valid=i > 0, fill=0.0)


def test_a_select_does_not_guard_a_read(faulty, clean):
    """Run-time negative subscripts do not count from the end."""
    x = np.ones(5, np.float32)
    report = faulty(previous_masked_late, (x,), (OutOfBounds, "x[i - 1]"))
    assert report[0].seen["the index"] == "x[-1], lane [0]"
    clean(previous_masked, x, np.zeros(5, np.float32))


@intent.kernel
def embed(table: I.In[I.f32, ("V", "D")], ids: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N", "D")]):
    V = table.shape[0]
    tokens = I.cast(ids[...], I.index)
    columns = I.indices(I.domain(0, table.shape[1]))
    y[...] = I.gather(table, index=(tokens[:, None], columns[None, :]), valid=tokens[:, None] < V, fill=0.0)


@intent.kernel
def embed_both_ends(table: I.In[I.f32, ("V", "D")], ids: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N", "D")]):
    V = table.shape[0]
    tokens = I.cast(ids[...], I.index)[:, None]
    columns = I.indices(I.domain(0, table.shape[1]))
    good = (tokens >= 0) & (tokens < V)
    y[...] = I.gather(table, index=(tokens, columns[None, :]), valid=good, fill=0.0)


def test_a_mask_with_one_end(faulty, clean):
    """Padding tokens of -1 pass a test for the upper end only."""
    table, ids = np.ones((4, 3), np.float32), np.array([0, 3, -1, 9], np.int32)
    out = np.zeros((4, 3), np.float32)
    report = faulty(
        embed,
        (table, ids, out),
        (
            OutOfBounds,
            "I.gather(table, index=(tokens[:, None], columns[None, :]), valid=tokens[:, None] < V, fill=0.0)",
        ),
    )
    assert report[0].seen["the index"] == "table[-1, 0], lane [2, 0]"
    assert report[0].notes == ("3 lanes of this access are outside",)
    clean(embed_both_ends, table, ids, out)


@intent.kernel
def ring(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    history = I.buffer((4,), I.f32, init=0.0)
    for i in I.domain(0, x.shape[0]):
        y[i] = history[i % 4]
        history[(i + 1) % 5] = x[i]


@intent.kernel
def ring_of_four(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    history = I.buffer((4,), I.f32, init=0.0)
    for i in I.domain(0, x.shape[0]):
        y[i] = history[i % 4]
        history[(i + 1) % 4] = x[i]


def test_a_buffer(faulty, clean):
    x = np.ones(9, np.float32)
    report = faulty(ring, (x,), (OutOfBounds, "history[(i + 1) % 5] = x[i]"))
    assert "written outside" in report[0].message
    clean(ring_of_four, x, np.zeros(9, np.float32))


@intent.kernel
def tensor_pick(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    v = x[...] * 2.0
    y[...] = v[at[...]]


def test_a_tensor(faulty, clean):
    x = np.ones(4, np.float32)
    faulty(tensor_pick, (x, np.array([0, 4], np.int32)), (OutOfBounds, "v[at[...]]"))
    clean(tensor_pick, x, np.array([0, 3], np.int32), np.zeros(2, np.float32))


@intent.kernel
def count(values: I.In[I.i32, ("N",)], bins: I.InOut[I.i32, ("B",)]):
    for i in I.parallel(I.domain(0, values.shape[0])):
        I.atomic.add(bins[values[i]], 1)


def test_an_atomic(faulty, clean):
    bins = np.zeros(4, np.int32)
    values = np.array([0, 1, 4], np.int32)
    report = faulty(count, (values, bins), (OutOfBounds, "I.atomic.add(bins[values[i]], 1)"))
    assert report[0].seen["the point"] == "i = 2"
    clean(count, np.array([0, 1, 3], np.int32), bins)


@intent.kernel
def trusting(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    index = I.cast(at[...], I.index)
    I.assume_in_bounds(index, x, 0)
    y[...] = x[index]


def test_a_false_promise_of_bounds(faulty, clean):
    """The promise is blamed, not the read that trusts it."""
    x = np.ones(4, np.float32)
    report = faulty(
        trusting, (x, np.array([0, 7], np.int32)), (FalseBoundsPromise, "I.assume_in_bounds(index, x, 0)")
    )
    assert report[0].seen["the index"] == "7 at [1]"
    clean(trusting, x, np.array([0, 3], np.int32), np.zeros(2, np.float32))


@intent.kernel
def shift_apart(x: I.In[I.f32, ("N",), I.constraints(noalias=True)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] + 1.0


def test_a_false_promise_of_no_overlap(clean):
    memory = np.zeros(12, np.float32)
    report = intent.check(shift_apart, memory[:8], memory[4:])
    (found,) = report
    assert isinstance(found, FalseNoaliasPromise)
    assert found.seen["an element of both"] == "x[4]"
    assert "noalias=True" in found.span.source
    clean(shift_apart, memory[:6], memory[6:])
    clean(shift_apart, memory[::2], memory[1::2])


@intent.kernel
def group_sums(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        members = axis[offsets[g] : offsets[g + 1]]
        y[g] = I.reduce.sum(x[members], axis=0)


def test_a_subregion_from_data(faulty, clean):
    x, y = np.ones(6, np.float32), np.zeros(2, np.float32)
    blame = (InvalidSubregion, "axis[offsets[g] : offsets[g + 1]]")
    report = faulty(group_sums, (x, np.array([0, 4, 2], np.int32), y), blame)
    assert report[0].seen == {"the subregion": "[4, 2)", "its source": "[0, 6)", "the point": "g = 1"}
    report = faulty(group_sums, (x, np.array([0, 4, 7], np.int32), y), blame)
    assert "leaves its source" in report[0].message
    clean(group_sums, x, np.array([0, 4, 6], np.int32), y)
    clean(group_sums, x, np.array([3, 3, 6], np.int32), y)


@intent.kernel
def prefix(x: I.In[I.f32, ("N",)], length: I.In[I.i32, ()], y: I.Out[I.f32, ("N",)]):
    valid = I.domain(0, length[()])
    y[...] = x[...]
    for i in valid[2 : x.shape[0]]:
        y[i] = 0.0


@intent.kernel
def prefix_of_axis(x: I.In[I.f32, ("N",)], length: I.In[I.i32, ()], y: I.Out[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    y[...] = x[...]
    for i in axis[2 : length[()]]:
        y[i] = 0.0


def test_a_subregion_of_a_domain_from_data(faulty, clean):
    """Nothing is outside the view, but the slice leaves the domain that it was taken from."""
    x, length = np.ones(8, np.float32), np.array(5, np.int32)
    faulty(prefix, (x, length, x.copy()), (InvalidSubregion, "valid[2 : x.shape[0]]"))
    clean(prefix_of_axis, x, length, x.copy())


@intent.kernel
def first_negative(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.i64, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        found = I.cast(-1, I.i64)
        for i in axis[offsets[g] : offsets[g + 1]]:
            if x[i] < 0.0:
                found = I.cast(i, I.i64)
                break
        y[g] = found


def test_a_subregion_of_a_loop_that_is_left(faulty, clean):
    x, y = np.ones(6, np.float32), np.zeros(2, np.int64)
    blame = (InvalidSubregion, "axis[offsets[g] : offsets[g + 1]]")
    faulty(first_negative, (x, np.array([0, 4, 2], np.int32), y), blame)
    faulty(first_negative, (x, np.array([0, 4, 7], np.int32), y), blame)
    clean(first_negative, x, np.array([0, 4, 6], np.int32), y)


@intent.kernel
def strided(x: I.In[I.f32, ("N",)], step: I.In[I.i32, ("G",)], y: I.Out[I.f32, ("G",)]):
    for g in I.parallel(I.domain(0, y.shape[0])):
        total = I.cast(0.0, I.f32)
        for i in I.domain(0, x.shape[0], step[g]):
            total = total + x[i]
        y[g] = total


def test_a_step_from_data(faulty, clean):
    x, y = np.ones(8, np.float32), np.zeros(3, np.float32)
    report = faulty(
        strided,
        (x, np.array([1, 0, 2], np.int32), y),
        (InvalidStepValue, "for i in I.domain(0, x.shape[0], step[g]):"),
    )
    assert report[0].seen == {"the step": "0", "the point": "g = 1"}
    assert "not checked" in str(report)
    clean(strided, x, np.array([1, 3, 2], np.int32), y)


@pytest.mark.parametrize("kernel", [group_sums, prefix, first_negative], ids=lambda k: k.name)
def test_bounds_that_data_decides_survive_as_text(kernel):
    made = lower(kernel)
    assert any(domain.begin is not None for domain in made.domains)
    assert parse_kernel(print_kernel(made)) == made
