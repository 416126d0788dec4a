"""Bytes and operations against counts made by hand."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct.plan import GroupPlan, Plan, serial


@intent.kernel
def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


def moved(report, verb, view):
    (found,) = [m for m in report.work.moved if (m.verb, m.view) == (verb, view)]
    return found


def test_a_product_moves_its_matrices_and_multiplies_every_pair(explained):
    M, N, K = 70, 130, 40
    _, report = explained(matmul, {"M": M, "N": N, "K": K})
    work = report.work
    assert work.contractions.value == 2 * M * N * K
    assert work.pointwise.value == work.reductions.value == 0
    assert moved(report, "read", "a").once.value == 4 * M * K
    assert moved(report, "read", "b").once.value == 4 * K * N
    assert moved(report, "write", "c").once.value == moved(report, "write", "c").requested.value == 4 * M * N
    assert work.once.value == 4 * (M * K + K * N + M * N)
    assert work.unknown == ()
    rows, columns = (axis.programs.value for axis in report.segments[0].axes)
    assert moved(report, "read", "a").requested.value == 4 * M * K * columns
    assert moved(report, "read", "b").requested.value == 4 * K * N * rows
    assert work.requested.value == 4 * (M * K * columns + K * N * rows + M * N)


@pytest.mark.parametrize("k", [1, 16, 50, 64])
@pytest.mark.parametrize("block", [1, 16])
def test_a_product_in_blocks_multiplies_no_more(block, k):
    """Loops may be split into full blocks and a rest: together they count what there is."""
    group = GroupPlan(instance=(("axis_M", 16), ("axis_N", 16)), inner=(("axis_K", serial(block)),))
    artifact = intent.compile(matmul, "reference", plan=Plan(groups=(group,)))
    report = artifact.report({"M": 30, "N": 40, "K": k})
    assert report.work.operations.value == 2 * 30 * 40 * k
    assert moved(report, "read", "a").requested.value == 4 * 30 * k * 3
    assert moved(report, "read", "b").requested.value == 4 * 40 * k * 2


def test_without_extents_the_counts_are_expressions(explained):
    _, report = explained(matmul)
    assert report.work.contractions.text == "2*K*M*N"
    assert report.work.contractions.value is None
    assert moved(report, "write", "c").once.text == "4*M*N"


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    e = I.exp(x[...] - I.reduce.max(x[...], axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


def test_masked_lanes_neither_move_nor_compute(explained):
    M, N = 33, 70
    _, report = explained(softmax, {"M": M, "N": N})
    assert report.work.requested.value == 2 * 4 * M * N
    assert report.work.reductions.value == 2 * M * N
    assert report.work.pointwise.value == 3 * M * N


@intent.kernel
def gathered(x: I.In[I.f64, ("N",)], at: I.In[I.i32, ("K",)], y: I.Out[I.f64, ("K",)]):
    y[...] = x[at[...]]


def test_a_gather_moves_at_most_the_source_and_at_most_what_is_asked_for(explained):
    for n, k in ((1000, 10), (10, 1000)):
        _, report = explained(gathered, {"N": n, "K": k})
        read = moved(report, "read", "x")
        assert (read.once.value, read.requested.value) == (8 * min(n, k), 8 * k)


@intent.kernel
def lower(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        total = 0.0
        for j in range(i + 1):
            total = total + x[i, j]
        y[i] = total


def test_passes_that_differ_between_programs_are_counted_program_by_program(explained):
    for n in (1, 5, 100, 1001):
        _, report = explained(lower, {"N": n}, minimal=True)
        read = moved(report, "read", "x")
        assert read.requested.text == "varies"
        assert read.requested.value == 4 * n * (n + 1) // 2


def test_points_of_one_program_go_on_until_the_last_one_is_done(explained):
    """100 points share a program; rows beyond the last one are not counted, passes of points that are done are."""
    _, report = explained(lower, {"N": 100})
    read = moved(report, "read", "x")
    assert (read.requested.text, read.requested.value) == ("varies", 4 * 100 * 100)
    (access,) = [a for a in report.segments[0].accesses if a.resource == "x"]
    assert access.passes.value == 100


@intent.kernel
def cut_short(x: I.In[I.f32, ("N",)], ends: I.In[I.i32, ("G",)], y: I.Out[I.f32, ("G",)]):
    for g in I.parallel(I.domain(0, y.shape[0])):
        total = 0.0
        for j in range(I.cast(ends[g], I.index)):
            total = total + x[j]
        while total > 1.0:
            total = total - x[0]
        y[g] = total


def test_where_data_decides_that_is_said_in_words(explained):
    artifact, report = explained(cut_short, {"N": 100, "G": 10})
    passes = [a.passes.text for a in report.segments[0].accesses if a.resource == "x"]
    assert "until its last point is done" in passes
    text = artifact.explain(extents={"N": 100, "G": 10})
    assert "read x: 400 B once, as often as data decides" in text
    assert "?" not in text
    page = artifact.explain(format="html", extents={"N": 100, "G": 10})
    assert ">until its last point is done<" in page
    assert "400 B, as often as data decides" in page


@intent.kernel
def triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("M",)]):
    for m in I.parallel(I.domain(0, y.shape[0])):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(i + 1):
                total = total + x[i, j]
        y[m] = total


def test_passes_that_follow_an_outer_loop_are_counted_by_their_mean(explained):
    """The read is the same for all points of a program, which makes it once."""
    _, report = explained(triangle, {"N": 21, "M": 5000})
    assert report.length.value > 1
    assert moved(report, "read", "x").requested.value == 4 * report.length.value * 21 * 22 // 2


@intent.kernel
def windowed(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    axis = I.domain(0, N)
    for i in I.parallel(axis):
        y[i] = I.reduce.sum(x[axis[I.maximum(i - 2, 0) : I.minimum(i + 3, N)]], axis=0)


def test_lanes_beyond_a_bound_of_the_program_are_not_counted(explained):
    n = 100
    _, report = explained(windowed, {"N": n}, any_extents=True)
    assert report.length.value == n
    assert moved(report, "read", "x").requested.value == 4 * (5 * n - 6)


@intent.kernel
def ragged(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("G",)]):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, y.shape[0])):
        y[g] = I.reduce.sum(x[axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]], axis=0)


def test_what_only_data_decides_is_said_to_be_left_out(explained):
    _, report = explained(ragged, {"N": 100, "P": 11, "G": 10})
    assert moved(report, "read", "x").requested.text == "?"
    assert moved(report, "read", "x").once.value == 400
    assert "accesses of 'x'" in report.work.unknown
    assert moved(report, "write", "y").requested.value == 40
