"""Accumulations that start from what is added to them, and what keeps others from it."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.physical import Contract, Pointwise

BLOCKS = {"axis_M": 4, "axis_N": 4, "axis_K": 4}
EXTENTS = ((1, 1, 1), (5, 3, 0), (4, 4, 8), (5, 7, 9))


@intent.kernel
def summed_products(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
    ROUNDS: I.Constexpr[int],
):
    total = I.full((a.shape[0], b.shape[1]), 1.0, I.f32)
    for r in range(ROUNDS):
        total = total + I.matmul(a[...] * I.cast(r + 1, I.f32), b[...])
    y[...] = total


@intent.kernel
def products_used_twice(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
    ROUNDS: I.Constexpr[int],
):
    total = I.full((a.shape[0], b.shape[1]), 1.0, I.f32)
    for r in range(ROUNDS):
        product = I.matmul(a[...] * I.cast(r + 1, I.f32), b[...])
        total = total + product
        total = total + product
    y[...] = total


@intent.kernel
def sums_of_rows(x: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ("M",)], ROUNDS: I.Constexpr[int]):
    """No contraction: to add before the terms are summed rounds otherwise than the author wrote."""
    total = I.full((x.shape[0],), 1.0, I.f32)
    for r in range(ROUNDS):
        total = total + I.reduce.sum(x[...] * I.cast(r + 1, I.f32), axis=1)
    y[...] = total


def _drawn(rng, m, n, k):
    a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))
    return {"a": a, "b": b, "y": np.full((m, n), 7, np.float32)}, a.astype(np.float64) @ b


def _additions(made):
    return [op for op in made.ops(Pointwise) if op.fn == "add" and op.result.dtype.name == "f32"]


@pytest.mark.parametrize("extents", EXTENTS)
@pytest.mark.parametrize("block", [4, 16])
def test_rounds_share_one_accumulator(stages, rng, extents, block):
    given, product = _drawn(rng, *extents)
    blocks = BLOCKS if block == 4 else {"axis_M": 4, "axis_N": 4}  # K in blocks, and at once
    made = stages(summed_products, blocks, given, {"y": 1 + 6 * product}, ROUNDS=3)
    assert made.changed("starting")
    assert not _additions(made)
    assert all(op.accumulator is not None for op in made.ops(Contract))


@pytest.mark.parametrize("extents", EXTENTS)
def test_a_product_with_two_uses_stays_apart(stages, rng, extents):
    given, product = _drawn(rng, *extents)
    made = stages(products_used_twice, BLOCKS, given, {"y": 1 + 12 * product}, ROUNDS=3)
    assert not made.changed("starting")
    assert len(_additions(made)) >= 2


def test_a_sum_that_is_no_contraction_stays_apart(stages, rng):
    x = rng.integers(-4, 5, (5, 9)).astype(np.float32)
    given = {"x": x, "y": np.full(5, 7, np.float32)}
    made = stages(sums_of_rows, BLOCKS, given, {"y": 1 + 6 * x.sum(1)}, ROUNDS=3)
    assert not made.changed("starting")


@intent.kernel
def started_already(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    start = c[...]
    y[...] = (start + I.matmul(a[...], b[...])) + start


@intent.kernel
def doubled_between(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    start = c[...]
    total = I.zeros((a.shape[0], b.shape[1]), I.f32)
    for _ in range(3):
        total = total * 2.0 + I.matmul(a[...], b[...])
    y[...] = start + total


@intent.kernel
def powers(a: I.In[I.f32, ("M", "M")], c: I.In[I.f32, ("M", "M")], y: I.Out[I.f32, ("M", "M")]):
    start = c[...]
    total = I.zeros((a.shape[0], a.shape[0]), I.f32)
    for _ in range(3):
        total = I.matmul(a[...], total)
    y[...] = start + total


@pytest.mark.parametrize("blocks", [BLOCKS, {"axis_M": 4, "axis_N": 4}], ids=["K in blocks", "K at once"])
def test_what_starts_from_something_keeps_it(stages, rng, blocks):
    given, product = _drawn(rng, 5, 7, 9)
    given["c"] = rng.integers(-4, 5, (5, 7)).astype(np.float32)
    stages(started_already, blocks, given, {"y": product + 2 * given["c"]})
    stages(doubled_between, blocks, given, {"y": 7 * product + given["c"]})


def test_a_carry_that_is_multiplied_is_no_accumulator(stages, rng):
    a, c = (rng.integers(-4, 5, (5, 5)).astype(np.float32) for _ in range(2))
    stages(powers, {}, {"a": a, "c": c, "y": np.zeros((5, 5), np.float32)}, {"y": c})
