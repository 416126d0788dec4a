"""A coordinate of size one is one for all of its axis: the KIR may say so, the front end broadcasts instead."""

from __future__ import annotations

import numpy as np

import intent
import intent.language as I
from intent.construct import analyze
from intent.frontend import lower
from intent.kir.parse import parse_kernel
from intent.kir.text import print_kernel
from intent.reference import physical
from intent.reference.logical import Adversary, evaluate

from .conftest import Built

ROW, OF_ALL = "%5 index[N] = broadcast #5 value=%4 axes=(0)", "relation=[%5(0), %2:i(0)]"


@intent.kernel
def row(t: I.In[I.index, (1,)], x: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[1]))
    y[...] = x[t[...], i]


def test_an_axis_that_a_coordinate_does_not_follow(rng: np.random.Generator) -> None:
    text = print_kernel(lower(row))
    assert text.count(ROW) == text.count(OF_ALL) == 1
    kernel = parse_kernel(text.replace(OF_ALL, OF_ALL.replace("%5", "%4")))
    taken = Built(kernel, analyze(kernel))
    x = rng.standard_normal((3, 7)).astype(np.float32)
    given = {"t": np.array([2]), "x": x}
    y = np.zeros(7, np.float32)
    evaluate(kernel, [*given.values(), y], Adversary(rng))
    np.testing.assert_array_equal(y, x[2])
    for plan in taken.plans({"K": 3, "N": 7}):
        y = np.zeros(7, np.float32)
        physical.execute(taken.program(plan), {**given, "y": y}, {}, {"K": 3, "N": 7}, order=rng)
        np.testing.assert_array_equal(y, x[2], err_msg=str(plan))
