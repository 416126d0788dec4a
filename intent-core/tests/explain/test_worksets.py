from __future__ import annotations

import pytest

import intent
import intent.language as I


def groups_of(report):
    """The lines of the statements of each group, relative to the first."""
    return [[s.place.text for s in group.statements] for group in report.groups]


def sources(group):
    return {(axis.label, fact.source) for axis in group.axes for fact in axis.facts}


@intent.kernel
def updates(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0
    z[...] = y[...] + 1.0


def test_statements_that_use_one_memory_are_joined(explained):
    artifact, report = explained(updates)
    assert len(artifact.program.segments) == len(report.groups) == 1
    (reason,) = report.groups[0].joined
    assert reason.because == "memory"
    assert "'y'" in reason.text
    first, second = report.groups[0].statements
    assert reason.statements == (first.id, second.id)
    assert (first.writes, first.reads) == (("y",), ("x",))
    assert (second.writes, second.reads) == (("z",), ("y",))
    assert report.apart == ()


@intent.kernel
def normalised(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)]):
    average = I.reduce.sum(x[...], axis=1) / 10.0
    mean[...] = average
    y[...] = x[...] - average[:, None]


def test_statements_that_share_a_value_are_joined_along_their_common_axis(explained):
    _, report = explained(normalised)
    (group,) = report.groups
    (reason,) = group.joined
    assert reason.because == "producer"
    assert {axis.label for axis in group.axes} == {"axis_M"}
    assert ("axis_M", "free axis") in sources(group)
    assert [r.because for r in group.inside] == ["uncommon"]
    assert group.inside[0].text == "axis_N of N: not every statement of the group has this axis"


@intent.kernel
def unrelated(
    a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("N",)]
):
    y[...] = a[...] + 1.0
    z[...] = b[...] + 1.0


@intent.kernel
def halves(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("K", "N")]):
    y[0, :] = x[...]
    y[1, :] = x[...] * 2.0


@intent.kernel
def two_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("N",)]):
    e = I.cumsum(x[...], axis=1)
    y[...] = I.reduce.sum(e, axis=1)
    z[...] = I.reduce.sum(e, axis=0)


def test_groups_are_apart_for_the_reason_given(explained):
    for kernel, because, said in (
        (unrelated, "independent", "nothing in common"),
        (halves, "disjoint", "'y'"),
        (two_sums, "no axis", "e"),
    ):
        artifact, report = explained(kernel)
        assert len(artifact.program.segments) == len(report.groups) == 2
        (reason,) = report.apart
        assert (reason.because, reason.groups) == (because, (0, 1))
        assert said in reason.text


@intent.kernel
def points(
    x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)], n: I.InOut[I.i32, ("K",)]
):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(n[at[i]], 1)


def test_facts_of_scatters_atomics_and_parallel_points(explained):
    _, report = explained(points)
    assert [sources(group) for group in report.groups] == [{("axis_N", "scatter")}, {("axis", "parallel")}]
    assert [group.statements[0].kind for group in report.groups] == ["scatter-reduce sum", "atomic add"]


@intent.kernel
def products(
    a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("B", "K", "N")], c: I.Out[I.f32, ("B", "M", "N")]
):
    c[...] = I.matmul(a[...], b[...])


def test_batch_and_free_axes_of_a_contraction(explained):
    _, report = explained(products)
    found = sources(report.groups[0])
    assert ("axis_B", "batch axis") in found
    assert ("axis_M", "free axis") in found
    assert ("axis_N", "free axis") in found


@intent.kernel
def transposed(a: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ("N", "M")], x: I.In[I.f32, ("M", "N", "L")]):
    y[...] = I.transpose(I.reduce.sum(x[...], axis=2)) + I.full((1,), 1.0, I.f32)


def test_a_transposed_axis_is_still_the_one_it_was(explained):
    _, report = explained(transposed)
    assert {("axis_M", "free axis"), ("axis_N", "free axis")} <= sources(report.groups[0])


@intent.kernel
def shifted(x: I.InOut[I.f32, ("N",)]):
    x[1:] = x[:-1]


@intent.kernel
def ragged(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)], G: I.i32):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, G)):
        part = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[part] = x[part] * 2.0


def test_axes_stay_inside_for_the_reason_given(explained):
    _, report = explained(shifted)
    assert [r.because for r in report.groups[0].inside] == ["same element"]
    assert report.groups[0].axes == ()
    _, report = explained(ragged)
    assert [r.because for r in report.groups[0].inside] == ["run time"]
    assert [axis.extent.text for axis in report.groups[0].axes] == ["max(G, 0)"]


@intent.kernel
def local(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 4)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        counts = I.buffer((4,), I.i32, init=0)
        for j in range(x.shape[1]):
            counts[x[i, j] % 4] = counts[x[i, j] % 4] + 1
        y[i, :] = counts[...]


def test_buffers_are_called_by_their_names(explained):
    _, report = explained(local)
    assert all("'counts'" in reason.text for reason in report.groups[0].joined)


@intent.kernel
def both_parts(x: I.In[I.f32, ("M", "N")], low: I.Out[I.f32, ("M", "N")], high: I.Out[I.f32, ("M", "N")]):
    low[...] = I.minimum(x[...], 0.0)
    high[...] = I.maximum(x[...], 0.0)


def test_statements_that_read_the_same_elements_are_joined_and_fetch_them_once(explained):
    _, report = explained(both_parts)
    (group,) = report.groups
    (reason,) = group.joined
    assert reason.because == "reads"
    assert reason.text == "both read the same elements of 'x' over the same instances; they are fetched once"


@intent.kernel
def turned(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")], z: I.Out[I.f32, ("N", "N")]):
    y[...] = x[...] + 1.0
    z[...] = I.transpose(x[...], (1, 0))


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def counted_and_copied(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], n: I.InOut[I.i32, ("K",)]):
    y[...] = x[...]
    I.scatter_reduce(n, index=x[...], value=1, combine=plus)


@pytest.mark.parametrize("kernel", [turned, counted_and_copied])
def test_statements_that_read_other_elements_or_collide_stay_apart(explained, kernel):
    _, report = explained(kernel)
    assert len(report.groups) == 2
