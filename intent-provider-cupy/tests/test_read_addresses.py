"""Operands whose addresses are read from memory: copied ahead like others, with addresses read a pass before."""

from __future__ import annotations

from dataclasses import replace

import cupy_kernels as kernels
import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import serial
from intent.construct.plan import knobs
from intent.runtime import variants
from intent.runtime.cache import Memory
from intent_provider_cupy.emulate import launcher
from intent_testkit.kernels import serving

STEP = 32


@pytest.fixture(autouse=True)
def emulation(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@intent.kernel
def gathered(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("P", "N")],
    at: I.In[I.i32, ("K",)],
    c: I.Out[I.f32, ("M", "N")],
):
    """Rows of ``b`` by numbers in ``at``."""
    c[...] = I.matmul(a[...], b[at[...], :], acc_dtype=I.f32)


@intent.kernel
def gathered_twice(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("P", "N")],
    at: I.In[I.i32, ("Q",)],
    where: I.In[I.i32, ("K",)],
    c: I.Out[I.f32, ("M", "N")],
):
    """Rows of ``b`` by numbers at numbers."""
    c[...] = I.matmul(a[...], b[at[where[...]], :], acc_dtype=I.f32)


@intent.kernel
def gathered_beside(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("P", "N")],
    at: I.In[I.i32, ("K",)],
    c: I.Out[I.f32, ("M", "N")],
    sums: I.Out[I.i32, ("M",)],
):
    """As ``gathered``, but ``sums`` may be what ``at`` is: nobody says that it is not."""
    made = I.matmul(a[...], b[at[...], :], acc_dtype=I.f32)
    c[...] = made
    sums[...] = I.cast(I.reduce.sum(made, axis=1), I.i32)


def _planned(kernel, extents, stages, warps=4):
    first = kernels.compiled(kernel, extents)
    groups = tuple(
        replace(
            g,
            inner=tuple((x, serial(STEP) if x == "axis_K" else inner) for x, inner in g.inner),
            instance=tuple((x, 16 if x == "axis_M" else 32 if x == "axis_N" else n) for x, n in g.instance),
        )
        for g in first.plan.groups
    )
    settings = knobs({"num_warps": warps, "num_stages": stages})
    return intent.compile(
        kernel, provider="cupy", plan=replace(first.plan, guards=(), knobs=settings, groups=groups)
    )


def _given(passes, rows=40):
    m, n, k = 21, 40, passes * STEP - 5
    rng = np.random.default_rng(passes)
    a = rng.integers(-3, 4, (m, k)).astype(np.float16)
    b = rng.integers(-3, 4, (rows, n)).astype(np.float16)
    return a, b, rng.integers(0, rows, k).astype(np.int32), np.full((m, n), np.nan, np.float32)


def _product(a, b, at):
    return a.astype(np.float64) @ b.astype(np.float64)[at]


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("passes", [1, 2, 3, 6])
def test_rows_that_are_found_in_memory(passes, stages):
    a, b, at, c = _given(passes)
    artifact = _planned(gathered, {"M": 21, "N": 40, "K": len(at), "P": 40}, stages)
    text = kernels.kernel_text(artifact)
    assert "t_ahead = at_value" in text
    assert "it_copy_async<8>(operand_tile" in text
    artifact(a, b, at, c)
    np.testing.assert_array_equal(c, _product(a, b, at))


def test_a_single_stage_copies_nothing_ahead():
    a, b, at, c = _given(3)
    artifact = _planned(gathered, {"M": 21, "N": 40, "K": len(at), "P": 40}, 1)
    assert "ahead" not in kernels.kernel_text(artifact)
    artifact(a, b, at, c)
    np.testing.assert_array_equal(c, _product(a, b, at))


def test_addresses_of_addresses():
    a, b, at, c = _given(4)
    where = np.random.default_rng(1).integers(0, len(at), len(at)).astype(np.int32)
    artifact = _planned(gathered_twice, {"M": 21, "N": 40, "K": len(at), "P": 40, "Q": len(at)}, 3)
    assert "t_ahead = at_value" in kernels.kernel_text(artifact)
    artifact(a, b, at, where, c)
    np.testing.assert_array_equal(c, _product(a, b, at[where]))


