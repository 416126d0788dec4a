"""Reads of elements that hold nothing yet."""

from __future__ import annotations

import numpy as np

import intent
import intent.language as I
from intent.diagnostics import UnwrittenRead

F = np.float32


@intent.kernel
def running(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.domain(0, x.shape[0]):
        if i > 1:
            y[i] = y[i - 1] + x[i]
        elif i == 0:
            y[i] = x[i]


@intent.kernel
def running_from_one(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.domain(0, x.shape[0]):
        if i > 0:
            y[i] = y[i - 1] + x[i]
        else:
            y[i] = x[i]


def test_an_out_with_a_gap(faulty, clean):
    x = np.ones(5, F)
    report = faulty(running, (x, np.zeros(5, F)), (UnwrittenRead, "y[i - 1]"))
    assert report[0].seen["the element"] == "y[1]"
    assert report[0].seen["y"] == "an Out view"
    assert report[0].seen["the point"] == "i = 2"
    clean(running_from_one, x, np.zeros(5, F))


@intent.kernel
def histogram_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 4)]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        bins = I.buffer((4,), I.i32)
        for k in I.domain(0, N):
            bins[x[row, k]] = bins[x[row, k]] + 1
        y[row, :] = bins[...]


@intent.kernel
def histogram_rows_from_zero(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 4)]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        bins = I.buffer((4,), I.i32, init=0)
        for k in I.domain(0, N):
            bins[x[row, k]] = bins[x[row, k]] + 1
        y[row, :] = bins[...]


def test_a_buffer_without_init(faulty, clean):
    x = np.array([[0, 1, 2, 3, 3]], np.int32)
    report = faulty(histogram_rows, (x,), (UnwrittenRead, "bins[x[row, k]]"))
    assert report[0].seen["bins"] == "a buffer without init="
    clean(histogram_rows_from_zero, x, np.zeros((1, 4), np.int32))


@intent.kernel
def partly_filled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    kept = I.buffer((N,), I.f32)
    for i in I.domain(0, N):
        if x[i] > 0.0:
            kept[i] = x[i]
    y[...] = kept[...]


@intent.kernel
def partly_filled_and_chosen(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    kept = I.buffer((N,), I.f32)
    for i in I.domain(0, N):
        if x[i] > 0.0:
            kept[i] = x[i]
    y[...] = I.select(x[...] > 0.0, kept[...], 0.0)


def test_elements_that_some_branch_writes(faulty, clean):
    """Elements that are read but not chosen are no fault."""
    x = np.array([1, -1, 2, -2, -3], F)
    report = faulty(partly_filled, (x,), (UnwrittenRead, "kept[...]"))
    assert report[0].seen["the element"] == "kept[1]"
    assert report[0].notes == ("3 elements of this read are unwritten",)
    clean(partly_filled, np.abs(x), np.zeros(5, F))
    clean(partly_filled_and_chosen, x, np.zeros(5, F))


@intent.kernel
def totals(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("M",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def totals_from_zero(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.zeros((y.shape[0],), I.f32)
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


def test_the_old_value_of_a_reduction_takes_part(faulty, clean):
    x, at = np.ones(3, F), np.array([1, 1, 0], np.int32)
    faulty(
        totals, (x, at, np.zeros(2, F)),
        (UnwrittenRead, "I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)"),
    )  # fmt: skip
    clean(totals_from_zero, x, at, np.zeros(2, F))


@intent.kernel
def counter(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(y[x[i]], 1)


@intent.kernel
def last_seen(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.store(y[x[i]], 1)


def test_atomics_read_too(faulty, clean):
    x, y = np.array([0, 1, 0], np.int32), np.zeros(2, np.int32)
    faulty(counter, (x, y), (UnwrittenRead, "I.atomic.add(y[x[i]], 1)"))
    clean(last_seen, x, y)


@intent.kernel
def fresh_each_time(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.domain(0, x.shape[0]):
        cell = I.buffer((1,), I.f32)
        if i == 0:
            cell[0] = x[0]
        y[i] = cell[0]


@intent.kernel
def kept_from_step_to_step(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    cell = I.buffer((1,), I.f32)
    for i in I.domain(0, x.shape[0]):
        if i == 0:
            cell[0] = x[0]
        y[i] = cell[0]


def test_every_execution_allocates_anew(faulty, clean):
    x = np.ones(3, F)
    report = faulty(fresh_each_time, (x,), (UnwrittenRead, "cell[0]"))
    assert report[0].seen["the point"] == "i = 1"
    clean(kept_from_step_to_step, x, np.zeros(3, F))
