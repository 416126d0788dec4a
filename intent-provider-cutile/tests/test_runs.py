"""Rows that begin anywhere as tiles of a slice: which loops have them, and that the values stay what they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, serial
from intent.frontend import lower
from intent.physical import Guard
from intent.provider import Source
from intent_provider_cutile.build import bytecode, default_layout
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emulate.dtypes import FLOAT32
from intent_provider_cutile.emulate.memory import OutsideAccess, memory_of
from intent_provider_cutile.emulate.tile import Tile
from intent_provider_cutile.emulate.tiled import PaddingMode, TiledArray, load, store
from intent_testkit.kernels import products

RNG = np.random.default_rng(8)


@intent.kernel
def numbered(
    x: I.In[I.bf16, ("N", "K")],
    w: I.In[I.bf16, ("G", "K", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.Out[I.f32, ("N", "E")],
):
    """Rows are told apart: their numbers are values."""
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, w.shape[0])):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        made = I.matmul(x[span, :], w[g, :, :], acc_dtype=I.f32)
        y[span, :] = made + I.cast(I.indices(span), I.f32)[:, None]


@intent.kernel
def summed(
    x: I.In[I.bf16, ("N", "K")],
    w: I.In[I.bf16, ("G", "K", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.Out[I.f32, ("G", "E")],
):
    """Rows are put together."""
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, w.shape[0])):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[g, :] = I.reduce.sum(I.matmul(x[span, :], w[g, :, :], acc_dtype=I.f32), axis=0)


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


def grouped(kernel=products.grouped_matmul_bf16):
    """Two instances for a group's rows, which pass over them 16 at a time; other extents are multiples of 16."""
    analysis = analyze(lower(kernel, {}))
    blocks = {"axis_E": 16}
    (group,) = analysis.groups
    instance = tuple((a.label, blocks.get(a.label, 1)) for a in group.axes if a.owned)
    inner = tuple((label, serial(16)) for label in sorted(analysis.inner))
    plan = GroupPlan(instance=instance, inner=inner, grouped=1, split=("span", 2))
    by_name = {view.name: view for view in analysis.kernel.views}
    guards = tuple(
        Guard(kind="divisible", extent=by_name[name].shape[axis], bound=16)
        for name, axis in (("x", 1), ("y", 1))
    )
    return intent.compile(kernel, provider="cutile", plan=Plan(groups=(plan,), guards=guards))


def operands(rows):
    x = RNG.standard_normal((rows, 32), np.float32).astype(ml_dtypes.bfloat16)
    return x, RNG.standard_normal((3, 32, 32), np.float32).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    "offsets",
    [
        [0, 16, 48, 70], [0, 7, 7, 70], [5, 38, 39, 61], [0, 0, 0, 0], [-9, 20, 30, 99], [-40, -2, 3, 4],
        [70, 80, 75, 90],
    ],
    ids=str,
)  # fmt: skip
def test_rows_of_groups_are_what_they_are_by_offsets(offsets):
    x, w = operands(70)
    y = np.full((70, 32), 7, ml_dtypes.bfloat16)
    want = y.copy()
    for g, (first, last) in enumerate(pairwise(offsets)):
        rows = slice(min(max(first, 0), 70), min(max(last, 0), 70))
        want[rows] = (x[rows].astype(np.float32) @ w[g].astype(np.float32)).astype(ml_dtypes.bfloat16)
    made = grouped()
    assert made.source.count("_rows = ") == 2
    made(x, w, np.array(offsets, np.int32), y)
    np.testing.assert_allclose(y.astype(np.float32), want.astype(np.float32), rtol=2**-6, atol=1e-2)
    np.testing.assert_array_equal(y == 7, want == 7)


def test_arrays_without_rows_are_never_cut():
    x, w = operands(0)
    y = np.zeros((0, 32), ml_dtypes.bfloat16)
    grouped()(x, w, np.array([-20, 5, 9, 40], np.int32), y)


@pytest.mark.parametrize("kernel", [numbered, summed])
def test_rows_that_are_told_apart_or_put_together_keep_their_lanes(kernel):
    assert ".slice(" not in grouped(kernel).source


def test_numbers_of_rows_as_values_are_right():
    x, w = operands(40)
    y = np.zeros((40, 32), np.float32)
    grouped(numbered)(x, w, np.array([3, 20, 21, 40], np.int32), y)
    row = np.arange(20, 21)
    want = x[row].astype(np.float32) @ w[1].astype(np.float32) + 20
    np.testing.assert_allclose(y[row], want, rtol=1e-4, atol=1e-3)


def test_the_front_end_takes_slices():
    program = grouped().program
    emitted = emit(program)
    assert ".slice(" in emitted.text
    assert ".slice(" not in emit(program, tiles=False).text
    source = Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)
    assert bytecode(source)
    assert bytecode(source, replace(default_layout(emitted.signature), small=False))


def test_slices_of_the_stand_in():
    values = np.arange(24, dtype=np.float32).reshape(6, 4)
    array = TiledArray(memory_of("x", values, values.ctypes.data, FLOAT32), (6, 4), (4, 1))
    part = array.slice(0, 1, 4)
    tile = load(part, (0, 1), (4, 2), padding_mode=PaddingMode.ZERO)
    np.testing.assert_array_equal(tile.data, [[6, 7], [10, 11], [14, 15], [0, 0]])
    store(part, (0, 0), Tile(np.zeros((4, 4), np.float32), FLOAT32))
    np.testing.assert_array_equal(values.sum(axis=1), [6, 0, 0, 0, 70, 86])
    with pytest.raises(OutsideAccess):
        load(part, (1, 0), (4, 4), padding_mode=PaddingMode.ZERO)
    for first, last in ((-1, 2), (6, 6), (3, 2), (3, 7)):
        with pytest.raises(OutsideAccess):
            array.slice(0, first, last)
