"""Products by multiply-adds of operands that are copied ahead: exact on small integers, however operands lie."""

from __future__ import annotations

from dataclasses import replace

import cupy_kernels as kernels
import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import serial
from intent.construct.plan import knobs
from intent_provider_cupy.emit.tiled import UNROLLED


@intent.kernel
def f32(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def f64_turned(a: I.In[I.f64, ("K", "M")], b: I.In[I.f64, ("N", "K")], c: I.Out[I.f64, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...], transpose_lhs=True, transpose_rhs=True)


@intent.kernel
def i32(a: I.In[I.i32, ("M", "K")], b: I.In[I.i32, ("N", "K")], c: I.Out[I.i32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...], transpose_rhs=True)


KERNELS = {
    "f32": (f32, np.float32, False, False),
    "f64": (f64_turned, np.float64, True, True),
    "i32": (i32, np.int32, False, True),
}
TILES = [
    # rows, columns, summed lanes, warps, stages
    (64, 64, 32, 4, 3),
    (32, 64, 16, 8, 2),
    (16, 128, 4, 1, 3),
    (4, 8, 64, 1, 2),
    (128, 32, 32, 4, 2),
    (64, 128, 64, 2, 2),
]


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_products(name, tile, monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    kernel, dtype, left, right = KERNELS[name]
    rows, columns, summed, warps, stages = tile
    m, n, k = rows + 5, columns + 4, 3 * summed + 4
    first = kernels.compiled(kernel, {"M": m, "N": n, "K": k})
    (group,) = first.plan.groups
    blocks = zip((label for label, _ in group.instance), (rows, columns), strict=True)
    group = replace(group, instance=tuple(blocks), inner=tuple((a, serial(summed)) for a, _ in group.inner))
    settings = knobs({"num_warps": warps, "num_stages": stages})
    plan = replace(first.plan, guards=(), knobs=settings, groups=(group,))
    artifact = intent.compile(kernel, provider="cupy", plan=plan)
    text = kernels.kernel_text(artifact)
    assert "it_copy_async" in text
    assert ("it_each(step_k, " in text) == (rows * columns * summed // (32 * warps) <= UNROLLED)
    assert "const int k = step_k * " in text
    assert "it_place" not in text, "places in a row differ by constants"
    rng = np.random.default_rng(0)
    a = rng.integers(-99, 100, (k, m) if left else (m, k)).astype(dtype)
    b = rng.integers(-99, 100, (n, k) if right else (k, n)).astype(dtype)
    c = np.full((m, n), -1, dtype)
    artifact(a, b, c)
    np.testing.assert_array_equal(c, (a.T if left else a) @ (b.T if right else b))
