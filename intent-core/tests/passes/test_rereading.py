"""Walks over a row say which of their reads come again."""

from __future__ import annotations

import numpy as np

import intent
import intent.language as I
from intent.physical import Load

BLOCKS = {"axis_N": 8, "axis_M": 4}


@intent.kernel
def scaled_softmax(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    v = x[...] * w[...][None, :]
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def row_max(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...], axis=1)


def marks(made, name):
    return [op.reread for op in made.ops(Load) if op.source.name == name]


def run(stages, rng, n):
    x, w = (rng.normal(size=shape).astype(np.float32) for shape in ((5, n), (n,)))
    v = x.astype(np.float64) * w
    e = np.exp(v - v.max(1, keepdims=True))
    given = {"x": x, "w": w, "y": np.zeros((5, n), np.float32)}
    return stages(scaled_softmax, BLOCKS, given, {"y": e / e.sum(1, keepdims=True)}, tolerance=1e-5)


def test_all_walks_but_the_last_say_again(stages, rng):
    assert marks(run(stages, rng, 37), "x") == ["again", "again", "last"]


def test_parts_of_walks_that_peeling_made_are_walks_of_their_own(stages, rng):
    """Whole blocks, and the rest: two loops of each of three walks."""
    x, w = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 200), (200,)))
    v = x.astype(np.float64) * w
    e = np.exp(v - v.max(1, keepdims=True))
    given = {"x": x, "w": w, "y": np.zeros((2, 200), np.float32)}
    wanted = {"y": e / e.sum(1, keepdims=True)}
    made = stages(scaled_softmax, {"axis_M": 1, "axis_N": 64}, given, wanted, tolerance=1e-5)
    assert marks(made, "x") == ["again", "again", "again", "again", "last", "last"]
    assert set(marks(made, "w")) == {""}


def test_what_all_instances_read_is_left_as_it_is(stages, rng):
    assert set(marks(run(stages, rng, 37), "w")) == {""}


def test_one_walk_says_nothing(stages, rng):
    x = rng.normal(size=(5, 37)).astype(np.float32)
    made = stages(row_max, BLOCKS, {"x": x, "y": np.zeros(5, np.float32)}, {"y": x.max(1)})
    assert set(marks(made, "x")) == {""}


def test_a_row_that_is_held_is_read_once(stages, rng):
    x = rng.normal(size=(5, 21)).astype(np.float32)
    e = np.exp(x.astype(np.float64) * 2 - (x.astype(np.float64) * 2).max(1, keepdims=True))
    given = {"x": x, "w": np.full(21, 2, np.float32), "y": np.zeros((5, 21), np.float32)}
    made = stages(scaled_softmax, {"axis_M": 4}, given, {"y": e / e.sum(1, keepdims=True)}, tolerance=1e-5)
    assert set(marks(made, "x")) == {""}


def test_a_place_is_an_instance_s_own_if_some_of_it_is(stages, rng):
    """The first column that an instance reads is its number; the others follow from that and from lanes."""

    @intent.kernel
    def windows(x: I.In[I.f32, ("K",)], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
        M, N = y.shape
        places = I.indices(I.domain(0, M))[:, None] + I.indices(I.domain(0, N))[None, :]
        v = I.gather(x[...], index=places) * w[...][None, :]
        y[...] = v / I.reduce.sum(I.abs(v), axis=1)[:, None]

    x, w = rng.normal(size=41).astype(np.float32), rng.normal(size=37).astype(np.float32)
    v = np.lib.stride_tricks.sliding_window_view(x, 37).astype(np.float64) * w
    given = {"x": x, "w": w, "y": np.zeros((5, 37), np.float32)}
    made = stages(windows, BLOCKS, given, {"y": v / abs(v).sum(1, keepdims=True)}, tolerance=1e-5)
    assert marks(made, "x") == ["again", "last"]
    assert set(marks(made, "w")) == {""}
