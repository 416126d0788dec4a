"""Arithmetic and structured operations on invalid input."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import intent
import intent.language as I
from intent.diagnostics import (
    DivisionByZero,
    EmptyArgReduce,
    ExtentsDiffer,
    HistogramOutOfRange,
    InvalidCast,
    MetadataOutOfRange,
    ShiftOutOfRange,
)

F = np.float32


@intent.kernel
def quantize(x: I.In[I.f32, ("N",)], scale: I.f32, y: I.Out[I.i8, ("N",)]):
    y[...] = I.cast(x[...] / scale, I.i8)


@intent.kernel
def quantize_clamped(x: I.In[I.f32, ("N",)], scale: I.f32, y: I.Out[I.i8, ("N",)]):
    q = I.clamp(x[...] / scale, -128.0, 127.0)
    y[...] = I.cast(I.select(I.isnan(q), 0.0, q), I.i8)


def test_a_cast_out_of_range(faulty, clean):
    x = np.array([1.0, -128.9, 127.9, 128.0, np.nan], F)
    report = faulty(quantize, (x, 1.0), (InvalidCast, "I.cast(x[...] / scale, I.i8)"))
    assert report[0].seen["the value"] == "128.0 at [3]"
    report = faulty(quantize, (x[4:], 1.0), (InvalidCast, "I.cast(x[...] / scale, I.i8)"))
    assert report[0].seen["the value"] == "nan at [0]"
    clean(quantize, x[:3], 1.0, np.zeros(3, np.int8))
    clean(quantize_clamped, x[:4], 1.0, np.zeros(4, np.int8))
    assert not intent.check(quantize_clamped, x, 1.0)


@intent.kernel
def bounds_of_64_bits(x: I.In[I.f64, ("N",)], y: I.Out[I.i64, ("N",)], z: I.Out[I.u64, ("N",)]):
    y[...] = I.cast(x[...], I.i64)
    z[...] = I.cast(I.abs(x[...]), I.u64)


def test_the_bounds_of_wide_integers(faulty, clean):
    clean(
        bounds_of_64_bits, np.array([-(2.0**63), 2.0**63 - 1024]),
        np.zeros(2, np.int64), np.zeros(2, np.uint64),
    )  # fmt: skip
    faulty(bounds_of_64_bits, (np.array([2.0**63]),), (InvalidCast, "I.cast(x[...], I.i64)"))


@intent.kernel
def to_e4m3(x: I.In[I.f32, ("N",)], y: I.Out[I.f8e4m3fn, ("N",)]):
    y[...] = I.cast(x[...], I.f8e4m3fn)


def test_a_format_without_infinity(faulty, clean):
    fits = np.array([448.0, -448.0, 460.0, np.nan, 0.0], F)
    assert not intent.check(to_e4m3, fits)
    clean(to_e4m3, fits[:3], np.zeros(3, ml_dtypes.float8_e4m3fn))
    faulty(to_e4m3, (np.array([480.0], F),), (InvalidCast, "I.cast(x[...], I.f8e4m3fn)"))
    faulty(to_e4m3, (np.array([np.inf], F),), (InvalidCast, "I.cast(x[...], I.f8e4m3fn)"))


@intent.kernel
def unpack(x: I.In[I.u32, ("N",)], at: I.In[I.u32, ("N",)], y: I.Out[I.u32, ("N",)]):
    y[...] = (x[...] >> at[...]) & 1


def test_a_shift(faulty, clean):
    x = np.ones(3, np.uint32)
    report = faulty(unpack, (x, np.array([0, 31, 32], np.uint32)), (ShiftOutOfRange, "x[...] >> at[...]"))
    assert report[0].seen["the amount"] == "32 at [2]"
    clean(unpack, x, np.array([0, 31, 1], np.uint32), np.zeros(3, np.uint32))


@intent.kernel
def shift_left(x: I.In[I.i32, ("N",)], by: I.i32, y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] << (by - I.cast(i, I.i32))


def test_a_negative_shift(faulty, clean):
    x = np.ones(3, np.int32)
    report = faulty(shift_left, (x, 1), (ShiftOutOfRange, "x[i] << (by - I.cast(i, I.i32))"))
    assert report[0].seen == {"the amount": "-1", "the point": "i = 2"}
    clean(shift_left, x, 2, np.zeros(3, np.int32))


@intent.kernel
def mean_of_counts(total: I.In[I.i32, ("N",)], count: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = total[...] // count[...]


@intent.kernel
def mean_or_zero(total: I.In[I.i32, ("N",)], count: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    n = count[...]
    y[...] = I.select(n != 0, total[...] // n, 0)


@intent.kernel
def mean_by_branch(total: I.In[I.i32, ("N",)], count: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, total.shape[0])):
        if count[i] != 0 and total[i] % count[i] == 0:
            y[i] = total[i] // count[i]
        else:
            y[i] = 0


def test_a_division(faulty, clean):
    """What a select leaves out is not looked at, and no fault."""
    total, count, y = np.array([6, 7, 8], np.int32), np.array([2, 0, 4], np.int32), np.zeros(3, np.int32)
    report = faulty(mean_of_counts, (total, count), (DivisionByZero, "total[...] // count[...]"))
    assert report[0].seen["the dividend"] == "7 at [1]"
    clean(mean_or_zero, total, count, y)
    clean(mean_by_branch, total, count, y)


@intent.kernel
def mean_wrongly_chosen(total: I.In[I.i32, ("N",)], count: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    n = count[...]
    quotient = I.reshape(total[...] % n, (n.shape[0], 1))
    y[...] = I.select(n == 0, quotient[:, 0], 0)


def test_an_invalid_element_is_followed_to_where_it_is_used(faulty, clean):
    total, count = np.array([6, 7], np.int32), np.array([2, 0], np.int32)
    faulty(mean_wrongly_chosen, (total, count), (DivisionByZero, "total[...] % n"))
    clean(mean_wrongly_chosen, total, np.array([2, 1], np.int32), np.zeros(2, np.int32))


@intent.kernel
def bins_of(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, (8,)]):
    at = I.cast(I.floor(x[...] * 8.0), I.i32)
    y[...] = I.histogram(at, bins=8)


@intent.kernel
def bins_within(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, (8,)]):
    v = x[...]
    at = I.cast(I.floor(v * 8.0), I.i32)
    y[...] = I.histogram(at, bins=8, valid=(v >= 0.0) & (v < 1.0))


def test_a_histogram(faulty, clean):
    """The right end of the last bin belongs to no bin."""
    x = np.array([0.0, 0.5, 1.0], F)
    report = faulty(bins_of, (x,), (HistogramOutOfRange, "I.histogram(at, bins=8)"))
    assert report[0].seen["the value"] == "8 at [2]"
    clean(bins_within, x, np.zeros(8, np.int32))
    clean(bins_within, np.array([np.nan, 1e30], F)[1:], np.zeros(8, np.int32))


@intent.kernel
def best_member(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.i64, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        value, where = I.arg_reduce.max(x[axis[offsets[g] : offsets[g + 1]]], axis=0)
        y[g] = I.cast(where, I.i64)


@intent.kernel
def best_member_if_any(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.i64, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        y[g] = -1
        if offsets[g] < offsets[g + 1]:
            value, where = I.arg_reduce.max(x[axis[offsets[g] : offsets[g + 1]]], axis=0)
            y[g] = I.cast(where, I.i64)


def test_an_empty_arg_reduce(faulty, clean):
    x, offsets = np.ones(4, F), np.array([0, 2, 2, 4], np.int32)
    report = faulty(
        best_member, (x, offsets, np.zeros(3, np.int64)),
        (EmptyArgReduce, "I.arg_reduce.max(x[axis[offsets[g] : offsets[g + 1]]], axis=0)"),
    )  # fmt: skip
    assert report[0].seen["the point"] == "g = 1"
    clean(best_member_if_any, x, offsets, np.zeros(3, np.int64))


@intent.kernel
def copy_group(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.domain(1, offsets.shape[0] - 1):
        y[axis[offsets[g] : offsets[g + 1]]] = x[axis[offsets[g - 1] : offsets[g]]]


def test_extents_from_data(faulty, clean):
    x = np.arange(6, dtype=F)
    report = faulty(
        copy_group, (x, np.array([0, 2, 5], np.int32), x.copy()),
        (ExtentsDiffer, "y[axis[offsets[g] : offsets[g + 1]]] = x[axis[offsets[g - 1] : offsets[g]]]"),
    )  # fmt: skip
    assert report.stopped
    clean(copy_group, x, np.array([0, 2, 4, 6], np.int32), x.copy())


@intent.kernel
def pruned(
    kept: I.In[I.f32, ("M", "H")], first: I.In[I.i32, ("M", "G")], second: I.In[I.i32, ("M", "G")],
    dense: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    metadata = I.record(first=I.cast(first[...], I.index), second=I.cast(second[...], I.index))
    form = I.sparse.two_of_four(compression_axis=1, logical_extent=dense.shape[0])
    y[...] = I.sparse_contract(
        kept[...], metadata, dense[...], format=form, reduce=((1, 0),), acc_dtype=I.f32
    )


def test_metadata(faulty, clean):
    kept, dense = np.ones((1, 4), F), np.ones((8, 2), F)
    first, second = np.array([[0, 1]], np.int32), np.array([[3, 2]], np.int32)
    clean(pruned, kept, first, second, dense, np.zeros((1, 2), F))
    blame = "I.sparse_contract("
    for wrong in ([[3, 4]], [[3, 1]], [[-1, 2]]):
        faulty(pruned, (kept, first, np.array(wrong, np.int32), dense), (MetadataOutOfRange, blame))


@intent.fn
def truncated(x):
    return I.cast(x, I.i32)


@intent.kernel
def by_helper(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = truncated(x[...])


def test_a_helper_is_blamed_at_its_own_line(faulty, clean):
    faulty(by_helper, (np.array([1e20], F),), (InvalidCast, "I.cast(x, I.i32)"))
    clean(by_helper, np.array([1e9], F), np.zeros(1, np.int32))
