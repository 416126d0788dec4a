"""Two writes of one memory: when they stand in each other's way, who owns an element, what is fenced."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.construct import analyze
from intent.frontend import lower
from intent.physical.walk import walk
from intent.planning import minimal_plan
from intent.provider.registry import registry

from .conftest import built

GROUP = I.constraints(alias="g")


@intent.kernel
def through_two_views(
    x: I.In[I.i32, ("N",)], c: I.InOut[I.i32, ("N",), GROUP], d: I.InOut[I.i32, ("N",), GROUP]
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] > 0:
            I.scatter_reduce(c, index=i, value=x[i], combine=I.add)
            I.scatter_reduce(d, index=i, value=x[i] * 2, combine=I.add)


@intent.kernel
def through_one_view(x: I.In[I.i32, ("N",)], c: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] > 0:
            I.scatter_reduce(c, index=i, value=x[i], combine=I.add)
            I.scatter_reduce(c, index=i, value=x[i] * 2, combine=I.add)


@pytest.mark.parametrize(("kernel", "exclusive"), [(through_two_views, False), (through_one_view, True)])
def test_elements_of_two_views_have_no_owner_along_an_axis(kernel, exclusive) -> None:
    (group,) = analyze(lower(kernel)).groups
    assert [axis.exclusive for axis in group.axes] == [exclusive]


def test_sums_at_one_point_are_not_fenced_from_each_other() -> None:
    taken = built(through_one_view)
    capabilities = registry().get("reference").capabilities
    made = taken.program(minimal_plan(taken.analysis, capabilities, {"N": 5}))
    ops = [op for segment in made.segments for op in walk(segment.body)]
    assert sum(isinstance(op, ph.Atomic) for op in ops) == 2
    assert not any(isinstance(op, ph.Fence) for op in ops)


@intent.kernel
def raised_and_added(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)], n: I.i32):
    for _ in range(n):
        I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)
        I.scatter_reduce(c, index=at[...], value=x[...] * 2, combine=I.maximum)
    I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)


def test_one_of_two_writes_that_does_not_commute_keeps_the_order(differ, rng: np.random.Generator) -> None:
    assert len(analyze(lower(raised_and_added)).groups) == 1
    x, at = rng.integers(1, 9, 7).astype(np.int32), rng.integers(0, 3, 7)
    c = wanted = np.zeros(3, np.int32)
    for _ in range(2):
        wanted = wanted + np.bincount(at, x, 3).astype(np.int32)
        most = wanted.copy()
        np.maximum.at(most, at, 2 * x)
        wanted = most
    wanted = wanted + np.bincount(at, x, 3).astype(np.int32)
    differ(raised_and_added, {"x": x, "at": at, "c": c, "n": 2}, {"c": wanted})


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0


def test_an_axis_of_the_group_is_not_refused() -> None:
    (group,) = analyze(lower(doubled)).groups
    assert (len(group.axes), group.refused) == (1, ())


@intent.kernel
def scaled_alike(
    scale: I.f32,
    x: I.In[I.f32, ("N",)],
    w: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",)],
    z: I.Out[I.f32, ("N",)],
):
    by = I.exp(scale)
    y[...] = x[...] * by
    z[...] = w[...] * by


def test_two_writes_that_share_a_number_stay_apart() -> None:
    assert len(analyze(lower(scaled_alike)).groups) == 2
