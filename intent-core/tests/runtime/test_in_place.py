"""Running in place: as it is where every lane reads its own element before it writes it, elsewhere with a copy."""

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


@intent.kernel
def mixed(x: I.In[I.f32, ("N", "N")], z: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    y[...] = I.transpose(x[...]) + z[...]


@intent.kernel
def swapped(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("N",)], a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("N",)]):
    a[...] = z[x.shape[0] - 1 - I.indices(I.domain(0, x.shape[0]))]
    b[...] = x[...]
    a[0] = z[1]
    b[1] = x[1]


@intent.kernel
def indivisible(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.atomic.load(x[x.shape[0] - 1 - i])


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


def test_other_elements_are_copied_first(data):
    row = data[0].copy()
    artifact = intent.compile(flipped, "reference")
    artifact(row, row)
    np.testing.assert_array_equal(row, data[0][::-1])


def test_a_write_that_does_not_follow_from_the_read(data):
    before, total = data.copy(), np.zeros(7, np.float32)
    artifact = intent.compile(sum_and_clear, "reference")
    artifact(data, total, data)
    np.testing.assert_allclose(total, before.sum(axis=1), rtol=1e-5)
    assert not data.any()


def test_reads_after_the_write_see_what_was_there(data):
    row, other = data[0].copy(), np.zeros(40, np.float32)
    artifact = intent.compile(twice, "reference")
    for _ in range(2):
        artifact(row, row, other)
        np.testing.assert_array_equal(row, data[0] + 1)
        np.testing.assert_array_equal(other, data[0] * 2)
        artifact(data[0].copy(), row, other)  # a call whose views are apart comes in between
        np.testing.assert_array_equal(row, data[0] + 1)
        row[...] = data[0]
    artifact.prepare(row, other, row)()
    np.testing.assert_array_equal(row, data[0] * 2)


@intent.kernel
def raised_and_summed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M",)]):
    y[...] = x[...] + 1.0
    z[...] = I.reduce.sum(x[...], axis=1)


def test_the_copy_is_shared_out_where_instances_keep_to_their_own(data):
    before, total = data.copy(), np.zeros(7, np.float32)
    artifact = intent.compile(raised_and_summed, "reference")
    artifact(data, data, total)
    np.testing.assert_array_equal(data, before + 1)
    np.testing.assert_allclose(total, before.sum(axis=1), rtol=1e-5)
    (buffer,) = artifact.program.workspace
    assert (buffer.name, buffer.scope) == ("x", "invocation")
    assert artifact.program.segments[0].axes


def test_two_inputs_in_one_place(data):
    square = data[:, :7].copy()
    artifact = intent.compile(mixed, "reference")
    artifact(square, square, square)
    np.testing.assert_allclose(square, data[:, :7].T + data[:, :7], rtol=1e-6)


def test_pairs_in_two_places_are_refused(data):
    a, b = data[0].copy(), data[1].copy()
    artifact = intent.compile(swapped, "reference")
    artifact(a, b, np.zeros(40, np.float32), b)
    np.testing.assert_array_equal(b, data[0])
    with pytest.raises(OverlappingViews):
        artifact(a, b, b, a)


def test_an_atomic_read_is_no_copy(data):
    row = np.arange(5, dtype=np.int32)
    with pytest.raises(OverlappingViews, match="reads 'x' again after it writes"):
        intent.compile(indivisible, "reference")(row, row)


def test_two_written_views_are_refused(data):
    row = data[0].copy()
    artifact = intent.compile(twice, "reference")
    with pytest.raises(OverlappingViews):
        artifact(np.ones_like(row), row, row)
