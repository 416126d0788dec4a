"""Results of tensor cores whose neighbours lie in neighbouring threads are exchanged and stored 16 bytes at a time."""

from __future__ import annotations

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest
from test_tensor_cores import _artifact, choice, emulation, product

import intent
import intent.language as I
from intent.physical import Dim
from intent_provider_cupy.emit.layout import Table, exchanged

__all__ = ["choice", "emulation"]


def lanes(places, dim, thread, registers):
    """The lanes of a thread, in the order of its registers."""
    table = Table(index=0, thread_bits=7, places={dim: places})
    text = (
        " + ".join(p for p in (table.thread_part(dim, "thread"), table.register_part(dim, "r")) if p) or "0"
    )
    return [eval(text, {"thread": thread, "r": r}) for r in range(registers)]  # noqa: S307 - text of ours


def turned(held, exchange):
    """What ``it_turn`` makes of every thread's lanes."""
    for step, mask in exchange.steps:
        before = [list(h) for h in held]
        for thread, mine in enumerate(held):
            other = before[thread ^ mask]
            for r in range(len(mine)):
                if bool(thread & mask) != bool(r & step):
                    mine[r] = other[r ^ step]
    return held


@pytest.mark.parametrize("vector", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "bits",
    [(None, 0, 1, None, None), (None, 0, 1, None, None, None, 5), (None, None, 3, None), (0, 1, None, None),
     (None, 1, 0, None, None), (None, 0, None, 1, None)],
)  # fmt: skip
def test_an_exchange_leads_from_one_table_to_the_other(bits, vector):
    dim = Dim("n", 1 << len(bits))
    found = exchanged(dim, bits, vector)
    if found is None:
        low = next(k for k, b in enumerate(bits) if b is not None)
        assert vector <= low
        return
    places, exchange = found
    assert places[: exchange.vector] == (None,) * exchange.vector
    assert exchange.vector <= vector
    registers = 1 << sum(b is None for b in bits)
    before = [lanes(bits, dim, t, registers) for t in range(128)]
    assert turned(before, exchange) == [lanes(places, dim, t, registers) for t in range(128)]


@pytest.mark.parametrize("bits", [(None, 6, None), (None, 0, 1), (None, 0, 1, 2, 3), (None, None, None)])
def test_there_is_no_exchange(bits):
    """Between warps, or without registers to give."""
    assert exchanged(Dim("n", 1 << len(bits)), bits, 3) is None


TILES = [(64, 64, 32, 4, 2), (64, 128, 16, 4, 3), (128, 64, 32, 8, 2), (64, 32, 16, 4, 1), (32, 64, 16, 2, 2)]


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("kernel", [product, kernels.matmul])
@pytest.mark.parametrize("more", [0, 8, 3])
def test_results_of_products(kernel, tile, more, choice):
    """Whole tiles and parts of them, where wide stores are possible and where they are not."""
    m, n, k = tile[0] + 8, 2 * tile[1] + more, 2 * tile[2]
    artifact = _artifact(kernel, (m, n, k), tile)
    assert "it_turn<2, 2>(" in kernels.kernel_text(artifact)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32 if kernel is product else ml_dtypes.bfloat16)
    artifact(a, b, c)
    assert len(choice) == 1
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(c, wanted.astype(c.dtype))


@intent.kernel
def added(
    a: I.In[I.bf16, ("M", "K")],
    b: I.In[I.bf16, ("K", "N")],
    c: I.In[I.f32, ("M", "N")],
    d: I.InOut[I.f32, ("M", "N")],
):
    """Where every thread writes other elements than it has read; ``d`` may be ``c``."""
    p = I.matmul(a[...], b[...])
    d[...] = p + d[...] + c[...]


@pytest.mark.parametrize("tile", TILES[:3], ids=str)
@pytest.mark.parametrize("same", [False, True])
def test_results_are_added_to_what_was_there(tile, same, choice):
    m, n, k = tile[0] + 8, 2 * tile[1], tile[2]
    artifact = _artifact(added, (m, n, k), tile)
    text = kernels.kernel_text(artifact)
    assert text.count("__syncwarp();") == 1
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
    c, d = (rng.integers(-4, 5, (m, n)).astype(np.float32) for _ in range(2))
    d = c if same else d
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c + d
    artifact(a, b, c, d)
    np.testing.assert_array_equal(d, wanted)


def test_groups_do_not_wait_for_each_other():
    """Neither for the exchange, nor for anything else between the loop and its results."""
    artifact = kernels.compiled(kernels.matmul, {"M": 4096, "N": 4096, "K": 4096})
    assert "it_leave_groups<1>" in kernels.kernel_text(artifact)
    log = kernels.compiler_log(artifact)
    assert " 0 bytes spill stores" in log
    assert "serialized" not in log
