"""Carried tensors along an instance axis whose name is that of another unit's axis: they meet in memory only."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, resident
from intent.frontend import lower
from intent.physical.verify import problems
from intent.reference import physical
from intent.reference.logical import evaluate


@intent.kernel
def from_a_domain(a: I.In[I.i32, ("N", "M")], x: I.In[I.i32, ("M",)], u: I.InOut[I.i32, ("N", "M")]):
    columns = I.domain(0, a.shape[1])
    kept = I.buffer(a.shape, I.i32)
    kept[:, columns] = a[:, columns]
    most = x[...]
    for k in range(a.shape[0]):
        row = kept[k, :]
        most = I.maximum(most, row)
        if k % 2 == 0:
            u[k, :] = row + most


@intent.kernel
def from_points(a: I.In[I.i32, ("N", "M")], x: I.In[I.i32, ("M",)], u: I.InOut[I.i32, ("N", "M")]):
    kept = I.buffer(a.shape, I.i32)
    for j in I.parallel(I.domain(0, a.shape[1])):
        for k in range(a.shape[0]):
            kept[k, j] = a[k, j]
    most = x[...]
    for k in range(a.shape[0]):
        row = kept[k, :]
        most = I.maximum(most, row)
        u[k, :] = row + most


@intent.kernel
def from_points_of_two(a: I.In[I.i32, ("N", "M")], x: I.In[I.i32, ("M",)], u: I.InOut[I.i32, ("M", "M")]):
    kept = I.buffer((a.shape[1], a.shape[1]), I.i32)
    for i in I.parallel(I.domain(0, a.shape[1])):
        for j in I.parallel(I.domain(0, a.shape[1])):
            kept[i, j] = a[0, i] - x[j]
    total = I.zeros((a.shape[1], a.shape[1]), I.i32)
    for k in range(a.shape[0]):
        total = total * 2 + kept[...] + a[k, :][:, None]
        u[...] = total


KERNELS = (from_a_domain, from_points, from_points_of_two)


def arguments():
    rng = np.random.default_rng(4)
    return [rng.integers(-9, 9, shape).astype(np.int32) for shape in ((3, 5), (5,))]


@pytest.mark.parametrize("block", [1, 2, 8])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_carry_runs_along_the_axis_that_it_meets(kernel, block):
    lowered = lower(kernel)
    analysis = analyze(lowered)
    (group,) = analysis.groups
    assert "axis_M" not in {axis.label for axis in group.axes}, "the carry's axis has another name"
    instance = tuple((axis.label, 1 if axis.single else block) for axis in group.axes)
    assert instance, "the columns are independent"
    inner = (("axis_M", resident(8)),)
    program = construct(lowered, Plan(groups=(GroupPlan(instance=instance, inner=inner),)), analysis)
    assert problems(program, lowered) == {}
    a, x = arguments()
    shape = (5, 5) if kernel is from_points_of_two else (3, 5)
    wanted, got = (np.full(shape, 7, np.int32) for _ in range(2))
    evaluate(lowered, [a, x, wanted])
    order = np.random.default_rng(1)
    physical.execute(program, {"a": a, "x": x, "u": got}, {}, {"N": 3, "M": 5}, order=order, find_races=True)
    assert np.array_equal(got, wanted)


def test_what_is_copied_to_run_in_place_is_one_of_them():
    """The copy has axes of its own."""

    @intent.kernel
    def running(a: I.In[I.i32, ("N", "M")], x: I.In[I.i32, ("M",)], u: I.InOut[I.i32, ("N", "M")]):
        most = x[...]
        for k in range(a.shape[0]):
            most = I.maximum(most, a[k, :])
            if k % 2 == 0:
                u[k, :] = a[k, :] + most

    a, x = arguments()
    most = np.maximum.accumulate(np.vstack([x, a]))[1:]
    wanted = np.where(np.arange(3)[:, None] % 2 == 0, a + most, a)
    intent.compile(running, "reference")(a, x, a)
    assert np.array_equal(a, wanted)
