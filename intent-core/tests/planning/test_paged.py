"""Which extents are lengths of pages, and when a plan guards them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.paged import page_sizes
from intent.provider import Capabilities, PlanTable

TARGET = Capabilities(dtypes=frozenset({"bf16", "f32", "i32"}), plans=PlanTable(pages=16))
TABLE, W = I.In[I.i32, ("L",)], I.In[I.bf16, ("D", "E")]
X, Y = I.In[I.bf16, ("P", "S", "D")], I.Out[I.f32, ("T", "E")]


@intent.kernel
def by_pages(x: X, table: TABLE, w: W, y: Y):
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[I.cast(table[t // x.shape[1]], I.index), t % x.shape[1], :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def by_pages_and_numbers(x: X, table: TABLE, w: W, y: Y):
    """Products with the length are none of its pages."""
    t = I.indices(I.domain(0, y.shape[0]))
    page, place = t // x.shape[1], t % x.shape[1]
    rows = x[I.cast(table[(page * x.shape[1] + place) // x.shape[1]], I.index), place, :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def only_divided(x: X, table: TABLE, w: W, y: Y):
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[I.cast(table[t // x.shape[1]], I.index), 0, :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def only_what_is_left(x: X, table: TABLE, w: W, y: Y):
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[0, t % x.shape[1], :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def of_other_numbers(x: X, table: TABLE, w: W, y: Y):
    """What is divided is not what is left of: no page."""
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[I.cast(table[t // x.shape[1]], I.index), (t + 1) % x.shape[1], :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def of_two_lengths(x: X, table: TABLE, w: W, y: Y):
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[I.cast(table[t // x.shape[1]], I.index), t % I.minimum(x.shape[1], 64), :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def of_a_constant(x: I.In[I.bf16, ("P", 16, "D")], table: TABLE, w: W, y: Y):
    t = I.indices(I.domain(0, y.shape[0]))
    rows = x[I.cast(table[t // x.shape[1]], I.index), t % x.shape[1], :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def of_single_numbers(x: X, table: TABLE, w: W, y: Y, t: I.index):
    """A page of the whole launch, not of the members of an axis."""
    row = x[I.cast(table[t // x.shape[1]], I.index), t % x.shape[1], :]
    some = row[None, :] + I.zeros((y.shape[0], row.shape[0]), I.bf16)
    y[...] = I.matmul(some, w[...], acc_dtype=I.f32)


@intent.kernel
def of_a_length_that_data_says(x: X, table: TABLE, w: W, y: Y):
    """No launch could guard it."""
    t = I.indices(I.domain(0, y.shape[0]))
    axis = I.domain(0, x.shape[1])
    length = x[0, axis[0 : I.cast(table[0], I.index)], 0].shape[0]
    rows = x[I.cast(table[t // length], I.index), t % length, :]
    y[...] = I.matmul(rows, w[...], acc_dtype=I.f32)


@intent.kernel
def without_a_product(x: X, table: TABLE, y: I.Out[I.bf16, ("T", "D")]):
    t = I.indices(I.domain(0, y.shape[0]))
    y[...] = x[I.cast(table[t // x.shape[1]], I.index), t % x.shape[1], :]


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (by_pages, ["S"]),
        (by_pages_and_numbers, ["S"]),
        (only_divided, []),
        (only_what_is_left, []),
        (of_other_numbers, []),
        (of_two_lengths, []),
        (of_a_constant, []),
        (of_single_numbers, []),
        (of_a_length_that_data_says, []),
        (without_a_product, []),
    ],
)
def test_lengths_of_pages(kernel, sizes):
    assert [str(e) for e in page_sizes(lower(kernel))] == sizes


@pytest.mark.parametrize(
    ("size", "least", "guarded"),
    [(16, 16, True), (64, 16, True), (8, 16, False), (24, 16, False), (16, 17, False), (16, 0, False)],
)
def test_pages_of_a_call_are_guarded_where_they_are_long_and_fill_their_lanes(size, least, guarded):
    target = replace(TARGET, plans=PlanTable(pages=least))
    extents = {"P": 10, "S": size, "D": 32, "L": 20, "T": 128, "E": 32}
    guards = default_plan(lower(by_pages), target, extents).guards
    assert (f"S == {size}" in map(str, guards)) == guarded


def test_before_a_call_no_page_is_guarded():
    assert not any(str(guard.extent) == "S" for guard in default_plan(lower(by_pages), TARGET).guards)
