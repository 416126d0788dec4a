"""Threads as fibers: places, barriers, shuffles, votes, and the faults of those who do not meet."""

from __future__ import annotations

import numpy as np
import pytest
from cupy_text import emulate, zeros

from intent_provider_cupy.emulate.faults import Deadlock, DivergentBarrier

SEEDS = range(4)


def test_every_thread_of_every_block_runs_once():
    out = zeros(5 * 64, np.int32)
    body = "it_store(out, blockIdx.x * 64 + threadIdx.x, (int)(gridDim.x * 1000 + blockDim.x + threadIdx.x));"
    emulate(body, threads=64, blocks=5, out=out)
    assert (out.reshape(5, 64) == 5064 + np.arange(64)).all()


@pytest.mark.parametrize("blocks", [1, 2, 3, 64, 97])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_blocks_is_a_permutation(blocks, seed):
    out = zeros(blocks, np.int32)
    body = "if (threadIdx.x == 0) it_atomic_add<IT_RELAXED, IT_DEVICE>(out, blockIdx.x, 1);"
    emulate(body, blocks=blocks, seed=seed, out=out)
    assert (out == 1).all()


def first_threads(seed):
    """The thread that comes first in each of 32 blocks."""
    out, ticket = zeros(32, np.int32), zeros(32, np.int32)
    body = """
    if (it_atomic_add<IT_RELAXED, IT_DEVICE>(ticket, blockIdx.x, 1) == 0)
        it_atomic_exchange<IT_RELAXED, IT_DEVICE>(out, blockIdx.x, (int)threadIdx.x);
    """
    emulate(body, blocks=32, seed=seed, out=out, ticket=ticket)
    assert (ticket == 32).all()
    return out


def test_the_order_of_threads_is_random_and_the_seeds():
    assert len(set(first_threads(1))) > 8
    assert (first_threads(1) == first_threads(1)).all()
    assert (first_threads(1) != first_threads(2)).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_orders_what_threads_write_and_read(seed):
    out = zeros(256, np.int32)
    body = """
    int* held = it_piece<int>(0, 128);
    it_store(held, threadIdx.x, (int)threadIdx.x);
    __syncthreads();
    const int other = it_load(held, 127 - threadIdx.x);
    __syncthreads();
    it_store(held, threadIdx.x, 10 * other);
    __syncthreads();
    it_store(out, blockIdx.x * 128 + threadIdx.x, it_load(held, (threadIdx.x + 1) & 127));
    """
    emulate(body, threads=128, blocks=2, shared=512, seed=seed, out=out)
    expected = 10 * (127 - (np.arange(128) + 1) % 128)
    assert (out.reshape(2, 128) == expected).all()


@pytest.mark.parametrize("type_", ["signed char", "it_f16", "int", "float", "double", "long long"])
def test_shuffles_carry_every_type(type_):
    out = zeros(4 * 64, np.float64)
    body = f"""
    const {type_} mine = it_cast<{type_}>((int)threadIdx.x);
    const int lane = threadIdx.x & 31;
    it_store(out, threadIdx.x, it_cast<double>(it_shuffle_xor(mine, 5)));
    it_store(out, 64 + threadIdx.x, it_cast<double>(it_shuffle(mine, (lane * 7 + 3) & 31)));
    it_store(out, 128 + threadIdx.x, it_cast<double>(it_shuffle_up(mine, 4)));
    it_store(out, 192 + threadIdx.x, it_cast<double>(it_shuffle_down(mine, 9)));
    """
    emulate(body, threads=64, out=out)
    t = np.arange(64)
    lane, base = t % 32, t - t % 32
    assert (out[:64] == base + (lane ^ 5)).all()
    assert (out[64:128] == base + (lane * 7 + 3) % 32).all()
    assert (out[128:192] == base + np.where(lane < 4, lane, lane - 4)).all()
    assert (out[192:] == base + np.where(lane > 22, lane, lane + 9)).all()


