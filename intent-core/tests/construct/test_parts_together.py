"""The last instance puts parts together: all at once, some at once, or one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import Plan, analyze, construct, serial
from intent.construct.plan import GroupPlan
from intent.frontend import lower
from intent.physical import Loop, Program, Reduce
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference import physical


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def product(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("M", "M")]):
    y[...] = I.contract(x[...], w[...], acc_dtype=I.f32)


def _parts(kernel, count: int) -> Program:
    lowered = lower(kernel)
    analysis = analyze(lowered)
    (group,) = analysis.groups
    instance = tuple((axis.label, 1) for axis in group.axes)
    plan = GroupPlan(instance=instance, inner=(("axis_N", serial(2)),), split=("axis_N", count))
    made = construct(lowered, Plan(groups=(plan,)), analysis)
    verify(made, lowered)
    return made


@pytest.mark.parametrize("kernel", [row_sums, product])
@pytest.mark.parametrize(("most", "at_once"), [(4096, 8), (8, 8), (7, 4), (2, 2), (1, 1)])
def test_as_many_parts_at_once_as_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator, kernel, most: int, at_once: int
) -> None:
    monkeypatch.setattr("intent.construct.split.STATES_AT_ONCE", most)
    made = _parts(kernel, 7)
    lanes = [d.size for op in walk(made.segments[0].body) if isinstance(op, Reduce) for d in op.dims
             if d.name.endswith("_parts")]  # fmt: skip
    assert lanes == ([at_once] if at_once > 1 else [])
    loops = [op for op in walk(made.segments[0].body) if isinstance(op, Loop)]
    assert len(loops) == 1 + (at_once < 8), "the walk of a part, and that of the parts"
    x = rng.integers(-9, 9, (3, 25)).astype(np.float32)
    w = rng.integers(-9, 9, (25, 3)).astype(np.float32)
    views = {"x": x, "w": w, "y": np.zeros((3, 3), np.float32)}
    wanted = x @ w
    if kernel is row_sums:
        views, wanted = {"x": x, "y": np.zeros(3, np.float32)}, x.sum(axis=1)
    physical.execute(made, views, {}, {"M": 3, "N": 25}, order=rng)
    np.testing.assert_array_equal(views["y"], wanted)
