"""Products of products: which axes are heads, and the tile that the longest head wants."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import analyze, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.planning.chained import heads_of
from intent.provider import Capabilities, ChainTile, PlanTable

SHORT = ChainTile(rows=16, walked=32, head=64)
LONG = ChainTile(rows=32, walked=16, head=128)
ANY = ChainTile(rows=64, walked=64)
TARGET = Capabilities(
    dtypes=frozenset({"bf16", "f32"}),
    dot_dtypes=frozenset({("bf16", "f32")}),
    plans=PlanTable(chains=(SHORT, LONG, ANY)),
)


@intent.kernel
def chained(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], w: I.In[I.f32, ("N", "P")],
    y: I.Out[I.f32, ("M", "P")],
):  # fmt: skip
    y[...] = I.matmul(I.matmul(a[...], b[...]), w[...])


@intent.kernel
def alone(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], w: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.matmul(a[...], b[...]) + I.matmul(a[...], w[...])


@intent.kernel
def attention(
    q: I.In[I.bf16, ("M", "D")], k: I.In[I.bf16, ("N", "D")], v: I.In[I.bf16, ("N", "E")],
    y: I.Out[I.bf16, ("M", "E")],
):  # fmt: skip
    logits = I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32)
    e = I.exp(logits - I.reduce.max(logits, axis=1)[:, None])
    weights = e / I.reduce.sum(e, axis=1)[:, None]
    y[...] = I.cast(I.matmul(I.cast(weights, I.bf16), v[...], acc_dtype=I.f32), I.bf16)


@intent.kernel
def attention_of_heads(
    q: I.In[I.bf16, ("H", "M", "D")], k: I.In[I.bf16, ("H", "N", "D")], v: I.In[I.bf16, ("H", "N", "D")],
    y: I.Out[I.bf16, ("H", "M", "D")],
):  # fmt: skip
    for h in I.parallel(I.domain(0, q.shape[0])):
        logits = I.matmul(q[h, :, :], k[h, :, :], transpose_rhs=True, acc_dtype=I.f32)
        e = I.exp(logits - I.reduce.max(logits, axis=1)[:, None])
        weights = e / I.reduce.sum(e, axis=1)[:, None]
        y[h, :, :] = I.cast(I.matmul(I.cast(weights, I.bf16), v[h, :, :], acc_dtype=I.f32), I.bf16)


@pytest.mark.parametrize(
    ("kernel", "heads"),
    [(chained, {"axis_K", "axis_P"}), (attention, {"axis_D", "axis_E"}), (alone, set())],
)
def test_heads_are_what_only_one_product_of_a_chain_has(kernel, heads):
    assert heads_of(analyze(lower(kernel))) == heads


@pytest.mark.parametrize(
    ("d", "e", "tile"), [(64, 64, SHORT), (64, 128, LONG), (128, 64, LONG), (128, 200, ANY), (129, 32, ANY)]
)
def test_the_longest_head_decides(d, e, tile):
    plan = default_plan(lower(attention), TARGET, {"M": 4096, "N": 4096, "D": d, "E": e})
    (group,) = plan.groups
    assert dict(group.instance) == {"axis_M": tile.rows}
    assert group.traversal("axis_N") == serial(tile.walked)


@pytest.mark.parametrize(("heads", "rows", "walked"), [(4096, 16, 128), (16, 4096, 32)])
def test_rows_are_counted_and_not_their_heads(heads, rows, walked):
    few = ChainTile(rows=16, walked=128, most=16)
    target = replace(TARGET, plans=PlanTable(chains=(few, SHORT)))
    plan = default_plan(lower(attention_of_heads), target, {"H": heads, "M": rows, "N": 4096, "D": 64})
    assert plan.groups[0].traversal("axis_N") == serial(walked)
