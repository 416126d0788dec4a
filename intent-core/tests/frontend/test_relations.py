"""Subscripts as relations, evaluated and compared with numpy."""

from __future__ import annotations

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import LaunchCondition
from intent.frontend import lower
from intent.kir import Gather, Load, Store
from intent.kir.walk import walk
from intent.language.definitions import fn, kernel


def numbers(*shape, dtype=np.float32):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


@kernel
def mixed_items(x: I.In[I.f32, ("A", "B", "C")], i: I.i32, y: I.Out[I.f32, ("C", 1, "A")]):
    y[...] = I.transpose(x[:, i, None, ...], perm=(2, 1, 0))


def test_slices_scalars_new_axes_and_ellipsis(run):
    x, y = numbers(2, 3, 4), np.zeros((4, 1, 2), np.float32)
    run(mixed_items, x, 2, y)
    assert (y == x[:, 2, None, :].transpose(2, 1, 0)).all()


@kernel
def pointwise_index(
    x: I.In[I.f32, ("A", "B", "C")],
    r: I.In[I.i32, ("N",)],
    c: I.In[I.i64, ("N",)],
    y: I.Out[I.f32, ("N", "B")],
):
    y[...] = x[r, :, c]


def test_index_tensors_are_joint_and_stand_where_the_first_stands(run):
    x, y = numbers(4, 3, 5), np.zeros((3, 3), np.float32)
    r, c = np.array([3, 0, 3], np.int32), np.array([4, 4, 1])
    run(pointwise_index, x, r, c, y)
    assert (y == np.stack([x[a, :, b] for a, b in zip(r, c, strict=True)])).all()


@kernel
def outer_index(
    x: I.In[I.f32, ("A", "B")], r: I.In[I.i32, ("N",)], c: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("N", "M")]
):
    y[...] = x[r[:, None], c[None, :]]


def test_index_tensors_broadcast_together(run):
    x, y = numbers(4, 6), np.zeros((2, 3), np.float32)
    r, c = np.array([3, 1], np.int32), np.array([5, 0, 2], np.int32)
    made = run(outer_index, x, r, c, y)
    assert (y == x[r[:, None], c[None, :]]).all()
    load = next(op for op in walk(made.body) if isinstance(op, Load) and op.source.name == "x")
    assert [value.rank for value in load.relation.coordinates] == [1, 1], "axes of extent 1 are peeled off"
    assert load.relation.axes == ((0,), (1,))


@kernel
def subregions(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], a: I.i32, b: I.i32):
    axis = I.domain(0, x.shape[0])
    part = axis[a:b]
    inner = part[a + 1 : b]
    y[part] = x[part] + 100.0
    y[inner] = x[inner] * I.cast(I.indices(inner), I.f32)


def test_subregions_keep_source_coordinates(run):
    x, y = numbers(8), np.zeros(8, np.float32)
    run(subregions, x, y, 2, 6)
    expected = np.zeros(8, np.float32)
    expected[2:6] = x[2:6] + 100
    expected[3:6] = x[3:6] * np.arange(3, 6)
    assert (y == expected).all()


@pytest.mark.parametrize(("a", "b"), [(-1, 3), (4, 2), (0, 9)])
def test_subregions_outside_their_source_are_errors_of_the_call(run, a, b):
    with pytest.raises(LaunchCondition):
        run(subregions, numbers(8), np.zeros(8, np.float32), a, b)


@kernel
def shifted(x: I.InOut[I.f32, ("N",)]):
    n = x.shape[0]
    x[1:n] = x[0 : n - 1]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_read_is_a_snapshot(run, n):
    x = numbers(n)
    before = x.copy()
    run(shifted, x)
    assert (x[1:] == before[:-1]).all()


@kernel
def negative_subscripts(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (4,)]):
    y[0] = x[-1]
    y[-1] = x[-2]
    y[1:-1] = x[-2:]


def test_static_negative_subscripts_count_from_the_end(run):
    x, y = numbers(5), np.zeros(4, np.float32)
    run(negative_subscripts, x, y)
    assert y.tolist() == [5, 4, 5, 4]
    with pytest.raises(LaunchCondition):
        run(negative_subscripts, numbers(1), y)


@kernel
def strided_domain(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    odd = I.domain(1, x.shape[0], 2)
    y[...] = 0.0
    y[odd] = x[odd] * 10.0
    tail = odd[4:7]
    y[tail] = -x[tail]


def test_members_of_a_stepped_domain(run):
    x, y = numbers(9), np.zeros(9, np.float32)
    run(strided_domain, x, y)
    assert y.tolist() == [0, 20, 0, 40, 0, -6, 0, 80, 0]


@kernel
def tensor_subscripts(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("M", 2)], z: I.Out[I.f32, ()]):
    doubled = x * 2.0
    y[...] = I.transpose(doubled[1:3, :])
    z[()] = doubled[0, 1]


