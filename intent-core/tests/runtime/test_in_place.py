"""Running in place: allowed where every lane reads its own element before it writes it, refused elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct.plan import GroupPlan, Plan, resident, serial
from intent.diagnostics import OverlappingViews


@intent.kernel
def relu(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.maximum(x[...], 0.0)


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    values = x[...]
    weights = I.exp(values - I.reduce.max(values, axis=1)[:, None])
    y[...] = weights / I.reduce.sum(weights, axis=1)[:, None]


@intent.kernel
def flipped(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = x[x.shape[0] - 1 - i]


@intent.kernel
def sum_and_clear(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], y: I.Out[I.f32, ("M", "N")]):
    total[...] = I.reduce.sum(x[...], axis=1)
    y[...] = I.zeros(x.shape, I.f32)


@intent.kernel
def twice(x: I.In[I.f32, ("N",)], a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("N",)]):
    a[...] = x[...] + 1.0
    b[...] = x[...] * 2.0


@pytest.fixture
def data():
    return np.random.default_rng(0).normal(size=(7, 40)).astype(np.float32)


def plan_of(traversal):
    """One row per instance, the columns traversed as asked; both kernels label their axes alike."""
    rows, columns = (axis.label for axis in intent.compile(relu, "reference").program.segments[0].axes)
    return Plan(groups=(GroupPlan(instance=((rows, 1),), inner=((columns, traversal),)),))


@pytest.mark.parametrize("kernel", [relu, softmax])
def test_own_elements_in_place(kernel, data):
    artifact = intent.compile(kernel, "reference")
    expected = artifact.run(data)
    artifact(data, data)
    np.testing.assert_array_equal(data, expected)


def test_a_serial_axis_in_place(data):
    artifact = intent.compile(relu, "reference", plan=plan_of(serial(8)))
    expected = np.maximum(data, 0)
    artifact(data, data)
    np.testing.assert_array_equal(data, expected)


def test_the_plan_decides(data):
    expected = intent.compile(softmax, "reference").run(data)
    passes = intent.compile(softmax, "reference", plan=plan_of(serial(8)))
    before = data.copy()
    with pytest.raises(OverlappingViews, match="reads 'x' again after it writes"):
        passes(data, data)
    np.testing.assert_array_equal(data, before)
    whole = intent.compile(softmax, "reference", plan=plan_of(resident(64)))
    whole(data, data)
    np.testing.assert_allclose(data, expected, rtol=1e-6)


def test_other_elements_are_refused(data):
    row = data[0].copy()
    artifact = intent.compile(flipped, "reference")
    with pytest.raises(OverlappingViews):
        artifact(row, row)
    np.testing.assert_array_equal(row, data[0])


def test_a_write_that_does_not_follow_from_the_read_is_refused(data):
    artifact = intent.compile(sum_and_clear, "reference")
    with pytest.raises(OverlappingViews):
        artifact(data, np.zeros(7, np.float32), data)


def test_two_written_views_are_refused(data):
    row = data[0].copy()
    artifact = intent.compile(twice, "reference")
    with pytest.raises(OverlappingViews):
        artifact(np.ones_like(row), row, row)
