"""Launch conditions of branches: asked only of calls that take the branch."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import LaunchCondition
from intent.kir.parse import parse_kernel


@intent.kernel
def part(n: I.i32, x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...]
    if n > 0:
        y[0:n] = x[0:n] * 2


@intent.kernel
def sides(n: I.i32, x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.InOut[I.f32, ("N",)]):
    if n == 1:
        y[...] = x[...] + z[...]
    elif I.cast(n, I.index) + x.shape[0] >= 9:
        y[0:n] = z[0:n]
    else:
        y[...] = x[...]


@intent.kernel
def flagged(flag: I.bool, x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.InOut[I.f32, ("N",)]):
    if not flag:
        y[...] = x[...] + z[...]


@intent.kernel
def by_data(x: I.In[I.i32, ("N",)], z: I.In[I.i32, ("M",)], y: I.InOut[I.i32, ("N",)]):
    if x[0] > 0:
        y[...] = x[...] + z[...]


@intent.kernel
def always_too(n: I.i32, x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.InOut[I.f32, ("N",)]):
    if n > 0:
        y[...] = x[...] + z[...]
    y[...] = x[...] - z[...]


@intent.kernel
def choice(n: I.i32, x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    """An ``if`` that gives a value, and one inside another."""
    if n > 0:
        held = x[...] * 2
        if n > 5:
            held = held * z[0:4][3]
    else:
        held = x[...]
    y[...] = held


X = np.arange(4, dtype=np.float32)


def _ones(count):
    return np.ones(count, np.float32)


def test_a_subregion_is_asked_for_where_it_is_used():
    artifact = intent.compile(part, "reference")
    np.testing.assert_array_equal(artifact.run(-3, X), X)
    np.testing.assert_array_equal(artifact.run(2, X), [0, 2, 2, 3])
    with pytest.raises(LaunchCondition, match=r"N >= n \(where 0 < n\)"):
        artifact.run(9, X)


def test_each_side_has_its_own_conditions():
    artifact, y = intent.compile(sides, "reference"), _ones(4)
    artifact(0, X, _ones(7), y)
    np.testing.assert_array_equal(y, X)
    artifact(1, X, _ones(4), y)
    np.testing.assert_array_equal(y, X + 1)
    with pytest.raises(LaunchCondition, match=r"where n == 1"):
        artifact(1, X, _ones(7), y)
    with pytest.raises(LaunchCondition, match=r"N >= n \(where n != 1 and n \+ N >= 9\)"):
        artifact(5, X, _ones(7), y)
    long = np.arange(9, dtype=np.float32)
    kept = _ones(9)
    artifact(3, long, _ones(7) * 5, kept)
    np.testing.assert_array_equal(kept, [5, 5, 5, 1, 1, 1, 1, 1, 1])


def test_a_flag_decides_too():
    artifact, y = intent.compile(flagged, "reference"), _ones(4)
    artifact(True, X, _ones(7), y)
    np.testing.assert_array_equal(y, _ones(4))
    for _ in range(2):
        with pytest.raises(LaunchCondition, match=r"where flag == 0"):
            artifact(False, X, _ones(7), y)
        artifact(True, X, _ones(7), y)


def test_data_decides_nothing_at_launch():
    artifact = intent.compile(by_data, "reference")
    with pytest.raises(LaunchCondition, match="N == M or N == 1 or M == 1'"):
        artifact(np.zeros(4, np.int32), np.zeros(7, np.int32), np.zeros(4, np.int32))


def test_what_is_always_needed_is_always_asked():
    artifact = intent.compile(always_too, "reference")
    with pytest.raises(LaunchCondition, match="N == M or N == 1 or M == 1'"):
        artifact(0, X, _ones(7), _ones(4))


def test_values_of_branches():
    artifact = intent.compile(choice, "reference")
    np.testing.assert_array_equal(artifact.run(0, X, _ones(7)), X)
    np.testing.assert_array_equal(artifact.run(3, X, _ones(7)), X * 2)
    np.testing.assert_array_equal(artifact.run(6, X, _ones(4) * 3), X * 6)
    np.testing.assert_array_equal(artifact.run(5, X, _ones(2)), X * 2)
    with pytest.raises(LaunchCondition, match=r"where 0 < n and 5 < n"):
        artifact.run(6, X, _ones(2))


@pytest.mark.parametrize("kernel", [part, sides, flagged, choice])
def test_the_text_holds_them(kernel):
    logical = intent.compile(kernel, "reference").kir
    assert any(c.when for c in logical.conditions)
    assert parse_kernel(str(logical)) == logical
