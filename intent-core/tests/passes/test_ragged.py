"""Points that walk ranges of their own, several to an instance: as far as the longest of them goes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import PlanError
from intent.physical import Reduce

LENGTHS = {
    "none": (0, 0, 0, 0, 0, 0),
    "alike": (64, 64, 64, 64, 64, 64),
    "one long": (0, 3, 200, 0, 1, 0),
    "the last": (5, 0, 63, 64, 65, 129),
}


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


@intent.kernel
def weighted_sums(
    values: I.In[I.f32, ("K",)],
    columns: I.In[I.i32, ("K",)],
    offsets: I.In[I.i32, ("P",)],
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("M",)],
):
    entries = I.domain(0, values.shape[0])
    for i in I.parallel(I.domain(0, y.shape[0])):
        row = entries[I.cast(offsets[i], I.index) : I.cast(offsets[i + 1], I.index)]
        y[i] = I.reduce.sum(values[row] * x[columns[row]], axis=0)


@pytest.mark.parametrize("points", [1, 4])
@pytest.mark.parametrize("lanes", [1, 64])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_rows_of_any_lengths_are_summed_side_by_side(stages, rng, lengths, lanes, points):
    offsets, n = offsets_of(lengths), 40
    values = rng.normal(size=offsets[-1]).astype(np.float32)
    columns = rng.integers(0, n, size=offsets[-1]).astype(np.int32)
    x = rng.normal(size=n).astype(np.float32)
    terms = values.astype(np.float64) * x[columns]
    wanted = [terms[a:b].sum() for a, b in pairwise(offsets)]
    arguments = {
        "values": values,
        "columns": columns,
        "offsets": offsets,
        "x": x,
        "y": np.full(6, 7, np.float32),
    }
    blocks = {"axis": points, "row": lanes}
    made = stages(weighted_sums, blocks, arguments, {"y": np.array(wanted)}, tolerance=1e-4)
    assert [[d.size for d in op.dims] for op in made.ops(Reduce) if op.kind == "max"] == [[points]] * (
        points > 1
    )
    if points > 1:
        (loop,) = made.loops()
        assert loop.end.uniform


def test_reads_that_keep_their_tests_take_no_loop_of_their_own(stages, rng):
    """What says that offsets lie within the arrays is tested in every block, so that no part can do without."""
    offsets = offsets_of((300, 5))
    values, columns = np.ones(305, np.float32), np.zeros(305, np.int32)
    arguments = {
        "values": values, "columns": columns, "offsets": offsets, "x": np.ones(1, np.float32),
        "y": np.full(2, 7, np.float32),
    }  # fmt: skip
    made = stages(weighted_sums, {"axis": 1, "row": 64}, arguments, {"y": np.array([300.0, 5.0])})
    assert len(made.loops()) == 2, "full blocks without the mask of the row, and its tail"


@intent.kernel
def softmax_of_groups(x: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("K",)]):
    members = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        group = members[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        e = I.exp(x[group] - I.reduce.max(x[group], axis=0))
        y[group] = e / I.reduce.sum(e, axis=0)


@pytest.mark.parametrize("points", [1, 4])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_groups_of_any_sizes_are_written_side_by_side(stages, rng, lengths, points):
    offsets = offsets_of(lengths)
    x = rng.normal(size=offsets[-1]).astype(np.float32)
    wanted = np.zeros_like(x)
    for a, b in pairwise(offsets):
        e = np.exp(x[a:b] - x[a:b].max(initial=-np.inf))
        wanted[a:b] = e / e.sum()
    arguments = {"x": x, "offsets": offsets, "y": np.full_like(x, 7)}
    stages(softmax_of_groups, {"axis": points, "group": 16}, arguments, {"y": wanted}, tolerance=1e-6)


@intent.kernel
def running_sums(x: I.In[I.f32, ("K",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("K",)]):
    members = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        group = members[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[group] = I.cumsum(x[group], axis=0)


@intent.kernel
def last_of_steps(n: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, n.shape[0])):
        last = I.cast(0, I.i32)
        for _ in I.domain(0, I.cast(n[i], I.index)):
            last = last * 3 + 1
        y[i] = last


def test_scans_of_data_s_lengths_keep_a_point_to_an_instance(constructed):
    with pytest.raises(PlanError, match="its block must be 1, not 4"):
        constructed(running_sums, {"axis": 4})


def test_loops_of_data_s_lengths_go_as_far_as_the_longest(stages):
    n = np.array([0, 3, -2, 1, 7, 0, 2], np.int32)
    wanted = [(3 ** max(k, 0) - 1) // 2 for k in n.tolist()]
    made = stages(last_of_steps, {"axis": 4}, {"n": n, "y": np.full(7, 5, np.int32)}, {"y": wanted})
    assert [op.kind for op in made.ops(Reduce)] == ["max"], "the longest is looked for once"
