"""Default plans for cuTile's compiler: tiles, settings, and where they stand in the text."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import intent
from intent.construct import analyze, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_testkit.kernels import attention, matmul, products, scans, softmax, workloads

RNG = np.random.default_rng(11)
RELAXED = intent.CompileOptions(numerics="relaxed_normalization")


def planned(kernel, constexprs=None, **extents):
    return default_plan(analyze(lower(kernel, constexprs or {})), CAPABILITIES, extents)


@pytest.mark.parametrize(
    ("m", "n", "tile", "knobs"),
    [
        (8192, 8192, (128, 256), {"latency": 6, "num_worker_warps": 8, "persistent": 1}),
        (8192, 8192 + 128, (128, 128), {"latency": 6, "num_worker_warps": 4, "persistent": 1}),
        (3072, 3072, (128, 128), {"latency": 6, "num_worker_warps": 4, "persistent": 1}),
        (4095, 8192, (128, 128), {"occupancy": 2}),
        (2048, 2048, (128, 128), {"latency": 6, "num_worker_warps": 4, "persistent": 1}),
        (512, 2048, (128, 128), {}),
        (16, 16384, (16, 128), {}),
    ],
)
def test_matrix_tiles_by_size(m, n, tile, knobs):
    plan = planned(matmul.matmul_bf16, M=m, N=n, K=4096)
    assert tuple(block for _, block in plan.groups[0].instance) == tile
    assert dict(plan.knobs) == knobs


def test_loops_of_shared_reductions_stay_whole():
    for plan in (planned(matmul.vecmat, K=500_000, N=70), planned(workloads.sum_of_vector, N=1 << 22)):
        assert plan.groups[0].split is not None
        assert not plan.peel
    assert planned(matmul.vecmat, K=5000, N=70_000).peel


@pytest.mark.parametrize("n", [256, 1024, 4096, 8192, 12345, 16384, 20000, 32768])
def test_rows_never_have_more_than_128_elements_a_thread(n):
    plan = planned(softmax.softmax_bf16, M=8192, N=n)
    threads = 32 * dict(plan.knobs).get("num_worker_warps", 4)
    assert dict(plan.groups[0].inner)["axis_N"].size <= 128 * threads


def attended(*, causal, rows=256, head=64):
    """A forward pass on the CPU, its inputs and its text."""
    q, k, v = (RNG.standard_normal((1, 1, rows, head), np.float32) for _ in range(3))
    q, k, v = (x.astype(ml_dtypes.bfloat16) for x in (q, k, v))
    out = np.zeros_like(q)
    artifact = intent.compile(
        attention.attention_forward, provider="cutile", constexprs={"CAUSAL": causal}, options=RELAXED
    )
    artifact(q, k, v, out)
    return (q, k, v, out), artifact.source


@pytest.mark.parametrize("causal", [False, True])
def test_both_loops_of_attention_read_whole_tiles(causal, monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    (q, k, v, out), text = attended(causal=causal)
    assert "load_offset" not in text
    assert text.count("ct.load(k_tiles") == text.count("ct.load(v_tiles") == 1 + causal
    wide = [x[0, 0].astype(np.float64) for x in (q, k, v)]
    logits = wide[0] @ wide[1].T / np.sqrt(q.shape[-1])
    if causal:
        logits = np.where(np.tri(*logits.shape, dtype=bool), logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out[0, 0].astype(np.float64), wanted, atol=2e-2)


def test_the_second_product_s_operand_is_loaded_twice_as_early(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    _, text = attended(causal=False, rows=128, head=128)
    assert re.search(r"k_tiles, .*latency=2\)", text)
    assert re.search(r"v_tiles, .*latency=4\)", text)
    assert not re.search(r"q_tiles, .*latency", text)
    assert "latency" not in text.split("def ")[0], "it is no setting of the whole kernel"


def test_scans_of_long_rows_leave_room_for_four_instances():
    plan = planned(scans.running_sum, M=4096, N=32768)
    (group,) = plan.groups
    assert dict(group.instance) == {"axis_M": 1}
    assert dict(group.inner)["axis_N"] == serial(2048)
    assert dict(plan.knobs) == {"occupancy": 4}


def test_rows_of_a_sparse_matrix_share_an_instance():
    plan = planned(workloads.csr_matvec, M=32768, K=32 * 32768, N=32768, P=32769)
    (group,) = plan.groups
    assert dict(group.instance) == {"axis": 8}
    assert dict(group.inner)["row"] == serial(32)


@pytest.mark.parametrize(("n", "online"), [(32768, False), (131072, True)])
def test_rows_beyond_the_cache_are_normalised_in_one_pass(n, online):
    assert planned(softmax.softmax_bf16, M=4096, N=n).online is online


def test_only_products_of_arrays_as_they_lie_are_taken_in_turn():
    turns = {"latency": 6, "num_worker_warps": 8, "persistent": 1}
    square = {"M": 4096, "N": 4096, "K": 4096}
    assert dict(planned(products.linear_gelu_bf16, **square).knobs) == turns
    assert dict(planned(products.matmul_batched_bf16, B=64, M=1024, N=1024, K=1024).knobs) == turns
    assert dict(planned(matmul.matmul_bf16, **square | {"K": 4095}).knobs) == {"occupancy": 2}
    image = {"B": 32, "H": 56, "W": 56, "C": 256, "O": 256, "P": 32 * 56 * 56}
    assert dict(planned(products.convolution_bf16, **image).knobs) == {"occupancy": 2}, "rows are gathered"
    assert dict(planned(products.linear_f8, **square).knobs) == {"num_worker_warps": 8, "persistent": 1}


@pytest.mark.parametrize(("rows", "span"), [(16384, 256), (2048, 128)])
def test_rows_of_groups_by_how_many_there_are(rows, span):
    plan = planned(products.grouped_matmul_bf16, N=rows, K=4096, G=16, E=4096, P=17)
    assert dict(plan.groups[0].inner)["span"] == serial(span)
    assert dict(plan.knobs) == {"num_worker_warps": 8}
