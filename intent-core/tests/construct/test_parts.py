"""Plans that name no axis to share, or no number of instances to share it among."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, construct, resident, serial
from intent.diagnostics import PlanError
from intent.frontend import lower
from intent.physical import Fence
from intent.physical.verify import verify
from intent.reference import physical

MOST = 2**31 - 1


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


KERNEL = lower(row_sums)
ANALYSIS = analyze(KERNEL)
BLOCKS = serial(4)


def built(split, how=BLOCKS):
    plan = GroupPlan(instance=(("axis_M", 1),), inner=(("axis_N", how),), split=split)
    return construct(KERNEL, Plan(groups=(plan,)), ANALYSIS)


@pytest.mark.rejects
@pytest.mark.parametrize(
    "count", [1, 0, -3, True, 2.5, "3", None, np.int64(3), MOST + 1, 1 << 40, 1 << 70], ids=str
)
def test_what_is_no_number_of_instances_is_refused(count):
    with pytest.raises(PlanError, match=f"takes an int from 2 to {MOST}"):
        built(("axis_N", count))


@pytest.mark.parametrize("count", [2, 100_000, MOST])
def test_parts_may_be_more_than_there_are_members(count):
    assert built(("axis_N", count)).segments[0].parts == count


@pytest.mark.rejects
@pytest.mark.parametrize("label", ["axis_M", "axis_K", "", None])
def test_an_axis_that_no_reduction_walks_is_refused(label):
    with pytest.raises(PlanError, match="no reduction walks"):
        built((label, 3))


@pytest.mark.rejects
def test_an_axis_in_lanes_is_refused():
    with pytest.raises(PlanError, match="no reduction walks axis_N in order"):
        built(("axis_N", 3), resident(16))


@intent.kernel
def first_is_the_product(x: I.InOut[I.f32, ("N",)]):
    N = x.shape[0]
    x[0] = I.reduce.sum(x[...] * x[N - 1 - I.indices(I.domain(0, N))], axis=0)


def test_what_all_read_and_the_last_one_writes_is_fenced_once(rng):
    kernel = lower(first_is_the_product)
    analysis = analyze(kernel)
    plan = GroupPlan(inner=tuple((label, serial(4)) for label in analysis.inner), split=("axis_N", 3))
    made = construct(kernel, Plan(groups=(plan,)), analysis)
    verify(made, kernel)
    (segment,) = made.segments
    assert sum(isinstance(op, Fence) and op.target.name == "x" for op in segment.body.ops) == 1
    x = rng.integers(-9, 9, 22).astype(np.float32)
    wanted = x.copy()
    wanted[0] = x @ x[::-1]
    physical.execute(made, {"x": x}, {}, {"N": 22}, order=rng, find_races=True)
    np.testing.assert_array_equal(x, wanted)