def test_votes():
    out = zeros(64 * 3, np.uint32)
    body = """
    const bool p = threadIdx.x >= 32 || threadIdx.x % 3 == 0;
    it_store(out, threadIdx.x, it_ballot(p));
    it_store(out, 64 + threadIdx.x, (unsigned)it_any(threadIdx.x == 40));
    it_store(out, 128 + threadIdx.x, (unsigned)it_all(p));
    """
    emulate(body, threads=64, out=out)
    thirds = sum(1 << k for k in range(0, 32, 3))
    assert (out[:32] == thirds).all()
    assert (out[32:64] == 0xFFFFFFFF).all()
    assert (out[64:96] == 0).all()
    assert (out[96:128] == 1).all()
    assert (out[128:160] == 0).all()
    assert (out[160:] == 1).all()


def test_a_value_shown_twice_is_not_mixed_up():
    """A lane that runs ahead shows its next value while others still read the first."""
    out = zeros(32, np.int32)
    body = """
    int sum = threadIdx.x;
    for (int k = 0; k < 20; ++k) sum = it_shuffle(sum, (threadIdx.x + 1) & 31) + 1;
    it_store(out, threadIdx.x, sum);
    """
    for seed in SEEDS:
        emulate(body, seed=seed, out=out)
        assert (out == (np.arange(32) + 20) % 32 + 20).all()


def test_spinning_ends_when_another_thread_of_the_block_acts():
    flag, out = zeros(1, np.int32), zeros(1, np.int32)
    body = """
    if (threadIdx.x == 7) { it_atomic_store<IT_RELEASE, IT_BLOCK>(flag, 0, 1); return; }
    while (it_atomic_load<IT_ACQUIRE, IT_BLOCK>(flag, 0) == 0) {}
    it_atomic_add<IT_RELAXED, IT_DEVICE>(out, 0, 1);
    """
    emulate(body, flag=flag, out=out)
    assert out[0] == 31


def test_spinning_for_ever_is_a_deadlock():
    flag = zeros(1, np.int32)
    body = "while (it_atomic_load<IT_RELAXED, IT_DEVICE>(flag, 0) == 0) {}"
    with pytest.raises(Deadlock, match="waits on an atomic"):
        emulate(body, flag=flag)


def test_a_barrier_that_some_threads_pass_by():
    with pytest.raises(DivergentBarrier, match="32 of 64 threads wait at the barrier"):
        emulate("if (threadIdx.x < 32) __syncthreads();", threads=64)


def test_two_barriers_that_threads_take_for_one():
    body = "if (threadIdx.x < 32)\n    __syncthreads();\nelse\n    __syncthreads();"
    with pytest.raises(DivergentBarrier, match=r"different barriers: line [35] and line [35]"):
        emulate(body, threads=64)


def test_a_shuffle_that_some_lanes_pass_by():
    body = "int v = 1;\nif (threadIdx.x & 1) v = it_shuffle_xor(v, 2);\n"
    with pytest.raises(Deadlock, match="no thread can go on"):
        emulate(body)


def test_shuffles_at_different_places():
    body = "int v = 1;\nif (threadIdx.x & 1) v = it_shuffle_xor(v, 2);\nelse\n  v = it_shuffle_xor(v, 2);"
    with pytest.raises(DivergentBarrier, match="lanes of one warp meet at different places"):
        emulate(body)


def test_a_barrier_against_a_shuffle():
    body = "if (threadIdx.x < 16) __syncthreads(); else __syncwarp();"
    with pytest.raises(Deadlock, match="16 at the barrier"):
        emulate(body)


def test_a_launch_after_a_fault_is_clean():
    with pytest.raises(DivergentBarrier):
        emulate("if (threadIdx.x < 32) __syncthreads();", threads=64)
    out = zeros(64, np.int32)
    emulate("__syncthreads();\nit_store(out, threadIdx.x, it_shuffle(1, 0));", threads=64, out=out)
    assert (out == 1).all()
