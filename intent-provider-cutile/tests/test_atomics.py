"""Atomics: what the compiler is told of their lanes."""

from __future__ import annotations

import numpy as np
import pytest

import intent
from intent.planning import default_plan
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emit import emit
from intent_testkit.kernels import memory
from intent_testkit.programs import rare


def rows_added(n, d, k):
    kernel = memory.scatter_add_rows
    plan = default_plan(intent.compile(kernel, "cutile").kir, CAPABILITIES, {"N": n, "D": d, "K": k})
    return intent.compile(kernel, "cutile", plan=plan)


@pytest.mark.parametrize(("n", "d", "told"), [(64, 1024, 1), (8, 8, 0)])
def test_lanes_of_wide_atomics_do_not_look_like_vectors(n, d, told):
    artifact = rows_added(n, d, 16)
    assert artifact.source.count("ct.where(pid >= 0, ") == told
    assert bytecode(artifact.variant.source)


def test_rows_are_added_where_their_numbers_say(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 512), np.float32)
    at = rng.integers(-1, 8, 40).astype(np.int32)
    y = np.zeros((7, 512), np.float32)
    wanted = np.zeros((7, 512))
    for row, number in zip(x, at, strict=True):
        if 0 <= number < 7:
            wanted[number] += row
    rows_added(40, 512, 7)(x, at, y)
    np.testing.assert_allclose(y, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "lanes", "hidden"),
    [("f32", 256, True), ("f32", 128, False), ("i64", 512, True), ("i32", 256, True), ("f64", 128, False)],
)
def test_neighbours_of_many_lanes_are_hidden_from_the_compiler(dtype, lanes, hidden):
    text = emit(rare.unread("add", dtype, lanes)).text
    assert ("ct.where(pid >= 0, " in text) is hidden
