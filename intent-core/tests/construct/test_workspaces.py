"""Buffers in front of distributed points: who owns what, and that nobody meets anybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.frontend import lower
from intent.physical import Load, Store
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan, minimal_plan, random_plan
from intent.provider.registry import registry
from intent.reference.physical import execute

CAPABILITIES = registry().get("reference").capabilities
EXTENTS = {"M": 5, "N": 9}


@intent.kernel
def sums(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    held = I.buffer((M, N), I.i32, init=3)
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            held[i, j] = held[i, j] + x[i, j]
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            y[i, j] = held[i, j] * 2


@intent.kernel
def rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.i32, init=1)
        for j in I.parallel(I.domain(0, N)):
            row[j] = row[j] + x[i, j]
        for j in I.parallel(I.domain(0, N)):
            y[i, j] = row[j] * 2


@intent.kernel
def counter(y: I.Out[I.i32, ("N",)]):
    taken = I.buffer((1,), I.i32, init=0)
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = I.atomic.add(taken[0], 1) * 0


@intent.kernel
def part(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    held = I.buffer((N,), I.i32, init=2)
    for i in I.parallel(I.domain(1, N)):
        held[i] = held[i] + x[i]
    for i in I.parallel(I.domain(1, N)):
        y[i] = held[i]


@intent.kernel
def across(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    """Rows meet, columns do not."""
    M, N = x.shape
    held = I.buffer((M, N), I.i32)
    held[...] = x[...] + 1
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            y[i, j] = held[M - 1 - i, j]


@intent.kernel
def begun_from_what_is_written(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    held = I.buffer(x.shape, I.i32, init=y[...])
    y[...] = x[...] + held[...]


def _labels(kernel):
    (group,) = analyze(lower(kernel, {})).groups
    return [str(axis.extent) for axis in group.axes]


@pytest.mark.parametrize(
    ("kernel", "axes"),
    [
        (sums, ["M", "N"]),
        (rows, ["M", "N"]),
        (counter, []),
        (part, []),
        (across, ["N"]),
        (begun_from_what_is_written, []),
    ],
)
def test_points_are_spread_where_each_keeps_to_its_own(kernel, axes):
    assert _labels(kernel) == axes


@pytest.mark.parametrize("kernel", [sums, rows, counter, part, across, begun_from_what_is_written])
def test_no_plan_meets_another_instance(kernel):
    lowered = lower(kernel, {})
    analysis = analyze(lowered)
    rng = np.random.default_rng(7)
    plans = [minimal_plan(analysis, CAPABILITIES, EXTENTS), default_plan(analysis, CAPABILITIES, EXTENTS)]
    plans += [random_plan(analysis, CAPABILITIES, rng, EXTENTS) for _ in range(6)]
    results = []
    for plan in plans:
        program = construct(lowered, plan, analysis)
        verify(program, lowered)
        shapes = {v.name: tuple(EXTENTS[str(e)] for e in v.shape) for v in lowered.views}
        views = {
            name: np.arange(np.prod(shape), dtype=np.int32).reshape(shape) for name, shape in shapes.items()
        }
        execute(program, views, {}, EXTENTS, order=rng, find_races=True)
        results.append(views["y"])
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_the_buffer_is_one_piece_and_begins_once():
    lowered = lower(sums, {})
    program = construct(lowered, minimal_plan(lowered, CAPABILITIES))
    (buffer,) = program.workspace
    assert (buffer.scope, [str(e) for e in buffer.shape]) == ("invocation", ["M", "N"])
    stores = [op for op in walk(program.segments[0].body) if isinstance(op, Store) and op.target == buffer]
    assert len(stores) == 2


def test_a_buffer_of_a_point_gets_its_own_row():
    lowered = lower(rows, {})
    program = construct(lowered, minimal_plan(lowered, CAPABILITIES))
    (buffer,) = program.workspace
    assert (buffer.scope, [str(e) for e in buffer.shape]) == ("invocation", ["M", "N"])


def test_where_the_inner_points_stay_inside_the_buffer_is_private():
    lowered = lower(rows, {})
    analysis = analyze(lowered)
    plan = minimal_plan(analysis, CAPABILITIES)
    (group,) = plan.groups
    outer = type(plan)(groups=(type(group)(instance=group.instance[:1]),))
    (buffer,) = construct(lowered, outer, analysis).workspace
    assert (buffer.scope, [str(e) for e in buffer.shape]) == ("program", ["N"])


@intent.kernel
def windows(x: I.In[I.i32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.i32, ("N",)]):
    for g in range(offsets.shape[0] - 1):
        window = I.domain(0, x.shape[0])[offsets[g] : offsets[g + 1]]
        values = x[window]
        own = I.buffer((values.shape[0],), I.i32, init=1)
        for k, j in I.enumerate(window):
            own[k] = own[k] + x[j]
        y[window] = y[I.indices(window)] + own[...]


@intent.kernel
def windows_in_place(offsets: I.In[I.i32, ("P",)], y: I.InOut[I.i32, ("N",)]):
    for g in range(offsets.shape[0] - 1):
        window = I.domain(0, y.shape[0])[offsets[g] : offsets[g + 1]]
        y[window] = y[window] + 2


@pytest.mark.parametrize("offsets", [[0, 2, 5], [0, 0, 5], [0, 9, 9], [2, 7, 0]])
@pytest.mark.parametrize("kernel", [windows, windows_in_place])
def test_windows_that_data_makes_too_long_stay_inside_of_their_buffers(kernel, offsets):
    """Such data breaks a rule, and has no right result; but no access leaves what it is in."""
    lowered = lower(kernel)
    analysis, rng = analyze(lowered), np.random.default_rng(3)
    extents = {"N": 5, "P": 3}
    for number in range(5):
        plan = (
            minimal_plan(analysis, CAPABILITIES, extents)
            if number == 0
            else random_plan(analysis, CAPABILITIES, rng, extents)
        )
        program = construct(lowered, plan, analysis)
        verify(program, lowered)
        views = {"x": np.arange(5, dtype=np.int32), "y": np.full(5, 7, np.int32)}
        wanted = views["y"] + (views["x"] + 1 if kernel is windows else 2)
        given = {v.name: views.get(v.name, np.array(offsets, np.int32)) for v in lowered.views}
        execute(program, given, {}, extents)
        if offsets[-1] == max(offsets) <= 5:
            np.testing.assert_array_equal(views["y"], wanted)


@intent.kernel
def looked_up(at: I.In[I.index, ("M",)], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, at.shape[0])):
        row = I.buffer((4,), I.i32, init=1)
        row[at[i]] = 7
        y[i] = row[at[i]] + row[0]


@intent.kernel
def looked_up_in_front(at: I.In[I.index, ("M",)], y: I.Out[I.i32, ("M",)]):
    held = I.buffer((at.shape[0], 4), I.i32, init=1)
    for i in I.parallel(I.domain(0, at.shape[0])):
        held[i, at[i]] = 7
    for i in I.parallel(I.domain(0, at.shape[0])):
        y[i] = held[i, at[i]] + held[i, 0]


@pytest.mark.parametrize("kernel", [looked_up, looked_up_in_front])
def test_proofs_stand_with_the_coordinates_they_are_of(kernel):
    lowered = lower(kernel)
    analysis = analyze(lowered)
    for block in (1, 4):
        plan = minimal_plan(analysis, CAPABILITIES, EXTENTS)
        groups = tuple(
            replace(g, instance=tuple((label, block) for label, _ in g.instance)) for g in plan.groups
        )
        made = construct(lowered, replace(plan, groups=groups), analysis)
        verify(made, lowered)
        at, y = np.array([0, 3, 1, 3, 2]), np.zeros(5, np.int32)
        execute(made, {"at": at, "y": y}, {}, EXTENTS)
        np.testing.assert_array_equal(y, np.where(at == 0, 14, 8))
        guarded = [op for s in made.segments for op in walk(s.body) if isinstance(op, Load | Store)
                   and any(proof.kind == "guard" for proof in op.proofs)]  # fmt: skip
        assert {type(op) for op in guarded} == {Load, Store}
        assert all([proof.kind for proof in op.proofs].index("guard") == len(op.proofs) - 1 for op in guarded)
