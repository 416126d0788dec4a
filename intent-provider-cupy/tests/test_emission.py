"""Emitted text: goldens of three kernels, rules that hold for every text, and runs of what small cases do not reach."""

from __future__ import annotations

import re
from pathlib import Path

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest

from intent.diagnostics import CapabilityError
from intent.types.dtypes import F32
from intent.types.extent import const
from intent_provider_cupy.plugin import plugin
from intent_testkit.golden import check_golden
from intent_testkit.programs import Builder, view, whole

GOLDENS = Path(__file__).parent / "goldens"
GOLDEN = {
    "softmax": (kernels.softmax, {"M": 128, "N": 1000}),
    "layer_norm": (kernels.layer_norm, {"M": 128, "N": 1024}),
    "matmul": (kernels.matmul, {"M": 512, "N": 512, "K": 512}),
}


@pytest.fixture(autouse=True)
def emulation(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden(name):
    kernel, extents = GOLDEN[name]
    check_golden(GOLDENS / f"{name}.cu.txt", kernels.kernel_text(kernels.compiled(kernel, extents)))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_emission_is_deterministic(name):
    from intent_provider_cupy.emit import emit

    kernel, extents = GOLDEN[name]
    program = kernels.compiled(kernel, extents).program
    assert emit(program) == emit(program)


def bf16(rng, *shape):
    return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(64, 64, 256), (70, 50, 200), (33, 130, 321)])
def test_products_of_many_passes(stages, shape):
    m, n, k = shape
    artifact = kernels.compiled(kernels.matmul, {"M": m, "N": n, "K": k}, num_stages=stages)
    assert ("it_copy_async" in kernels.kernel_text(artifact)) == (stages > 1)
    rng = np.random.default_rng(stages)
    a, b, c = bf16(rng, m, k), bf16(rng, k, n), bf16(rng, m, n)
    artifact(a, b, c)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c.astype(np.float64), wanted, rtol=2e-2, atol=2e-1)


@pytest.mark.parametrize("turned", [(False, True), (True, False), (True, True)])
def test_products_of_transposed_views(turned):
    rng = np.random.default_rng(0)
    a, b = (x.T if t else x for x, t in zip((bf16(rng, 72, 72), bf16(rng, 72, 72)), turned, strict=True))
    c = bf16(rng, 72, 72)
    kernels.compiled(kernels.matmul, {"M": 72, "N": 72, "K": 72})(a, b, c)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c.astype(np.float64), wanted, rtol=2e-2, atol=2e-1)


def test_products_of_products():
    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal(s).astype(np.float16) for s in ((40, 32), (300, 32), (300, 32)))
    o = np.zeros((40, 32), np.float32)
    kernels.compiled(kernels.attention, {"M": 40, "N": 300, "D": 32}, num_stages=2)(q, k, v, o)
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    wanted = weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("warps", [1, 4, 16])
def test_operands_larger_than_an_exchange_pass_in_parts(warps):
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((64, 128), (128, 64)))
    c = np.zeros((64, 64), np.float32)
    kernels.compiled(kernels.matmul_f32, {"M": 64, "N": 64, "K": 128}, num_warps=warps)(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("shape", [(3, 1000), (2, 4096), (40, 7)])
def test_prefixes_in_both_directions(shape, warps):
    x = np.random.default_rng(3).integers(-9, 9, shape).astype(np.float32)
    up, down = np.zeros_like(x), np.zeros_like(x)
    kernels.compiled(kernels.prefix, dict(zip("MN", shape, strict=True)), num_warps=warps)(x, up, down)
    np.testing.assert_array_equal(up, x.cumsum(1))
    np.testing.assert_array_equal(down, x[:, ::-1].cumsum(1)[:, ::-1])


@pytest.mark.parametrize("warps", [1, 4])
def test_prefixes_keep_the_order_of_their_elements(warps):
    rng = np.random.default_rng(5)
    a, b = (rng.choice([-1.0, 1.0, 0.5], (3, 700)).astype(np.float32) for _ in range(2))
    y = np.zeros_like(a)
    kernels.compiled(kernels.affine_all, {"M": 3, "N": 700}, num_warps=warps)(a, b, y)
    wanted, state = np.zeros(a.shape), np.zeros(3)
    for i in range(700):
        state = wanted[:, i] = a[:, i] * state + b[:, i]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(64, 64), (130, 70)])
def test_transposed_stores_run_along_memory(shape):
    artifact = kernels.compiled(kernels.transpose, dict(zip("MN", shape, strict=True)))
    assert "it_store<4>(y" in kernels.kernel_text(artifact)
    x = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    y = np.zeros(shape[::-1], np.float32)
    artifact(x, y)
    np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("bytes_", [4, 8, 16])
def test_the_widest_access_is_a_knob(bytes_):
    text = kernels.kernel_text(kernels.compiled(kernels.softmax, {"M": 8, "N": 1024}, vector_bytes=bytes_))
    found = {int(n) * 4 for n in re.findall(r"it_(?:load|store)<(\d+)>\(", text)}
    assert max(found, default=4) == bytes_


@pytest.mark.parametrize("n", [64, 1000, 1023])
def test_rows_of_any_alignment(n):
    x = np.random.default_rng(7).standard_normal((5, n)).astype(np.float32)
    y = np.zeros_like(x)
    kernels.compiled(kernels.softmax, {"M": 5, "N": n})(x, y)
    wanted = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("warps", [1, 8])
@pytest.mark.parametrize("shape", [(7, 33), (3, 4), (5, 1000)])
def test_in_place_where_threads_hold_the_same_lanes(shape, warps):
    """The replicas of a short row must all have read it before one of them writes."""
    x = np.random.default_rng(8).standard_normal(shape).astype(np.float32)
    wanted = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    kernels.compiled(kernels.softmax, dict(zip("MN", shape, strict=True)), num_warps=warps)(x, x)
    np.testing.assert_allclose(x, wanted / wanted.sum(1, keepdims=True), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("storage", ["registers", "shared"])
def test_buffers_elsewhere_than_in_the_workspace_are_refused(storage):
    with pytest.raises(CapabilityError, match=f"buffers in {storage}"):
        plugin.intent_provider().serialize(whole.held_in(storage))


@pytest.mark.parametrize(
    ("value", "text"), [(-1.5, "-(-1.5f)"), (1.5, "-1.5f"), (float("-inf"), "-(-it_inf<float>())")]
)
def test_signs_stand_apart(value, text):
    b = Builder()
    y = view("y", "f32", "1", "out")

    def body(_):
        b.store(y, [b.constant(0)], b.op("neg", b.constant(value, F32)))

    program = b.program("negated", [y], b.segment([("one", const(1), 1)], body))
    assert f" {text});" in plugin.intent_provider().serialize(program).text