def test_addresses_that_may_change_are_read_when_they_are_needed():
    a, b, at, c = _given(3)
    sums = np.zeros(len(a), np.int32)
    artifact = _planned(gathered_beside, {"M": 21, "N": 40, "K": len(at), "P": 40}, 3)
    assert "at_value" in kernels.kernel_text(artifact)
    assert "at_value_ahead" not in kernels.kernel_text(artifact)
    assert "t_ahead" not in kernels.kernel_text(artifact)
    artifact(a, b, at, c, sums)
    np.testing.assert_array_equal(c, _product(a, b, at))
    np.testing.assert_array_equal(sums, _product(a, b, at).sum(1))


HEADS = {"B": 2, "G": 2, "R": 4, "D": 32, "S": 8, "L": 40, "P": 85}
LENGTHS = (320, 177)


def _paged(stages=3, warps=4, block=STEP):
    """Paged decode as the default plan has it for a few heads, in two parts."""
    first = kernels.compiled(serving.paged_decode, {**HEADS, "B": 16, "S": 16, "L": 512})
    (group,) = first.plan.groups
    label, _ = group.split
    inner = tuple((x, serial(block) if x == label else how) for x, how in group.inner)
    group = replace(group, split=(label, 2), inner=inner)
    settings = knobs({**dict(first.plan.knobs), "num_warps": warps, "num_stages": stages})
    plan = replace(first.plan, groups=(group,), knobs=settings)
    return intent.compile(serving.paged_decode, provider="cupy", plan=plan)


def _decoded(artifact):
    """How far the result is from the exact one, at most."""
    rng = np.random.default_rng(0)
    batch, heads, rows, width, page, pages, all_pages = (HEADS[x] for x in "BGRDSLP")
    k, v = (rng.standard_normal((all_pages, page, heads, width)).astype(np.float16) for _ in range(2))
    q = rng.standard_normal((batch, heads, rows, width)).astype(np.float16)
    table = rng.permutation(all_pages)[: batch * pages].reshape(batch, pages).astype(np.int32)
    o = np.full(q.shape, np.nan, np.float16)
    artifact(q, k, v, table, np.array(LENGTHS, np.int32), o)
    worst = 0.0
    for b, n in enumerate(LENGTHS):
        keys, values = (x.astype(np.float64)[table[b]].reshape(-1, heads, width)[:n] for x in (k, v))
        logits = np.einsum("grd,ngd->grn", q[b].astype(np.float64), keys) / width**0.5
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        worst = max(worst, abs(np.einsum("grn,ngd->grd", weights, values) - o[b]).max())
    return worst


@pytest.mark.parametrize(
    ("stages", "warps", "block"), [(3, 4, 32), (2, 2, 32), (4, 4, 16), (3, 4, 128), (1, 4, 32)]
)
def test_pages(stages, warps, block):
    assert _decoded(_paged(stages, warps, block)) < 1e-3


def test_keys_and_values_share_the_addresses_that_each_thread_reads():
    text = kernels.kernel_text(_paged())
    assert text.count("it_load(table,") == 3  # before the copies, between the first ones, and in each pass
    assert text.count("it_divisor_of(") == 1
    assert text.count("it_floor_div(") == 3
    assert "Index t_ahead;" in text  # a remainder is as narrow as its divisor
    assert "page_exchange" not in text


def _fault(monkeypatch, old, new):
    built = launcher.kernel

    def chosen(text, *rest):
        assert text.count(old) == 1
        return built(text.replace(old, new), *rest)

    monkeypatch.setattr(launcher, "kernel", chosen)
    monkeypatch.setattr(variants, "_VARIANTS", Memory())


@pytest.mark.parametrize(
    ("old", "new"), [("= n12 + 3 * 32;", "= n12 + 2 * 32;"), ("(stage + 1) * 32", "stage * 32")]
)
def test_addresses_of_another_pass_are_seen(old, new, monkeypatch):
    _fault(monkeypatch, old, new)
    assert not _decoded(_paged()) < 1e-2


@pytest.mark.parametrize(("rows", "blocks"), [(16, 4), (64, 1)])
def test_blocks_of_few_rows_share_a_multiprocessor(rows, blocks):
    first = kernels.compiled(kernels.matmul, {"M": 64, "N": 64, "K": 256})
    (group,) = first.plan.groups
    sizes = {"axis_M": rows, "axis_N": 64}
    group = replace(group, instance=tuple((x, sizes[x]) for x, _ in group.instance))
    plan = replace(first.plan, groups=(group,), guards=(), knobs=knobs({"num_warps": 4, "num_stages": 3}))
    text = kernels.kernel_text(intent.compile(kernels.matmul, provider="cupy", plan=plan))
    assert f"__launch_bounds__(128, {blocks})" in text
