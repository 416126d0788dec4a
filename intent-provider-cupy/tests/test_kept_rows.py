"""Rows that several walks read stay in shared memory: right, and read from memory once, as far as they fit."""

from __future__ import annotations

import re
from dataclasses import replace

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import serial
from intent.construct.plan import knobs
from intent.runtime import variants
from intent.runtime.cache import Memory
from intent_provider_cupy.emulate import launcher

BLOCK = 256


@pytest.fixture(autouse=True)
def emulation(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@intent.kernel
def softmax_bf16(x: I.In[I.bf16, ("M", "N")], y: I.Out[I.bf16, ("M", "N")]):
    v = I.cast(x[...], I.f32)
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = I.cast(e / I.reduce.sum(e, axis=1)[:, None], I.bf16)


@intent.kernel
def scaled_in_place(x: I.InOut[I.f32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        top = I.reduce.max(x[i, :], axis=0)
        x[i, :] = x[i, :] / top
        total = I.reduce.sum(x[i, :], axis=0)
        x[i, :] = x[i, :] - total


@intent.kernel
def beside_the_next(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M = x.shape[0]
    for i in I.parallel(I.domain(0, M - 1)):
        mine, other = x[i, :], x[i + 1, :]
        y[i, :] = mine / I.reduce.max(mine, axis=0) + other / I.reduce.max(other, axis=0)


def made(kernel, shape, kept, rows=1, warps=2, block=BLOCK):
    first = kernels.compiled(kernel, dict(zip("MN", shape, strict=True)))
    (group,) = first.plan.groups
    instance = tuple((label, rows) for label, _ in group.instance)
    group = replace(group, instance=instance, inner=tuple((a, serial(block)) for a, _ in group.inner))
    settings = knobs({"num_warps": warps, "kept_kilobytes": kept})
    return intent.compile(
        kernel, provider="cupy", plan=replace(first.plan, guards=(), knobs=settings, groups=(group,))
    )


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("kept", [0, 1, 3, 8])
@pytest.mark.parametrize("n", [5 * BLOCK, 1000, 1001, 100])
@pytest.mark.parametrize("kernel", [kernels.softmax, softmax_bf16])
def test_rows_of_any_length(kernel, n, kept):
    m = 3
    artifact = made(kernel, (m, n), kept)
    text = kernels.kernel_text(artifact)
    assert ("x_row = it_piece<" in text) == (kept > 0)
    dtype = np.float32 if kernel is kernels.softmax else ml_dtypes.bfloat16
    x = (4 * np.random.default_rng(n).standard_normal((m, n))).astype(dtype)
    y = np.full((m, n), np.nan, dtype)
    artifact(x, y)
    tolerance = 1e-5 if kernel is kernels.softmax else 1e-2
    np.testing.assert_allclose(y.astype(np.float64), softmax(x), rtol=tolerance, atol=1e-12)


@pytest.mark.parametrize("rows", [2, 4])
def test_several_rows_have_arrays_of_their_own(rows):
    m, n = 5, 1000
    artifact = made(softmax_bf16, (m, n), 2 * rows, rows=rows)
    assert f"it_piece<it_bf16>(0, {rows * 4 * BLOCK})" in kernels.kernel_text(artifact)
    x = np.random.default_rng(rows).standard_normal((m, n)).astype(ml_dtypes.bfloat16)
    y = np.full((m, n), np.nan, ml_dtypes.bfloat16)
    artifact(x, y)
    np.testing.assert_allclose(y.astype(np.float64), softmax(x), rtol=1e-2, atol=1e-12)


def test_only_the_first_walk_reads_memory(monkeypatch):
    built = launcher.kernel

    def chosen(text, *rest):
        assert text.count("else it_load<4>(") == 4, "two later walks of vectors, in two parts each"
        return built(text.replace("else it_load<4>(", "else if (false) it_load<4>("), *rest)

    monkeypatch.setattr(launcher, "kernel", chosen)
    monkeypatch.setattr(variants, "_VARIANTS", Memory())
    artifact = made(kernels.softmax, (2, 4 * BLOCK), 4)
    x = np.random.default_rng(0).standard_normal((2, 4 * BLOCK)).astype(np.float32)
    y = np.full_like(x, np.nan)
    artifact(x, y)
    np.testing.assert_allclose(y, softmax(x), rtol=1e-5)


def test_rows_that_are_written_in_between_are_read_again():
    m, n = 2, 1000
    artifact = made(scaled_in_place, (m, n), 8)
    assert "x_row" not in kernels.kernel_text(artifact)
    x = np.random.default_rng(1).uniform(1, 2, (m, n)).astype(np.float32)
    scaled = x.astype(np.float64) / x.max(1, keepdims=True)
    artifact(x)
    np.testing.assert_allclose(x, scaled - scaled.sum(1, keepdims=True), rtol=1e-4)


def test_another_row_is_not_the_one_that_is_kept():
    m, n = 3, 1000
    artifact = made(beside_the_next, (m, n), 16)
    assert kernels.kernel_text(artifact).count("_row = it_piece<") == 1, "there is room for one row"
    x = np.random.default_rng(3).uniform(1, 2, (m, n)).astype(np.float32)
    y = np.full_like(x, np.nan)
    artifact(x, y)
    scaled = x / x.max(1, keepdims=True)
    np.testing.assert_allclose(y[:-1], scaled[:-1] + scaled[1:], rtol=1e-6)


def test_what_does_not_fit_is_read_again():
    text = kernels.kernel_text(made(kernels.softmax, (2, 1 << 20), 200, warps=8, block=8192))
    lanes = int(re.search(r"x_row = it_piece<float>\(0, (\d+)\)", text)[1])
    assert lanes == 200 * 1024 // 4 // 8192 * 8192
    assert f"<= {lanes - 8192}" in text
