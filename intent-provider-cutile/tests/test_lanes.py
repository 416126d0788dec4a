"""Fragments of more elements than a target has are refused before anything is written."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, resident
from intent.diagnostics import CapabilityError


@intent.kernel
def scaled(x: I.InOut[I.f32, ("N",)]):
    x[...] = x[...] / I.reduce.max(I.abs(x[...]), axis=0)


@pytest.mark.parametrize(("lanes", "fits"), [(1 << 20, True), (1 << 21, False)])
def test_too_many_lanes(lanes, fits):
    plan = Plan(groups=(GroupPlan(inner=(("axis_N", resident(lanes)),)),))
    artifact = intent.compile(scaled, provider="cutile", plan=plan)
    if fits:
        assert artifact.source
        return
    with pytest.raises(CapabilityError, match=f"{lanes} lanes") as caught:
        _ = artifact.source
    assert caught.value.span is not None
    assert "x[...]" in str(caught.value)
