"""Products that stay under way in the next pass: exact, and whoever is too early is found out."""

from __future__ import annotations

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest
from test_tensor_cores import KERNELS, _artifact, choice, emulation

import intent
import intent.language as I
from intent.construct import analyze
from intent.frontend import lower
from intent.planning import default_plan
from intent.runtime import variants
from intent.runtime.cache import Memory
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emulate import launcher
from intent_provider_cupy.emulate.faults import RacingAccess
from intent_provider_cupy.plugin import plugin
from intent_testkit.kernels import attention

__all__ = ["choice", "emulation"]

TILES = [(64, 64, 16, 4, 4), (128, 32, 32, 8, 4), (64, 128, 32, 8, 4)]
PASSES = 7


def _given(tile, left, right):
    rows, columns, summed = tile[:3]
    m, n, k = rows + 8, columns + 8, PASSES * summed
    rng = np.random.default_rng(0)
    dtype = np.float16 if left else ml_dtypes.bfloat16
    a = rng.integers(-4, 5, (k, m) if left else (m, k)).astype(dtype)
    b = rng.integers(-4, 5, (n, k) if right else (k, n)).astype(dtype)
    wide = [x.astype(np.float64) for x in (a.T if left else a, b.T if right else b)]
    return (m, n, k), a, b, wide[0] @ wide[1]


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_products_of_one_pass_are_under_way_in_the_next(name, tile, choice):
    kernel, left, right = KERNELS[name]
    shape, a, b, wanted = _given(tile, left, right)
    artifact = _artifact(kernel, shape, tile)
    text = kernels.kernel_text(artifact)
    assert "it_leave_groups<1>();" in text
    assert "slot < 2 ? slot + 2 : slot - 2;" in text
    assert text.count("it_wait_groups(") == 1
    c = np.full(shape[:2], np.nan, np.float32)
    artifact(a, b, c)
    assert len(choice) == 1
    np.testing.assert_array_equal(c, wanted)


def _changed(monkeypatch, old, new):
    """Let the text be built with a fault."""
    built = launcher.kernel

    def chosen(text, *rest):
        assert old in text
        return built(text.replace(old, new), *rest)

    monkeypatch.setattr(launcher, "kernel", chosen)
    monkeypatch.setattr(variants, "_VARIANTS", Memory())


EARLY = {
    "the wait leaves the products of the pass before": ("it_leave_groups<1>()", "it_leave_groups<2>()"),
    "nobody waits before the end": ("it_leave_groups<1>()", "(void)0"),
    "copies go to the tiles of the pass before": (
        "slot < 2 ? slot + 2 : slot - 2",
        "slot == 0 ? 3 : slot - 1",
    ),
    "copies go to the tiles at hand": ("slot < 2 ? slot + 2 : slot - 2", "slot"),
}


@pytest.mark.parametrize("fault", EARLY)
def test_tiles_that_are_overwritten_too_early(fault, monkeypatch):
    tile = TILES[0]
    shape, a, b, _ = _given(tile, False, False)
    _changed(monkeypatch, *EARLY[fault])
    artifact = _artifact(KERNELS["plain"][0], shape, tile)
    with pytest.raises(RacingAccess, match="its piece of shared memory races with thread"):
        artifact(a, b, np.zeros(shape[:2], np.float32))


def test_sums_that_are_read_too_early(monkeypatch):
    tile = TILES[0]
    shape, a, b, wanted = _given(tile, False, False)
    _changed(monkeypatch, "it_wait_groups(carry);", "(void)0;")
    c = np.zeros(shape[:2], np.float32)
    _artifact(KERNELS["plain"][0], shape, tile)(a, b, c)
    assert (c != wanted).any()


@pytest.mark.parametrize("stages", [2, 3])
def test_fewer_stages_wait_for_their_own_products(stages):
    text = kernels.kernel_text(_artifact(KERNELS["plain"][0], (64, 64, 256), (64, 64, 32, 4, stages)))
    assert "it_leave_groups" not in text
    assert "it_wait_groups(carry)" in text


