"""Barriers where a program has fences."""

from __future__ import annotations

import re

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, serial


@intent.kernel
def first_of_the_most(x: I.In[I.f32, ("N",)], y: I.Out[I.i64, ()]):
    _, where = I.arg_reduce.max(x[...], axis=0)
    y[...] = where


def test_one_barrier_does_for_fences_in_a_row():
    """Both components that an instance leaves are fenced before it arrives, and both again by the last one."""
    group = GroupPlan(inner=(("axis_N", serial(64)),), split=("axis_N", 4))
    artifact = intent.compile(first_of_the_most, provider="triton", plan=Plan(groups=(group,)))
    text = str(artifact.source)
    assert len(re.findall(r"tl.store\(part_", text)) == 2
    assert not re.search(r"debug_barrier\(\)\n\s*tl.debug_barrier", text)
    stored, arrived = text.index("tl.store(part"), text.index("tl.atomic_add(arrivals")
    assert "tl.debug_barrier()" in text[stored:arrived]
