"""Which normalisations take one pass: the plan says so by the length of the row, and the author permits it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import analyze
from intent.construct.plan_record import plan_of_record, record_of_plan
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import PlanTable, Walk
from intent.provider.registry import registry

TABLE = PlanTable(resident=1024, walks=(Walk(row=4096, block=512, online=False), Walk(block=512)))


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    shifted = I.exp(x[...] - I.reduce.max(x[...], axis=1)[:, None])
    y[...] = shifted / I.reduce.sum(shifted, axis=1)[:, None]


@pytest.mark.parametrize(("n", "online"), [(512, True), (4096, False), (8192, True)])
def test_rows_of_some_lengths_are_read_twice(n, online):
    capabilities = replace(registry().get("reference").capabilities, plans=TABLE)
    plan = default_plan(analyze(lower(softmax, {})), capabilities, {"M": 100, "N": n})
    assert plan.online is online
    assert ("two passes" in str(plan)) is not online
    assert plan_of_record(record_of_plan(plan)).online is online


@pytest.mark.parametrize("online", [True, False])
def test_the_plan_decides_within_what_the_author_permits(online):
    capabilities = replace(registry().get("reference").capabilities, plans=TABLE)
    plan = replace(
        default_plan(analyze(lower(softmax, {})), capabilities, {"M": 100, "N": 8192}), online=online
    )
    relaxed = intent.CompileOptions(numerics="relaxed_normalization")
    loops = [
        sum(
            type(op).__name__ == "Loop"
            for op in intent.compile(softmax, "reference", plan=plan, options=o).program.segments[0].body.ops
        )
        for o in (relaxed, intent.CompileOptions())
    ]
    assert (loops[0] < loops[1]) is online
