"""Which axes instances are spread over: those along which no two of them meet, or meet in any order they like."""

from __future__ import annotations

import pytest

import intent
import intent.language as I

from .conftest import built


def axes_of(kernel):
    """Labels of the axes that each group may share out."""
    return [tuple(a.label for a in g.axes) for g in built(kernel).analysis.groups]


@intent.fn
def sooner(a, b):
    return I.minimum(a, b)


@intent.fn
def later(a, b):
    return I.maximum(a, b)


@intent.kernel
def added_twice(x: I.In[I.f32, ("N", "K")], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("B",)]):
    s = I.reduce.sum(x[...], axis=1)
    I.scatter_reduce(c, index=at[...], value=s, combine=I.add)
    I.scatter_reduce(c, index=at[...], value=s * 2.0, combine=I.add)


@intent.kernel
def added_then_raised(x: I.In[I.f32, ("N", "K")], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("B",)]):
    s = I.reduce.sum(x[...], axis=1)
    I.scatter_reduce(c, index=at[...], value=s, combine=I.add)
    I.scatter_reduce(c, index=at[...], value=s * 2.0, combine=I.maximum)


@intent.kernel
def combined_in_two_ways(x: I.In[I.f32, ("N", "K")], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("B",)]):
    s = I.reduce.sum(x[...], axis=1)
    I.scatter_reduce(c, index=at[...], value=s, combine=sooner)
    I.scatter_reduce(c, index=at[...], value=s * 2.0, combine=later)


@intent.kernel
def set_then_added(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("N",)]):
    c[...] = x[...]
    I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def added_then_set(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.f32, ("N",)]):
    I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)
    c[...] = x[...]


@intent.kernel
def two_sums_of_inputs(
    x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], at: I.In[I.index, ("N",)], on: I.In[I.index, ("M",)],
    c: I.InOut[I.f32, ("B",)],
):  # fmt: skip
    I.scatter_reduce(c, index=at[...], value=x[...], combine=I.add)
    I.scatter_reduce(c, index=on[...], value=z[...], combine=I.add)


@pytest.mark.parametrize(
    ("kernel", "axes"),
    [
        (added_twice, [("axis_N",)]),
        (added_then_raised, [()]),
        (combined_in_two_ways, [()]),
        (set_then_added, [()]),
        (added_then_set, [()]),
        (two_sums_of_inputs, [("axis_N",), ("axis_M",)]),
    ],
)
def test_colliding_writes(kernel, axes):
    assert axes_of(kernel) == axes


@intent.kernel
def atomics_added(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i] * 2)


@intent.kernel
def atomics_raised(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.max(c[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.max(c[at[i]], x[i] * 2)


@intent.kernel
def atomics_of_two_kinds(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.max(c[at[i]], x[i] * 2)


@intent.kernel
def atomics_exchanged(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.exchange(c[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.exchange(c[at[i]], x[i] * 2)


@intent.kernel
def atomics_released(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i], order="release")
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i] * 2, order="release")


@intent.kernel
def atomics_observed(
    x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)], y: I.Out[I.i32, ("N",)]
):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        y[i] = I.atomic.add(c[at[i]], x[i])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i] * 2)


@intent.kernel
def atomics_observed_in_a_branch(
    x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)], y: I.Out[I.i32, ("N",)]
):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.add(c[at[i]], x[i])
    for i in I.parallel(points):
        old = x[i]
        if x[i] > 0:
            old = I.atomic.add(c[at[i]], x[i] * 2)
        y[i] = old


@intent.kernel
def raised_then_raised_atomically(
    x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]
):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.scatter_reduce(c, index=at[i], value=x[i], combine=I.maximum)
    for i in I.parallel(points):
        I.atomic.max(c[at[i]], x[i] * 2)


@intent.kernel
def raised_atomically_then_raised(
    x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], c: I.InOut[I.i32, ("B",)]
):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        I.atomic.max(c[at[i]], x[i] * 2)
    for i in I.parallel(points):
        I.scatter_reduce(c, index=at[i], value=x[i], combine=I.maximum)


@pytest.mark.parametrize(
    ("kernel", "spread"),
    [
        (atomics_added, True),
        (atomics_raised, True),
        (atomics_of_two_kinds, False),
        (atomics_exchanged, False),
        (atomics_released, False),
        (atomics_observed, False),
        (atomics_observed_in_a_branch, False),
        (raised_then_raised_atomically, False),
        (raised_atomically_then_raised, False),
    ],
)
def test_atomics_of_two_loops(kernel, spread):
    assert [len(axes) for axes in axes_of(kernel)] == [int(spread)]


@intent.kernel
def own_element_read_in_front(x: I.InOut[I.f32, ("N",)]):
    a = x[...]
    for i in I.parallel(I.domain(0, x.shape[0])):
        x[i] = a[i] * 2.0


@intent.kernel
def other_element_read_in_front(x: I.InOut[I.f32, ("N",)]):
    a = x[...]
    for i in I.parallel(I.domain(0, x.shape[0])):
        x[i] = a[x.shape[0] - 1 - i] * 2.0


def test_points_and_what_is_read_in_front_of_them():
    assert [len(axes) for axes in axes_of(own_element_read_in_front)] == [1]
    assert axes_of(other_element_read_in_front) == [()]


@intent.kernel
def of_one_column(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N", 1)]):
    y[...] = x[...][:, None] * 2.0


@intent.kernel
def with_a_buffer_that_nobody_uses(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    b = I.buffer((4,), I.f32, init=1.0)  # noqa: F841 -- that is the point
    y[...] = x[...] * 2.0


def test_axes_that_nobody_can_share_out():
    assert axes_of(of_one_column) == [("axis_N",)]
    assert sorted(axes_of(with_a_buffer_that_nobody_uses)) == [(), ("axis_N",)]


@intent.kernel
def stored_by_two_loops(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, (2, 3, "N", "N")]):
    for t in range(2):
        for u in range(3):
            y[t, u, :, :] = x[...] + I.cast(t + u, I.f32)


@intent.kernel
def squares_in_one_loop(
    x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, (2, "N", "N")], z: I.Out[I.f32, (2, "N", "N")]
):
    for t in range(2):
        y[t, :, :] = x[...] + 1.0
        z[t, :, :] = x[...] * 2.0


@intent.kernel
def points_in_a_loop(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, (2, "N", "M")]):
    for t in range(2):
        for i in I.parallel(I.domain(0, x.shape[0])):
            y[t, i, :] = x[i, :]


@pytest.mark.parametrize(
    ("kernel", "count"), [(stored_by_two_loops, 2), (squares_in_one_loop, 2), (points_in_a_loop, 0)]
)
def test_axes_of_what_loops_store(kernel, count):
    (axes,) = axes_of(kernel)
    assert len(axes) == count