def _attention(causal):
    """An instance's rows, and what attention makes of small integers: the weights are powers of two of those."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.integers(-1, 2, (1, 2, 96, 32)).astype(ml_dtypes.bfloat16) for _ in range(3))
    logits = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 1, 3, 2) / 32**0.5
    logits = np.where(np.tril(np.ones((96, 96), bool)) | (not causal), logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return q, k, v, weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)


def _compiled_attention(causal, rows=96, head=32):
    capabilities = plugin.intent_provider().capabilities
    sizes = {"B": 1, "H": 2, "M": rows, "N": rows, "D": head}
    plan = default_plan(analyze(lower(attention.attention_forward, {"CAUSAL": causal})), capabilities, sizes)
    return intent.compile(
        attention.attention_forward, provider="cupy", plan=plan, constexprs={"CAUSAL": causal},
        options=intent.CompileOptions(numerics="relaxed_normalization"),
    )  # fmt: skip


@pytest.mark.parametrize("causal", [False, True])
def test_what_does_not_read_results_need_not_wait_for_them(causal, choice):
    artifact = _compiled_attention(causal)
    text = kernels.kernel_text(artifact)
    made, wait = text.index("it_begin_groups(sum_2"), text.index("it_wait_groups(sum_2);")
    assert "it_sum_of_lanes(" in text[made:wait], "the sums of the weights"
    q, k, v, wanted = _attention(causal)
    o = np.full(q.shape, np.nan, ml_dtypes.bfloat16)
    artifact(q, k, v, o)
    np.testing.assert_allclose(o.astype(np.float64), wanted, rtol=2e-2, atol=1e-2)


def test_strips_of_rows_take_turns():
    """While one strip's weights are made, groups are at the next strip's logits and the last one's results."""
    text = kernels.kernel_text(_compiled_attention(False))
    head, strips = text.split("it_each(strip, 2) {")
    assert "it_each(tile_m, 2) {" in head
    assert "if constexpr (it_groups) it_leave_groups<1>(sum[2 * strip], sum[2 * strip + 1]);" in strips
    assert "it_part(axis_M_r, 2 * strip, 2) it_each(axis_r, " in strips
    assert "it_each(strip" not in kernels.kernel_text(_compiled_attention(True)), "one strip has no other"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head", [64, 128])
def test_products_of_rows_in_registers_follow_one_another(causal, head):
    """The compiler lets each wait for the one before if registers that they read are written in between."""
    log = kernels.compiler_log(_compiled_attention(causal, rows=4096, head=head))
    assert " 0 bytes spill stores" in log
    assert "serialized" not in log
    assert "injected" not in log


def test_a_strip_that_is_read_before_it_is_there(monkeypatch):
    _changed(monkeypatch, "it_leave_groups<1>(sum[2 * strip]", "it_leave_groups<2>(sum[2 * strip]")
    q, k, v, wanted = _attention(False)
    o = np.full(q.shape, np.nan, ml_dtypes.bfloat16)
    _compiled_attention(False)(q, k, v, o)
    assert not np.allclose(o.astype(np.float64), wanted, rtol=2e-2, atol=1e-2)


def test_results_that_nobody_waits_for(monkeypatch):
    _changed(monkeypatch, "it_wait_groups(sum_2);", "(void)0;")
    q, k, v, _ = _attention(False)
    with pytest.raises(RacingAccess, match="its piece of shared memory races with thread"):
        _compiled_attention(False)(q, k, v, np.zeros(q.shape, ml_dtypes.bfloat16))


def test_a_device_with_less_shared_memory_gets_fewer_stages():
    """The launcher asks for the text again: 16 kilobytes of tiles a stage."""
    program = _artifact(KERNELS["plain"][0], (256, 256, 512), (64, 64, 64, 4, 4)).program
    whole = emit(program)
    assert whole.signature.shared_bytes >= 4 * 16 * 1024
    assert "it_leave_groups<1>();" in whole.text
    small = emit(program, 60 * 1024)
    assert small.signature.shared_bytes <= 60 * 1024
    assert "it_leave_groups<1>();" not in small.text
    assert small.signature.parameters == whole.signature.parameters
    assert emit(program, 1).signature.shared_bytes > 1, "the launcher says that there is too little"


@intent.fn
def biased(kv, q, scale):
    logits = I.matmul(q, kv.k, transpose_rhs=True, acc_dtype=I.f32) * scale + I.transpose(kv.bias)
    peak = I.reduce.max(logits, axis=1)
    weights = I.exp2(logits - peak[:, None])
    out = I.matmul(I.cast(weights, I.bf16), kv.v, acc_dtype=I.f32)
    return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=out)


@intent.kernel
def biased_attention(
    q: I.In[I.bf16, ("M", "D")], k: I.In[I.bf16, ("N", "D")], v: I.In[I.bf16, ("N", "D")],
    bias: I.In[I.f32, ("N", "M")], o: I.Out[I.bf16, ("M", "D")],
):  # fmt: skip
    M, D = q.shape
    axis = I.domain(0, k.shape[0])
    start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, D), I.f32))
    s = I.region_fold(
        source=I.record(k=k[axis, :], v=v[axis, :], bias=bias[axis, :]), axis=0, summarize=biased,
        combine=attention.merged, identity=start, operands=(q[...], I.cast(1.0, I.f32)),
    )  # fmt: skip
    o[...] = I.cast(s.out / s.total[:, None], I.bf16)


def test_no_strips_where_something_else_stands_between_the_products():
    """What is read from memory there would be read once more for each strip."""
    sizes = {"M": 96, "N": 96, "D": 32}
    plan = default_plan(analyze(lower(biased_attention, {})), plugin.intent_provider().capabilities, sizes)
    options = intent.CompileOptions(numerics="relaxed_normalization")
    made = intent.compile(biased_attention, provider="cupy", plan=plan, options=options)
    text = kernels.kernel_text(made)
    assert "it_begin_groups" in text
    assert "it_each(strip" not in text