def test_subscripts_of_tensor_values(run):
    x, y, z = numbers(4, 3), np.zeros((3, 2), np.float32), np.zeros((), np.float32)
    made = run(tensor_subscripts, x, y, z)
    assert (y == (2 * x)[1:3].T).all()
    assert z == 4
    assert sum(isinstance(op, Gather) for op in walk(made.body)) == 2


@kernel
def digits(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("A", "B", 4)]):
    b = y.shape[1]
    e = I.domain(0, x.shape[0])
    y[e // (b * 4), (e // 4) % b, e % 4] = x[e]


@kernel
def flattened(x: I.In[I.f32, ("A", "B")], y: I.Out[I.f32, ("N",)]):
    rows, columns = I.indices((I.domain(0, x.shape[0]), I.domain(0, x.shape[1])))
    y[rows[:, None] * x.shape[1] + columns[None, :]] = x


@fn
def reversed_coordinates(axis, n):
    return n - 1 - I.indices(axis)


@kernel
def through_helper(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("M", "N")]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
    back = reversed_coordinates(columns, x.shape[1])
    y[back[:, None], I.indices(rows)[None, :]] = I.transpose(x)


def test_destinations_proven_distinct(run):
    x, y = numbers(24), np.zeros((2, 3, 4), np.float32)
    run(digits, x, y)
    assert (y == x.reshape(2, 3, 4)).all()
    flat = np.zeros(24, np.float32)
    run(flattened, numbers(4, 6), flat)
    assert (flat == numbers(24)).all()
    t = np.zeros((3, 2), np.float32)
    run(through_helper, numbers(2, 3), t)
    assert (t == numbers(2, 3).T[::-1]).all()
    for made in (digits, flattened, through_helper):
        stores = [op for op in walk(lower(made, {}).body) if isinstance(op, Store)]
        assert [op.uniqueness for op in stores] == ["proven"]
        assert not lower(made, {}).assumptions


@kernel
def promised(order: I.In[I.i32, ("N",)], x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N", "M")]):
    for i in I.parallel(I.domain(0, 1)):
        y[order[...], :] = x * I.cast(i + 1, I.f32)


def test_inside_parallel_a_data_derived_destination_is_a_promise(run):
    y = np.zeros((3, 2), np.float32)
    made = run(promised, np.array([2, 0, 1], np.int32), numbers(3, 2), y)
    assert (y[[2, 0, 1]] == numbers(3, 2)).all()
    assert [a.kind for a in made.assumptions] == ["unique"]
    assert [op.uniqueness for op in walk(made.body) if isinstance(op, Store)] == ["assumed"]


@kernel
def ragged_rows(offsets: I.In[I.i32, ("G1",)], members: I.In[I.i32, ("R",)], x: I.In[I.f32, ("N",)],
                y: I.Out[I.f32, ("G",)], z: I.Out[I.f32, ("G",)]):  # fmt: skip
    groups = I.ragged(
        outer=I.domain(0, y.shape[0]), members=I.domain(0, members.shape[0]), offsets=offsets, indices=members
    )
    for g in I.parallel(groups.outer):
        y[g] = I.reduce.sum(x[I.members(groups[g])], axis=0)
        total = 0.0
        for member in groups[g]:
            total += x[member]
        z[g] = total


def test_ragged_groups_as_members_and_as_loops(run):
    x, members = numbers(6), np.array([5, 0, 3, 3, 1], np.int32)
    y, z = np.zeros(3, np.float32), np.zeros(3, np.float32)
    run(ragged_rows, np.array([0, 2, 2, 5], np.int32), members, x, y, z)
    assert y.tolist() == [7, 0, 10]
    assert z.tolist() == [7, 0, 10]


@kernel
def enumerated(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    y[...] = 0.0
    for ordinal, coordinate in I.enumerate(axis[2:]):
        y[coordinate] = x[coordinate] * I.cast(ordinal, I.f32)


def test_enumerate_counts_from_zero_and_keeps_coordinates(run):
    y = np.zeros(6, np.float32)
    run(enumerated, numbers(6), y)
    assert y.tolist() == [0, 0, 0, 4, 10, 18]


@kernel
def promised_bounds(labels: I.In[I.i32, ("N",)], table: I.In[I.f32, ("C", "D")], y: I.Out[I.f32, ("N", "D")]):
    for i in I.parallel(I.domain(0, labels.shape[0])):
        label = labels[i]
        I.assume_in_bounds(label, table, axis=0)
        y[i, :] = table[label, :]


def test_assume_in_bounds_reaches_the_reads_after_it():
    made = lower(promised_bounds, {})
    (load,) = [op for op in walk(made.body) if isinstance(op, Load) and op.source.name == "table"]
    assert load.assumed == (True, False)


@kernel
def extents_by_identity(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], w: I.In[I.f32, ("K",)]):
    M, N = x.shape
    flat = I.reshape(x, (M * N,)) + I.zeros((N * M,), I.f32)
    y[...] = I.reshape(flat, (M, N)) * w


def test_only_unknown_equalities_become_conditions():
    made = lower(extents_by_identity, {})
    assert [(c.kind, str(c.lhs), str(c.rhs)) for c in made.conditions] == [
        ("equal_or_one", "N", "K"),
        ("equal", "broadcast(K, N)", "N"),
    ]


@kernel
def triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    for i in I.parallel(axis):
        y[i] = I.reduce.sum(x[i, axis[0 : i + 1]], axis=0)


def test_data_derived_subregions_need_no_launch_condition(run):
    y = np.zeros(4, np.float32)
    made = run(triangle, numbers(4, 4), y)
    assert not made.conditions
    assert (y == np.tril(numbers(4, 4)).sum(1)).all()


def test_a_data_derived_region_that_ends_before_it_begins_has_no_members(run):
    x, members = numbers(6), np.array([5, 0, 3, 3, 1], np.int32)
    y, z = np.zeros(3, np.float32), np.zeros(3, np.float32)
    run(ragged_rows, np.array([0, 3, 1, 5], np.int32), members, x, y, z)
    assert y.tolist() == z.tolist() == [11, 0, 11]


@kernel
def members_of_groups(
    offsets: I.In[I.i32, ("P",)],
    order: I.In[I.i32, ("N",)],
    x: I.In[I.f32, ("M",)],
    y: I.InOut[I.f32, ("M",)],
    at: I.Out[I.i64, ("N",)],
    also: I.Out[I.i64, ("N",)],
):
    outer = I.domain(0, offsets.shape[0] - 1)
    groups = I.ragged(outer=outer, members=I.domain(0, order.shape[0]), offsets=offsets, indices=order)
    for g in I.parallel(outer):
        for m in I.parallel(groups[g]):
            y[m] = x[m] * I.cast(g + 1, I.f32)
        for o, m in I.enumerate(groups[g]):
            at[offsets[g] + I.cast(o, I.i32)] = I.cast(m, I.i64)
        for o, m in I.parallel(I.enumerate(groups[g])):
            also[offsets[g] + I.cast(o, I.i32)] = I.cast(m, I.i64)


def test_every_loop_over_a_group_sees_its_members(run):
    order = np.array([4, 0, 1, 2, 5], np.int32)
    x, y = np.arange(1, 8, dtype=np.float32), np.zeros(7, np.float32)
    at, also = np.zeros(5, np.int64), np.zeros(5, np.int64)
    run(members_of_groups, np.array([0, 2, 2, 5], np.int32), order, x, y, at, also)
    assert y.tolist() == [1, 6, 9, 0, 5, 18, 0]
    assert at.tolist() == also.tolist() == order.tolist()


@kernel
def loops_over_members(
    offsets: I.In[I.i32, ("P",)],
    order: I.In[I.i32, ("N",)],
    x: I.In[I.f32, ("M",)],
    y: I.InOut[I.f32, ("M",)],
    total: I.Out[I.i64, ("N",)],
    own: I.Out[I.i64, ("N",)],
):
    outer, positions = I.domain(0, offsets.shape[0] - 1), I.domain(0, order.shape[0])
    mapped = I.ragged(outer=outer, members=positions, offsets=offsets, indices=order)
    plain = I.ragged(outer=outer, members=positions, offsets=offsets)
    for g in I.parallel(outer):
        rows = I.members(mapped[g])
        for m in I.parallel(rows):
            y[m] = x[m] * I.cast(g + 1, I.f32)
        total[plain[g]] = I.cast(I.indices(rows), I.i64)
        for o, m in I.enumerate(I.members(plain[g])):
            own[m] = I.cast(o, I.i64)


def test_members_are_a_region_too(run):
    order = np.array([4, 0, 1, 2, 5], np.int32)
    x, y = np.arange(1, 8, dtype=np.float32), np.zeros(7, np.float32)
    total, own = np.zeros(5, np.int64), np.zeros(5, np.int64)
    run(loops_over_members, np.array([0, 2, 2, 5], np.int32), order, x, y, total, own)
    assert y.tolist() == [1, 6, 9, 0, 5, 18, 0]
    assert total.tolist() == order.tolist()
    assert own.tolist() == [0, 1, 0, 1, 2]


@kernel
def enumerated_nest(x: I.In[I.i32, ("M", "N")], y: I.InOut[I.i32, ("M", "N")]):
    rows, columns = I.domain(1, x.shape[0]), I.domain(0, x.shape[1])
    for (o, i), j in I.parallel((I.enumerate(rows), columns)):
        y[i, j] = x[i, j] * I.cast(o, I.i32)


def test_a_nest_counts_where_it_is_enumerated(run):
    x, y = np.full((3, 2), 5, np.int32), np.zeros((3, 2), np.int32)
    run(enumerated_nest, x, y)
    assert y.tolist() == [[0, 0], [0, 0], [5, 5]]
