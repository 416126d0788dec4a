"""Axes, carries and reads that are alike and not the same: two of one class, diagonals, views of one memory."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, resident, serial
from intent.frontend import lower
from intent.kir.snapshot import with_copies

from .conftest import built

SIZES = (0, 1, 2, 5, 9)


def square(rng, n):
    return rng.integers(-9, 9, (n, n)).astype(np.int32)


def i32(*shape):
    return np.full(shape, 77, np.int32)


def axes_of(kernel):
    """Labels of the axes that each group may share out."""
    return [tuple(a.label for a in g.axes) for g in built(kernel).analysis.groups]


# -- carries with two axes of one class --------------------------------------------------------------------------------


@intent.kernel
def squares_stored(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, (3, "N", "N")]):
    a = x[...]
    for t in range(3):
        y[t, :, :] = a
        a = a * 2 + 1


@intent.kernel
def squares_turned(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, (3, "N", "N")], z: I.Out[I.i32, ("N", "N")]):
    a = x[...]
    for t in range(3):
        y[t, :, :] = a
        a = a * 2 + 1
    z[...] = I.transpose(a)


@intent.kernel
def squares_stored_twice(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, (3, "N", "N")],
                         z: I.Out[I.i32, (3, "N", "N")]):  # fmt: skip
    a = x[...]
    for t in range(3):
        y[t, :, :] = a
        a = a * 2 + I.transpose(a)
        z[t, :, :] = I.transpose(a)


@intent.kernel
def two_squares(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    a = x[...]
    b = I.transpose(a) + 1
    for _ in range(3):
        a, b = a + b, b * 2 + a
    y[...] = a - b


@pytest.mark.parametrize("n", SIZES)
def test_carries_of_two_axes_of_one_class(differ, rng, n):
    x = square(rng, n)
    a, steps = x, []
    for _ in range(3):
        steps.append(a)
        a = a * 2 + 1
    differ(squares_stored, {"x": x, "y": i32(3, n, n)}, {"y": np.stack(steps)})
    differ(squares_turned, {"x": x, "y": i32(3, n, n), "z": i32(n, n)}, {"y": np.stack(steps), "z": a.T})
    a, ys, zs = x, [], []
    for _ in range(3):
        ys.append(a)
        a = a * 2 + a.T
        zs.append(a.T)
    arguments = {"x": x, "y": i32(3, n, n), "z": i32(3, n, n)}
    differ(squares_stored_twice, arguments, {"y": np.stack(ys), "z": np.stack(zs)})
    a, b = x, x.T + 1
    for _ in range(3):
        a, b = a + b, b * 2 + a
    differ(two_squares, {"x": x, "y": i32(n, n)}, {"y": a - b})


# -- reads that are held ----------------------------------------------------------------------------------------------


@intent.kernel
def with_its_diagonal(x: I.InOut[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    v = x[...]
    for i in I.parallel(I.domain(0, x.shape[0])):
        x[i, :] = v[i, :] + v[i, i]
        y[i, :] = v[i, :]


@intent.kernel
def with_its_first_row(x: I.InOut[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    first = x[0, :]
    x[...] = x[...] * 2
    y[...] = x[...] + first[None, :]


@pytest.mark.parametrize("n", SIZES[1:])
def test_reads_of_places_that_later_writes_change(differ, rng, n):
    x = square(rng, n)
    wanted = {"x": x + np.diag(x)[:, None], "y": x}
    differ(with_its_diagonal, {"x": x, "y": i32(n, n)}, wanted)
    differ(with_its_first_row, {"x": x, "y": i32(n, n)}, {"x": 2 * x, "y": 2 * x + x[:1]})


# -- two views of one memory -------------------------------------------------------------------------------------------

GROUP = I.constraints(alias="g")


@intent.kernel
def halves_of_two_views(
    x: I.In[I.i32, (4,)], a: I.InOut[I.i32, ("M",), GROUP], b: I.InOut[I.i32, ("M",), GROUP]
):
    a[0:2] = x[0:2]
    b[2:4] = x[2:4]


@intent.kernel
def read_through_another(a: I.InOut[I.i32, ("N",), GROUP], b: I.InOut[I.i32, ("N",), GROUP]):
    v = a[...]
    for i in I.parallel(I.domain(0, a.shape[0])):
        b[i] = v[i] * 2


@intent.kernel
def doubled(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = x[...] * 2


def test_equal_coordinates_of_two_views_may_be_two_elements():
    assert axes_of(halves_of_two_views) == [()], "the second store may overwrite what the first one wrote"
    assert axes_of(read_through_another) == [()]


def test_equal_coordinates_of_views_of_the_very_same_elements_are_one():
    (group,) = analyze(with_copies(lower(doubled), [("y", "x")])).groups
    assert len(group.axes) == 1


@intent.kernel
def of_the_first_points(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    b = I.buffer((3,), I.i32, init=1)
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i]
        if i < 3:
            b[i] = b[i] + x[i]
            y[i] = b[i] * 2


@pytest.mark.parametrize("n", SIZES)
def test_a_buffer_that_is_smaller_than_the_loop_has_no_owners(differ, rng, n):
    x = rng.integers(-9, 9, n).astype(np.int32)
    differ(of_the_first_points, {"x": x, "y": i32(n)}, {"y": np.where(np.arange(n) < 3, 2 * (x + 1), x)})


# -- what is read alike ------------------------------------------------------------------------------------------------


@intent.kernel
def of_two_columns(x: I.In[I.i32, ("N", 2)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[...] = x[:, 0]
    z[...] = x[:, 1]


@intent.kernel
def of_one_column(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[...] = x[...] + 1
    z[...] = x[...] + 2


def test_only_what_reads_the_same_elements_is_joined_for_it():
    assert axes_of(of_two_columns) == [("axis_N",), ("axis_N",)]
    assert axes_of(of_one_column) == [("axis_N",)]


# -- branches around loops ---------------------------------------------------------------------------------------------


@intent.kernel
def if_all_do(x: I.In[I.i32, ("N",)], flag: I.In[I.i32, (1,)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if flag[0] > 0:
            for t in range(3):
                y[i] = y[i] * I.cast(t, I.i32) + x[i]


@intent.kernel
def if_it_does(x: I.In[I.i32, ("N",)], flag: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if flag[i] > 0:
            for t in range(3):
                y[i] = y[i] * I.cast(t, I.i32) + x[i]


@pytest.mark.parametrize("kernel", [if_all_do, if_it_does])
@pytest.mark.parametrize("n", [0, 1, 6])
def test_branches_around_loops_leave_the_points_together(differ, rng, kernel, n):
    assert [[(a.single, a.uneven) for a in g.axes] for g in built(kernel).analysis.groups] == [
        [(False, False)]
    ]
    x, y = rng.integers(0, 9, (2, n)).astype(np.int32)
    flag = rng.integers(0, 2, n if kernel is if_it_does else 1).astype(np.int32)
    wanted = np.where(flag > 0, ((y * 0 + x) * 1 + x) * 2 + x, y)
    differ(kernel, {"x": x, "flag": flag, "y": y}, {"y": wanted})


# -- axes of one element -----------------------------------------------------------------------------------------------


@intent.kernel
def row_scanned(x: I.In[I.i32, (1, "N")], y: I.Out[I.i32, (1, "N")]):
    y[...] = I.cumsum(x[...], axis=0)


@intent.kernel
def row_mirrored(x: I.InOut[I.i32, (1, "N")]):
    N = x.shape[1]
    x[...] = x[:, N - 1 - I.indices(I.domain(0, N))] + x[...]


@pytest.mark.parametrize("kernel", [row_scanned, row_mirrored])
def test_one_element_needs_no_storage(kernel):
    taken = built(kernel)
    inner = tuple(
        (label, serial() if axis.extent.const == 1 else resident(16))
        for label, axis in taken.analysis.inner.items()
    )
    program = taken.program(Plan(groups=(GroupPlan(inner=inner),)))
    assert program.workspace == ()
