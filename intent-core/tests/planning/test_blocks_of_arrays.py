"""Products whose operands are blocks of arrays as they lie, which tiles of their own may be for."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent import kir
from intent.construct import analyze
from intent.frontend import lower
from intent.kir.walk import walk
from intent.planning import default_plan
from intent.planning.tiles import blocks_of_arrays
from intent.provider import Capabilities, MatrixTile, PlanTable

A, B, C = I.In[I.bf16, ("M", "K")], I.In[I.bf16, ("K", "N")], I.Out[I.f32, ("M", "N")]
PLAIN, USUAL = MatrixTile(columns=256, plain=True), MatrixTile()
TARGET = Capabilities(
    dtypes=frozenset({"bf16", "f32"}),
    dot_dtypes=frozenset({("bf16", "f32")}),
    plans=PlanTable(matrix=(PLAIN, USUAL)),
)


@intent.kernel
def plain(a: A, b: B, c: C):
    c[...] = I.matmul(a[...], b[...], acc_dtype=I.f32)


@intent.kernel
def turned(a: I.In[I.bf16, ("K", "M")], b: I.In[I.bf16, ("N", "K")], c: C):
    c[...] = I.matmul(I.transpose(a[...]), b[...], transpose_rhs=True, acc_dtype=I.f32)


@intent.kernel
def one_of_many(a: I.In[I.bf16, ("G", "M", "K")], b: B, c: C, g: I.index):
    c[...] = I.matmul(a[g], b[...], acc_dtype=I.f32)


@intent.kernel
def converted(a: I.In[I.f32, ("M", "K")], b: B, c: C):
    c[...] = I.matmul(I.cast(a[...], I.bf16), b[...], acc_dtype=I.f32)


@intent.kernel
def gathered(a: A, b: B, rows: I.In[I.i32, ("R",)], c: I.Out[I.f32, ("R", "N")]):
    c[...] = I.matmul(a[I.cast(rows[...], I.index), :], b[...], acc_dtype=I.f32)


@intent.kernel
def from_the_ninth(a: A, b: B, c: I.Out[I.f32, ("R", "N")]):
    rows = I.domain(8, a.shape[0])
    c[...] = I.matmul(a[rows, :], b[...], acc_dtype=I.f32)


KERNELS = {
    plain: True, turned: True, one_of_many: True, converted: False, gathered: False, from_the_ninth: False,
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_blocks_of_arrays(kernel):
    lowered = lower(kernel, {})
    made = {int(r.id): op for op in walk(lowered.body) for r in op.results}
    (product,) = [op for op in made.values() if isinstance(op, kir.Contract)]
    assert blocks_of_arrays(product, made) is KERNELS[kernel]


@pytest.mark.parametrize(
    ("extents", "columns"),
    [
        ({"M": 256, "N": 512, "K": 192}, 256),
        ({"M": 256, "N": 512, "K": 160}, 128),
        ({"M": 255, "N": 512, "K": 192}, 128),
        ({"M": 256, "N": 640, "K": 192}, 128),
        (None, 128),
    ],
)
def test_tiles_for_them_divide_every_size_of_the_call(extents, columns):
    plan = default_plan(analyze(lower(plain, {})), TARGET, extents)
    assert dict(plan.groups[0].instance)["axis_N"] == columns
    usual = replace(TARGET, plans=PlanTable(matrix=(USUAL,)))
    if columns == USUAL.columns:
        assert plan == default_plan(analyze(lower(plain, {})), usual, extents)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_only_they_get_them(kernel):
    extents = {"G": 3, "M": 256, "N": 512, "K": 192, "R": 256}
    (group,) = default_plan(analyze(lower(kernel, {})), TARGET, extents).groups
    assert group.block("axis_N") == (PLAIN if KERNELS[kernel] else USUAL).columns
