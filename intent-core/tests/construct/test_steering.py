"""Which points share an instance although data says how many members each of them has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze
from intent.frontend import lower


@intent.kernel
def summed_twice(x: I.In[I.i32, ("N",)], cuts: I.In[I.index, ("P",)], y: I.Out[I.i32, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        v = x[axis[cuts[g] : cuts[g + 1]]]
        y[g] = I.reduce.sum(v, axis=0) + I.reduce.max(v, axis=0)


@intent.kernel
def summed_and_multiplied(x: I.In[I.i32, ("N",)], cuts: I.In[I.index, ("P",)], y: I.Out[I.i32, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        v = x[axis[cuts[g] : cuts[g + 1]]]
        y[g] = I.reduce.sum(v, axis=0) + I.contract(v, v, reduce=((0, 0),), acc_dtype=I.i32)


@pytest.mark.parametrize(("kernel", "single"), [(summed_twice, False), (summed_and_multiplied, True)])
def test_every_use_of_counted_members_has_to_take_them_one_by_one(kernel, single: bool) -> None:
    (group,) = analyze(lower(kernel)).groups
    assert [axis.single for axis in group.axes] == [single]


def test_a_product_of_as_many_members_as_data_says(differ, rng: np.random.Generator) -> None:
    x, cuts = rng.integers(-9, 9, 13).astype(np.int32), np.array([0, 3, 3, 9, 13])
    parts = [x[begin:end] for begin, end in itertools.pairwise(cuts)]
    wanted = np.array([part.sum() + part @ part for part in parts])
    differ(summed_and_multiplied, {"x": x, "cuts": cuts, "y": np.zeros(4, np.int32)}, {"y": wanted})
