"""Folds whose combine does not read all of what a slice gives."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I


@intent.fn
def counted(x):
    n = I.reduce.sum(I.cast(x > 0, I.i32), axis=0)
    return I.record(n=n, twice=n * 2)


@intent.fn
def with_its_own_count(a, b):
    return I.record(n=a.n + b.n, twice=a.twice + b.n * 2)


@intent.kernel
def fold_of_counts(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (2,)]):
    zero = I.cast(0, I.i32)
    found = I.region_fold(
        source=x[...],
        axis=0,
        summarize=counted,
        combine=with_its_own_count,
        identity=I.record(n=zero, twice=zero),
    )
    y[0] = found.n
    y[1] = found.twice


@pytest.mark.parametrize("n", [1, 5, 9])
def test_a_component_that_no_combine_reads_of_the_later_part(
    differ, rng: np.random.Generator, n: int
) -> None:
    x = rng.integers(-2, 3, n).astype(np.int32)
    count = int((x > 0).sum())
    differ(fold_of_counts, {"x": x, "y": np.zeros(2, np.int32)}, {"y": np.array([count, 2 * count])})


@intent.fn
def in_two_rows(v):
    w = I.reshape(v, (2, v.shape[0]))
    return I.reduce.sum(w * w, axis=(0, 1))


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def fold_of_pairs(x: I.In[I.i32, ("N", 2)], y: I.Out[I.i32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=in_two_rows, combine=plus, identity=0)


@pytest.mark.parametrize("n", [1, 5, 9])
def test_positions_in_a_slice_count_from_its_first_member(differ, rng: np.random.Generator, n: int) -> None:
    x = rng.integers(-9, 9, (n, 2)).astype(np.int32)
    differ(fold_of_pairs, {"x": x, "y": np.zeros((), np.int32)}, {"y": (x**2).sum()})
