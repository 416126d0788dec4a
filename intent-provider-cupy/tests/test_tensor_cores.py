"""Products on tensor cores, by groups of four warps and by single ones: exact on small integers, however they lie."""

from __future__ import annotations

from dataclasses import replace

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import resident, serial
from intent.construct.plan import knobs
from intent.runtime import variants
from intent.runtime.cache import Memory


@intent.kernel
def product(
    a: I.In[I.bf16, ("M", "K")],
    b: I.In[I.bf16, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[...] = I.matmul(a[...], b[...], acc_dtype=I.f32)


@intent.kernel
def turned_left(
    a: I.In[I.f16, ("K", "M")],
    b: I.In[I.f16, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[...] = I.matmul(a[...], b[...], transpose_lhs=True, acc_dtype=I.f32)


@intent.kernel
def turned_right(
    a: I.In[I.bf16, ("M", "K")],
    b: I.In[I.bf16, ("N", "K")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[...] = I.matmul(a[...], b[...], transpose_rhs=True, acc_dtype=I.f32)


@intent.kernel
def turned_both(
    a: I.In[I.f16, ("K", "M")],
    b: I.In[I.f16, ("N", "K")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[...] = I.matmul(a[...], b[...], transpose_lhs=True, transpose_rhs=True, acc_dtype=I.f32)


KERNELS = {
    "plain": (product, False, False),
    "left": (turned_left, True, False),
    "right": (turned_right, False, True),
    "both": (turned_both, True, True),
}
TILES = [
    # rows, columns, summed lanes, warps, stages
    (64, 64, 64, 4, 1),
    (64, 16, 16, 4, 3),
    (64, 128, 32, 4, 2),
    (128, 32, 128, 4, 2),
    (128, 64, 64, 8, 3),
    (128, 256, 16, 8, 2),
    (256, 32, 64, 8, 1),
    (64, 256, 32, 4, 2),
]


@pytest.fixture(autouse=True)
def emulation(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@pytest.fixture(params=["groups", "warps"])
def choice(request, monkeypatch):
    """Both sides of the text's choice (a build for ``sm_90a`` has groups, any other has not); gives the texts built."""
    from intent_provider_cupy.emulate import launcher

    built, texts = launcher.kernel, []

    def chosen(text, *rest):
        if request.param == "warps":
            text = text.replace("if constexpr (it_groups)", "if constexpr (false)")
            text = text.replace("if constexpr (!it_groups)", "if constexpr (true)")
        texts.append(text)
        return built(text, *rest)

    monkeypatch.setattr(launcher, "kernel", chosen)
    monkeypatch.setattr(variants, "_VARIANTS", Memory())  # which keep what they have built
    return texts


def _artifact(kernel, shape, tile):
    rows, columns, summed, warps, stages = tile
    first = kernels.compiled(kernel, dict(zip("MNK", shape, strict=True)))
    (group,) = first.plan.groups
    blocks = zip((label for label, _ in group.instance), (rows, columns), strict=True)
    group = replace(group, instance=tuple(blocks), inner=tuple((k, serial(summed)) for k, _ in group.inner))
    settings = knobs({"num_warps": warps, "num_stages": stages})
    plan = replace(first.plan, guards=(), knobs=settings, groups=(group,))
    return intent.compile(kernel, provider="cupy", plan=plan)


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_products(name, tile, choice):
    kernel, left, right = KERNELS[name]
    m, n, k = tile[0] + 8, tile[1] + 3, 2 * tile[2] + 5
    artifact = _artifact(kernel, (m, n, k), tile)
    assert "it_multiply<" in kernels.kernel_text(artifact)
    rng = np.random.default_rng(0)
    dtype = np.float16 if left else ml_dtypes.bfloat16
    a = rng.integers(-4, 5, (k, m) if left else (m, k)).astype(dtype)
    b = rng.integers(-4, 5, (n, k) if right else (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    artifact(a, b, c)
    assert len(choice) == 1
    wide = [x.astype(np.float64) for x in (a.T if left else a, b.T if right else b)]
    np.testing.assert_array_equal(c, wide[0] @ wide[1])


@intent.kernel
def chain(
    q: I.In[I.bf16, ("M", "D")],
    k: I.In[I.bf16, ("N", "D")],
    v: I.In[I.bf16, ("N", "E")],
    o: I.Out[I.f32, ("M", "E")],
):
    weights = I.cast(I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32), I.bf16)
    o[...] = I.matmul(weights, v[...], acc_dtype=I.f32)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize(("rows", "keys", "stages"), [(64, 32, 2), (128, 64, 2), (64, 16, 3), (128, 64, 1)])
def test_results_are_the_next_products_rows_where_they_lie(rows, keys, stages, warps, choice):
    m, n, d, e = rows + 5, 3 * keys + 7, 32, 64
    first = kernels.compiled(chain, {"M": m, "N": n, "D": d, "E": e})
    (group,) = first.plan.groups
    sizes = {"axis_M": rows, "axis_N": keys, "axis_D": d, "axis_E": e}
    group = replace(
        group,
        instance=tuple((label, sizes[label]) for label, _ in group.instance),
        inner=tuple((a, (serial if a == "axis_N" else resident)(sizes[a])) for a, _ in group.inner),
    )
    settings = knobs({"num_warps": warps, "num_stages": stages})
    artifact = intent.compile(
        chain, provider="cupy", plan=replace(first.plan, guards=(), knobs=settings, groups=(group,))
    )
    halved = (
        rows < 16 * warps and keys >= 32
    )  # a second group beside the first has the other half of each row
    assert ("it_rows(" in kernels.kernel_text(artifact)) == (not halved)
    rng = np.random.default_rng(0)
    q, k, v = (rng.integers(-1, 2, s).astype(ml_dtypes.bfloat16) for s in ((m, d), (n, d), (n, e)))
    o = np.full((m, e), np.nan, np.float32)
    artifact(q, k, v, o)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    np.testing.assert_array_equal(o, wide[0] @ wide[1].T @ wide[2])


@intent.kernel
def biased(
    q: I.In[I.bf16, ("M", "D")],
    k: I.In[I.bf16, ("N", "D")],
    w: I.In[I.bf16, ("D", 1)],
    v: I.In[I.bf16, ("N", "E")],
    o: I.Out[I.f32, ("M", "E")],
):
    bias = I.matmul(k[...], w[...], acc_dtype=I.f32)
    weights = bias[None, :, 0] + I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32)
    o[...] = I.matmul(I.cast(weights, I.bf16), v[...], acc_dtype=I.f32)


def test_copies_start_beside_the_first_product_of_tiles(choice):
    m, n, d, e = 64, 200, 16, 32
    artifact = kernels.compiled(biased, {"M": m, "N": n, "D": d, "E": e}, num_stages=3)
    assert "it_copy_async" in kernels.kernel_text(artifact)
    rng = np.random.default_rng(0)
    q, k, w, v = (rng.integers(-1, 2, s).astype(ml_dtypes.bfloat16) for s in ((m, d), (n, d), (d, 1), (n, e)))
    o = np.full((m, e), np.nan, np.float32)
    artifact(q, k, w, v, o)
    q, k, w, v = (x.astype(np.float64) for x in (q, k, w, v))
    np.testing.assert_array_equal(o, (q @ k.T + (k @ w).T) @ v)


GROUPS = """
template <int N, class T> __device__ void every(float* d, const T* x) {
    T* const tile = it_piece<T>(0, 64 * 256);
    float sums[2][N / 4] = {};
    const it_matrix rows = it_matrix_of<64, 64>(tile, 0), columns = it_matrix_of<256, 32>(tile, 0);
    it_begin_groups(sums);
    it_multiply<N, false, false, T>(sums[0], sums[1], rows, columns);
    it_multiply<N, true, true, T>(sums[0], sums[1], rows, columns);
    it_multiply<N, true, T>(sums[0], sums[1], x, columns);
    it_commit_groups();
    it_wait_groups(sums);
    it_each(i, 2) it_each(j, N / 4) d[threadIdx.x + i * N / 4 + j] = sums[i][j];
}
extern "C" __global__ void groups(float* d, const it_f16* x, const it_bf16* y) {
    if constexpr (it_groups) {
        every<16>(d, x), every<32>(d, x), every<64>(d, x), every<128>(d, x), every<256>(d, x);
        every<16>(d, y), every<32>(d, y), every<64>(d, y), every<128>(d, y), every<256>(d, y);
    }
}
"""


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_90a", "sm_100"])
def test_groups_are_there_where_the_target_has_them(target):
    from intent_provider_cupy import build, prelude

    made = kernels.compiled(product, {"M": 64, "N": 64, "K": 64})
    whole = replace(
        made.variant.provider.serialize(made.program), text=prelude.needed(GROUPS) + GROUPS, entry="groups"
    )
    assert ("wgmma" in build.build(whole, target).listing) == (target == "sm_90a")
