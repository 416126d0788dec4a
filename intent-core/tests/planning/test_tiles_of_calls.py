"""Which tile a product takes at a call's sizes."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct import serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import Capabilities, MatrixTile, PlanTable


@intent.kernel
def product(a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.matmul(a[...], b[...], acc_dtype=I.f32)


@intent.kernel
def copies(
    a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("K", "N")], s: I.In[I.f32, ("P",)],
    y: I.Out[I.f32, ("P", "M", "N")],
):  # fmt: skip
    """One product, scaled by several numbers: no instance has one of its own."""
    y[...] = I.matmul(a[...], b[...], acc_dtype=I.f32)[None, :, :] * s[...][:, None, None]


@intent.kernel
def batch(
    a: I.In[I.bf16, ("P", "M", "K")], b: I.In[I.bf16, ("P", "K", "N")], y: I.Out[I.f32, ("P", "M", "N")]
):
    y[...] = I.matmul(a[...], b[...], acc_dtype=I.f32)


def target(*tiles: MatrixTile) -> Capabilities:
    return Capabilities(
        dtypes=frozenset({"bf16", "f32"}),
        dot_dtypes=frozenset({("bf16", "f32")}),
        plans=PlanTable(matrix=tiles),
    )


@pytest.mark.parametrize(("m", "n", "summed"), [(16, 4096, 128), (4096, 16, 128), (4096, 4096, 32)])
def test_the_shorter_side_decides(m, n, summed):
    able = target(
        MatrixTile(least=256, summed=32, whole=32), MatrixTile(rows=16, columns=128, summed=128, whole=32)
    )
    (group,) = default_plan(lower(product), able, {"M": m, "N": n, "K": 4096}).groups
    assert group.traversal("axis_K") == serial(summed)


@pytest.mark.parametrize(("kernel", "rows"), [(batch, 64), (copies, 32)])
def test_copies_of_a_product_are_no_batch(kernel, rows):
    """8 x 8 tiles of 64 x 64: four times as many are at least 100, once as many are not."""
    able = target(MatrixTile(rows=64, columns=64, tiles=100), MatrixTile(rows=32, columns=64))
    (group,) = default_plan(lower(kernel), able, {"P": 4, "M": 512, "N": 512, "K": 64}).groups
    assert (group.block("axis_M"), group.block("axis_N")) == (rows, 64)
