from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import intent
from intent_testkit.cases import BY_NAME
from intent_testkit.kinds import KINDS, page
from intent_testkit.run import points, variants

ROOT = Path(__file__).resolve().parents[2]


def test_every_kind_has_something_that_shows_it():
    assert [k.number for k in KINDS] == [
        1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 17, 18, 19, 21, 22, 24, 26, 28, 29,
    ]  # fmt: skip
    assert not [k.number for k in KINDS if not k.cases and not k.tests]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.number))
def test_its_cases_and_tests_exist(kind):
    assert [name for name in kind.cases if name not in BY_NAME] == []
    for test in kind.tests:
        path, name = test.split("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, test


def test_the_page_is_made_from_the_table():
    assert (ROOT / "docs" / "cases.md").read_text(encoding="utf-8") == "\n".join(page()) + "\n"


def test_cases_of_layouts_run_in_all_of_them():
    (kind,) = (k for k in KINDS if k.number == 11)
    met = {variant for name in kind.cases for variant in variants(BY_NAME[name])}
    assert met == {"contiguous", "strided", "transposed", "flipped", "broadcast"}


def test_cases_of_extents_meet_zero_and_one():
    (kind,) = (k for k in KINDS if k.number == 9)
    for name in kind.cases:
        met = {value for point in points(BY_NAME[name]) for value in point.extents.values()}
        assert {0, 1} <= met, name


def _report(name: str, **inputs):
    case = BY_NAME[name]
    n = len(next(iter(inputs.values())))
    made = {
        spec.name: inputs[spec.name]
        if spec.name in inputs
        else np.zeros(spec.extents({"N": n, "K": 4}), spec.numpy)
        for spec in case.views
    }
    return intent.check(case.kernel, *made.values())


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 300.0, -1e20])
def test_casts_out_of_range_are_reported(wrong):
    x = np.array([1.0, wrong, 2.0], np.float32)
    report = _report("cast_f32", x=x)
    assert report
    assert "I.cast(v, I.i8)" in str(report)
    assert not _report("cast_f32", x=np.array([1.5, -3.0, 100.0], np.float32))


@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1])
def test_histogram_values_out_of_range_are_reported(wrong):
    x = np.array([0, wrong, 3], np.int32)
    assert _report("histogram_of_valid", x=x, ok=np.array([True, True, True]))
    assert not _report("histogram_of_valid", x=x, ok=np.array([True, False, True]))
