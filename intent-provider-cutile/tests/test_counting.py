"""Histograms of few bins in the text: lanes count in registers, and memory is met once in some thousand values."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import intent
from intent.construct import GroupPlan, Plan, analyze, resident, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_testkit.kernels import counting


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


def compiled(kernel=counting.histogram_whole, *, bins, split=None, planes=True):
    inner = (("axis_N", serial(8)), ("axis_K", resident(bins)))
    plan = Plan(groups=(GroupPlan(inner=inner, split=split),), planes=planes, peel=split is None)
    return intent.compile(kernel, provider="cutile", plan=plan)


@pytest.mark.parametrize("split", [None, ("axis_N", 3)])
@pytest.mark.parametrize(("values", "bins"), [(0, 9), (5, 64), (128, 64), (777, 40)])
def test_lanes_count_what_there_is(values, bins, split):
    x = np.random.default_rng(3).integers(0, bins, values).astype(np.int32)
    y = np.full(bins, 77, np.int32)
    compiled(bins=1 << (bins - 1).bit_length(), split=split)(x, y)
    np.testing.assert_array_equal(y, np.bincount(x, minlength=bins))


@pytest.mark.parametrize("split", [None, ("axis_N", 3)])
def test_what_is_no_bin_counts_nowhere(split):
    rng = np.random.default_rng(3)
    odd = np.array([-1, 40, 64, 2**32, 2**40 + 1, -(2**63), 2**63 - 1])
    x = np.where(rng.random(333) < 0.5, rng.integers(0, 40, 333), rng.choice(odd, 333))
    y = np.full(40, 77, np.int64)
    compiled(counting.histogram_of_wide, bins=64, split=split)(x, y)
    np.testing.assert_array_equal(y, np.bincount(x[(x >= 0) & (x < 40)], minlength=40))


def test_the_compiler_takes_the_default_plan_of_many_values():
    """128 values a pass, 16 passes at once, and no atomic among them."""
    analysis = analyze(lower(counting.histogram_whole))
    plan = default_plan(analysis, CAPABILITIES, {"N": 1 << 27, "K": 256})
    assert plan.planes
    source = intent.compile(counting.histogram_whole, provider="cutile", plan=plan).variant.source
    assert bytecode(source)
    loops = re.split(r"\n +for ", source.text)
    counted = next(part for part in loops if part.count("x.load_offset") == 16)
    assert "atomic" not in counted
    assert counted.count("ct.where") == 16
    assert "ct.full((8, 128), 0, ct.uint32)" in source.text


def test_atomics_count_where_the_plan_says_nothing():
    text = compiled(bins=64, planes=False).variant.source.text
    assert text.count("atomic_add_offset") == 1
    assert re.search(r"atomic_add_offset\(.*x_value", text, re.DOTALL)
    assert "ct.uint32" not in text


def test_plans_say_it():
    assert "histograms: in bit planes" in str(replace(Plan(groups=(GroupPlan(),)), planes=True))
