"""The numbers of the picture: which elements the programs touch."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct.plan import GroupPlan, Plan, resident, serial
from intent.physical import Guard
from intent.types.extent import symbol


@intent.kernel
def add(x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("M", "N")]):
    z[...] = x[...] + y[...]


@intent.kernel
def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def flipped(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N", "M")]):
    y[...] = I.transpose(x[...])


def spans(box):
    return tuple((s.low, s.high) for s in box)


def footprints(report, resource, group=0):
    """Per program of a scene: its blocks and the boxes of its accesses to a resource."""
    access = {a.id for s in report.segments if s.group == group for a in s.accesses if a.resource == resource}
    (scene,) = [s for s in report.picture.scenes if s.group == group]
    return [(sample, [f for f in sample.footprints if f.access in access]) for sample in scene.samples]


@pytest.mark.parametrize(
    ("kernel", "written", "extents"),
    [
        (add, "z", {"M": 9, "N": 1000}),
        (matmul, "c", {"M": 300, "N": 200, "K": 50}),
        (flipped, "y", {"M": 70, "N": 130}),
    ],
)
def test_the_programs_write_every_element_once(explained, kernel, written, extents):
    _, report = explained(kernel, extents)
    (tensor,) = [t for t in report.picture.scenes[0].tensors if t.name == written]
    count = np.zeros(tensor.shape, int)
    found = footprints(report, written)
    assert len(found) == report.length.value
    assert sorted(sample.program for sample, _ in found) == list(range(len(found)))
    for _, boxes in found:
        for box in boxes:
            assert all(s.known for s in box.swept)
            count[tuple(slice(s.low, s.high + 1) for s in box.swept)] += 1
    np.testing.assert_array_equal(count, 1)


@pytest.mark.parametrize("grouped", [1, 2, 3, 8])
def test_a_program_number_is_that_of_its_blocks(grouped):
    inner = (("axis_K", serial(16)),)
    group = GroupPlan(instance=(("axis_M", 16), ("axis_N", 32)), inner=inner, grouped=grouped)
    artifact = intent.compile(matmul, "reference", plan=Plan(groups=(group,)))
    report = artifact.report({"M": 100, "N": 130, "K": 50})
    found = footprints(report, "c")
    assert sorted(sample.program for sample, _ in found) == list(range(7 * 5))
    for sample, (box,) in found:
        m, n = sample.blocks
        assert spans(box.swept) == ((16 * m, min(16 * m + 15, 99)), (32 * n, min(32 * n + 31, 129)))
    for sample, (box,) in footprints(report, "a"):
        m, _ = sample.blocks
        rows = (16 * m, min(16 * m + 15, 99))
        assert spans(box.swept) == (rows, (0, 49))
        assert spans(box.first) == (rows, (0, 15))
        assert spans(box.last) == (rows, (48, 49))


def test_of_many_programs_some_are_shown_and_the_ends_are_among_them(explained):
    _, report = explained(add, {"M": 5000, "N": 3000})
    (scene,) = report.picture.scenes
    rows, columns = scene.programs
    shown = [sample.blocks for sample in scene.samples]
    assert len(shown) <= 100
    for corner in product((0, rows - 1), (0, columns - 1)):
        assert corner in shown


@intent.kernel
def picked(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    y[...] = x[at[...]]


def test_what_data_decides_is_not_made_up(explained):
    _, report = explained(picked, {"N": 50, "K": 10})
    for _, (box,) in footprints(report, "x"):
        assert [s.known for s in box.swept] == [False]
        assert spans(box.swept) == ((0, 49),)


@intent.kernel
def reversed_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        y[i, :] = x[M - 1 - i, :]


def test_coordinates_may_run_backwards(explained):
    _, report = explained(reversed_rows, {"M": 37, "N": 5})
    rows = [0] * 37
    written = {s.program: box for s, (box,) in footprints(report, "y")}
    for sample, (box,) in footprints(report, "x"):
        read, (low, high) = spans(box.swept)[0], spans(written[sample.program].swept)[0]
        assert read == (36 - high, 36 - low)
        for row in range(read[0], read[1] + 1):
            rows[row] += 1
    assert rows == [1] * 37


K, N = symbol("K"), symbol("N")


@pytest.mark.parametrize(
    ("walk", "guards", "kinds"),
    [
        (resident(32), (), {"at_most"}),
        (resident(32), (Guard(kind="equal", extent=K, bound=32),), {"equal"}),
        (
            serial(16),
            (Guard(kind="divisible", extent=K, bound=16), Guard(kind="divisible", extent=N, bound=32)),
            {"divisible"},
        ),
    ],
)
def test_made_up_extents_fit_every_kind_of_guard(walk, guards, kinds):
    group = GroupPlan(instance=(("axis_M", 16), ("axis_N", 32)), inner=(("axis_K", walk),))
    artifact = intent.compile(matmul, "reference", plan=Plan(groups=(group,), guards=guards))
    sizes = {e.name: e.value for e in artifact.report().picture.extents}
    assert {guard.kind for guard in artifact.program.guards} == kinds
    for guard in artifact.program.guards:
        assert guard.holds(sizes[str(guard.extent)])


@intent.kernel
def windowed(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    axis = I.domain(0, N)
    for i in I.parallel(axis):
        y[i] = I.reduce.sum(x[axis[I.maximum(i - 2, 0) : I.minimum(i + 3, N)]], axis=0)


def test_lanes_beyond_a_bound_of_the_program_are_not_touched(explained):
    _, report = explained(windowed, {"N": 30}, any_extents=True)
    for sample, boxes in footprints(report, "x"):
        i = sample.program
        touched = {e for box in boxes for (low, high) in spans(box.swept) for e in range(low, high + 1)}
        assert touched == set(range(max(i - 2, 0), min(i + 3, 30)))


def test_an_empty_launch_has_no_program(explained):
    _, report = explained(add, {"M": 0, "N": 3})
    assert report.length.value == 0
    assert report.picture.scenes[0].samples == ()


def test_without_a_launch_extents_are_made_up_and_fit_the_guards(explained):
    artifact, report = explained(matmul)
    assert report.picture.chosen
    assert report.extents == ()
    sizes = {e.name: e.value for e in report.picture.extents}
    assert set(sizes) == {"M", "N", "K"}
    for guard in artifact.program.guards:
        assert guard.holds(sizes[str(guard.extent)])
    (scene,) = report.picture.scenes
    assert all(1 < count <= 10 for count in scene.programs)
