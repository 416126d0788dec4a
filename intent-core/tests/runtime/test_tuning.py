"""Choosing plans by measuring them."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import ArgumentDType, PlanError
from intent.planning import minimal_plan
from intent.runtime import tuning


@intent.kernel
def accumulate(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M",)], most: I.Out[I.f32, ("M",)]):
    y[...] = y[...] + I.reduce.sum(x[...], axis=1)
    most[...] = I.reduce.max(x[...], axis=1)


@pytest.fixture
def arguments():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(6, 40)).astype(np.float32), rng.normal(size=12).astype(np.float32)[::2]
    return x, y, np.full(6, 7, np.float32)


@pytest.fixture
def costs(monkeypatch):
    """Seconds in place of the clock: the fifth plan is the fastest."""
    given = iter([9.0, 8.0, 7.0, 6.0, 1.0, 5.0] + [9.0] * 100)

    def best_seconds(launch, wait):
        launch()
        wait()
        return next(given)

    monkeypatch.setattr(tuning, "_best_seconds", best_seconds)


def test_the_fastest_plan_is_used_and_nothing_is_written(arguments, costs):
    artifact = intent.compile(accumulate, "reference")
    before = [a.copy() for a in arguments]
    found = artifact.tune(*arguments, count=6)
    for now, then in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(now, then)
    assert found.seconds == 1.0
    assert len(found.measured) == 6
    assert found.plan == found.measured[4].plan
    assert artifact.plan == found.plan
    x, y, most = arguments
    wanted = y + x.sum(axis=1)
    artifact(*arguments)
    assert artifact.plan == found.plan
    np.testing.assert_allclose(y, wanted, rtol=1e-5)
    np.testing.assert_array_equal(most, x.max(axis=1))


def test_calls_known_before_use_the_new_plan(arguments, costs):
    artifact = intent.compile(accumulate, "reference")
    artifact(*arguments)
    default = artifact.plan
    found = artifact.tune(*arguments, count=6)
    assert found.plan != default
    artifact(*arguments)
    assert artifact.plan == found.plan


def test_other_extents_keep_their_own_plans(arguments, costs):
    artifact = intent.compile(accumulate, "reference")
    found = artifact.tune(*arguments, count=6)
    x = np.ones((300, 2000), np.float32)
    artifact(x, np.zeros(300, np.float32), np.zeros(300, np.float32))
    assert artifact.plan != found.plan


def test_what_was_chosen_is_saved(arguments, costs, tmp_path):
    artifact = intent.compile(accumulate, "reference")
    found = artifact.tune(*arguments, count=6)
    again = intent.load(artifact.save(tmp_path))
    again(*arguments)
    assert again.plan == found.plan


def test_candidates_begin_with_the_default_and_differ(arguments):
    artifact = intent.compile(accumulate, "reference")
    artifact.prepare(*arguments)
    default = artifact.plan
    found = artifact.tune(*arguments, count=5)
    plans = [m.plan for m in found.measured]
    assert plans[0] == default
    assert len(set(plans)) == len(plans) == 5
    assert all(m.seconds is not None and m.seconds > 0 for m in found.measured)
    assert f"the best of {len(plans)}" in str(found)


def test_a_fixed_plan_leaves_nothing_to_choose(arguments):
    first = intent.compile(accumulate, "reference")
    plan = minimal_plan(first.kir, first.provider.capabilities)
    with pytest.raises(PlanError, match="nothing to choose from"):
        intent.compile(accumulate, "reference", plan=plan).tune(*arguments)


def test_a_call_that_is_wrong_is_refused_first(arguments):
    x, y, most = arguments
    with pytest.raises(ArgumentDType):
        intent.compile(accumulate, "reference").tune(x.astype(np.float64), y, most)


def test_plans_that_fail_are_reported(arguments, make_toy):
    toy = make_toy(failing=True)
    before = arguments[1].copy()
    with pytest.raises(PlanError, match="could be measured; the first: INT092"):
        intent.compile(accumulate, toy).tune(*arguments, count=2)
    np.testing.assert_array_equal(arguments[1], before)
