"""Memory in emulation: bounds of views and pieces, alignment, races, poison, asynchronous copies."""

from __future__ import annotations

import numpy as np
import pytest
from cupy_text import emulate, memory_of, zeros

from intent_provider_cupy.emulate.faults import Deadlock, MisalignedAccess, OutsideAccess, RacingAccess
from intent_provider_cupy.emulate.runtime import Memory, _ranges

SEEDS = range(4)


@pytest.mark.parametrize(
    "access",
    ["it_store(x, 8, 1.0f)", "it_store(x, -1, 1.0f)", "it_load(x, 8)",
     "it_atomic_add<IT_RELAXED, IT_DEVICE>(x, 9, 1.0f)", "float v[4]; it_load<4>(v, x, 8)",
     "float v[2] = {}; it_store<2>(x, 8, v)"],
)  # fmt: skip
def test_an_access_outside_its_view_names_the_view_even_if_another_is_there(access):
    both = zeros(32)
    x, y = both[8:16], both[16:]
    with pytest.raises(OutsideAccess, match=r"outside 'x' \(bytes 0 to 32\)") as caught:
        emulate(f"if (threadIdx.x == 3) {{\n{access};\n}}", x=x, y=y)
    assert caught.value.line == 3
    assert "thread 3" in str(caught.value)
    assert isinstance(caught.value, IndexError)


def test_an_address_of_no_argument():
    with pytest.raises(OutsideAccess, match="its base is none of theirs"):
        emulate("it_load(x + 1, 0);", x=zeros(8))


def test_accesses_inside_are_none_of_its_business():
    x, y = np.arange(8, dtype=np.float32), zeros(8)
    emulate("if (threadIdx.x < 8) it_store(y, threadIdx.x, it_load(x, 7 - threadIdx.x));", x=x, y=y)
    assert (y == x[::-1]).all()


@pytest.mark.parametrize("access", ["it_load(piece, 16)", "it_store(piece, -1, 1)", "it_piece<int>(64, 17)"])
def test_an_access_outside_its_piece_of_shared_memory(access):
    with pytest.raises(OutsideAccess, match="piece of shared memory"):
        emulate(f"int* piece = it_piece<int>(32, 16);\n{access};", shared=128)


def test_a_wide_access_must_be_aligned():
    with pytest.raises(MisalignedAccess, match="a read of 16 bytes at byte 4 of 'x'"):
        emulate("float v[4];\nit_load<4>(v, x, 1);", x=zeros(16))


def test_wide_accesses():
    x, y = np.arange(256, dtype=np.int8), zeros(256, np.int8)
    emulate(
        "signed char v[8];\nit_load<8>(v, x, 8 * threadIdx.x);\nit_store<8>(y, 248 - 8 * threadIdx.x, v);",
        x=x,
        y=y,
    )
    assert (y.reshape(32, 8) == x.reshape(32, 8)[::-1]).all()


WRITE = "it_store(held, threadIdx.x, 1);\n"
RACES = {
    "two writes": "it_store(held, threadIdx.x / 2, 1);",
    "a write and a read": WRITE + "it_load(held, threadIdx.x ^ 1);",
    "a read and a write": "it_load(held, threadIdx.x ^ 1);\nit_store(held, threadIdx.x, 1);",
    "a write under many readers": "it_load(held, 5);\nif (threadIdx.x == 5) it_store(held, 5, 1);",
    "an atomic and a write": (
        "it_atomic_add<IT_RELAXED, IT_BLOCK>(held, 0, 1);\nif (threadIdx.x == 9) it_store(held, 0, 1);"
    ),
    "a shuffle orders no memory": WRITE + "it_shuffle(1, 0);\nit_load(held, threadIdx.x ^ 1);",
    "a warp's barrier orders one warp": WRITE + "__syncwarp();\nit_load(held, threadIdx.x ^ 32);",
    "part of a wide access": "int v[4] = {};\n" + WRITE + "it_load<4>(v, held, threadIdx.x / 4 * 4);",
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("place", ["global", "shared"])
def test_races_between_threads_of_a_block(name, place, seed):
    held = zeros(64, np.int32)
    where = "int* held = it_piece<int>(0, 64);\n" if place == "shared" else "int* held = x;\n"
    with pytest.raises(RacingAccess, match="races with thread"):
        emulate(where + RACES[name], threads=64, shared=256, seed=seed, x=held)


def test_a_race_names_both_lines():
    body = "if (threadIdx.x == 0) it_store(x, 1, 5);\n\nif (threadIdx.x == 9) it_load(x, 1);"
    with pytest.raises(RacingAccess, match=r"line (2|4), .* races with thread (0|9) at line (4|2)") as caught:
        emulate(body, x=zeros(4, np.int32))
    assert f"at line {6 - caught.value.line}" in str(caught.value)


ORDERED = {
    "a barrier": WRITE + "__syncthreads();\nit_load(held, threadIdx.x ^ 33);",
    "readers, a barrier, a writer": "it_load(held, 5);\n__syncthreads();\nif (threadIdx.x == 5) it_store(held, 5, 1);",
    "a warp's barrier": WRITE + "__syncwarp();\nit_load(held, threadIdx.x ^ 1);",
    "readers of a warp, its barrier, a writer": (
        "if (threadIdx.x < 32) it_load(held, 5);\nif (threadIdx.x < 32) __syncwarp();\n"
        "if (threadIdx.x == 5) it_store(held, 5, 1);"
    ),
    "atomics alone": (
        "it_atomic_add<IT_RELAXED, IT_BLOCK>(held, 0, 1);\nit_atomic_load<IT_RELAXED, IT_BLOCK>(held, 0);\n"
        "it_atomic_exchange<IT_RELAXED, IT_BLOCK>(held, 0, 3);"
    ),
    "one's own": WRITE + "it_load(held, threadIdx.x);\nit_store(held, threadIdx.x, 2);",
    "reads": "it_load(held, 5);\nit_load(held, threadIdx.x);",
    "a wide access after a barrier": WRITE + "__syncthreads();\nint v[4];\nit_load<4>(v, held, threadIdx.x & ~3);",
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("place", ["global", "shared"])
def test_ordered_accesses_are_no_races(name, place, seed):
    where = "int* held = it_piece<int>(0, 64);\n" if place == "shared" else "int* held = x;\n"
    emulate(where + ORDERED[name], threads=64, shared=256, seed=seed, x=zeros(64, np.int32))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("others", ["it_store(x, 0, 1);", "it_load(x, 0);"])
def test_races_between_blocks(others, seed):
    body = f"if (threadIdx.x == 0) {{ if (blockIdx.x == 1) it_store(x, 0, 1); else {others} }}"
    with pytest.raises(RacingAccess, match="races with another instance"):
        emulate(body, blocks=3, seed=seed, x=zeros(4, np.int32))


def test_blocks_have_shared_memory_of_their_own_and_earlier_launches_are_over():
    x = zeros(4, np.int32)
    emulate("int* held = it_piece<int>(0, 32);\nit_store(held, threadIdx.x, 1);", blocks=4, shared=128)
    for _ in range(2):
        emulate("if (threadIdx.x == 0) it_store(x, 0, 1);", x=x)


def test_atomics_that_order_excuse_blocks():
    body = """
    if (threadIdx.x == 0) {
        while (it_atomic_compare_exchange<IT_ACQUIRE, IT_DEVICE>(lock, 0, 0, 1) != 0) {}
        it_store(x, 0, it_load(x, 0) + 1);
        it_atomic_exchange<IT_RELEASE, IT_DEVICE>(lock, 0, 0);
    }
    """
    lock, x = zeros(1, np.int32), zeros(1, np.int32)
    emulate(body, blocks=5, lock=lock, x=x)
    assert x[0] == 5


PASSED_ON = """
    it_store(x, 64 * blockIdx.x + threadIdx.x, 1);
    RELEASED
    int ticket = 0;
    if (threadIdx.x == 0) ticket = it_atomic_add<ORDER, IT_DEVICE>(lock, 0, 1);
    int* held = it_piece<int>(0, 1);
    if (threadIdx.x == 0) it_store(held, 0, ticket);
    __syncthreads();
    if (it_load(held, 0) == (int)gridDim.x - 1)
        for (int k = 0; k < (int)gridDim.x; ++k) it_load(x, 64 * k + (threadIdx.x ^ 33));
"""
"""Each block writes, the last one to say so reads what all have written."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", ["IT_ACQ_REL", "IT_RELEASE", "IT_ACQUIRE", "IT_RELAXED"])
@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
def test_what_blocks_pass_on_is_released_and_acquired(order, barrier, seed):
    """One thread releases what the others wrote only if a barrier stands between, and acquires for all by another."""
    body = PASSED_ON.replace("RELEASED", barrier).replace("ORDER", order)
    lock, x = zeros(1, np.int32), zeros(256, np.int32)
    if order == "IT_ACQ_REL" and barrier:
        emulate(body, threads=64, blocks=4, shared=4, seed=seed, lock=lock, x=x)
        return
    with pytest.raises(RacingAccess, match="races with another instance"):
        emulate(body, threads=64, blocks=4, shared=4, seed=seed, lock=lock, x=x)


def test_who_acquires_sees_no_more_for_the_others():
    """Without a barrier behind it, an acquire orders its own thread."""
    body = """
    if (blockIdx.x == 0) {
        it_store(x, threadIdx.x, 1);
        __syncthreads();
        if (threadIdx.x == 0) it_atomic_exchange<IT_RELEASE, IT_DEVICE>(lock, 0, 1);
    } else {
        if (threadIdx.x == 0) while (it_atomic_load<IT_ACQUIRE, IT_DEVICE>(lock, 0) == 0) {}
        BARRIER
        if (threadIdx.x == WHO) it_load(x, 5);
    }
    """

    def run(seed, who, barrier):
        arrays = {"lock": zeros(1, np.int32), "x": zeros(32, np.int32)}
        emulate(body.replace("WHO", who).replace("BARRIER", barrier), blocks=2, seed=seed, **arrays)

    seed = next(seed for seed in range(16) if _ends(run, seed, "0", ""))
    run(seed, "9", "__syncthreads();")
    with pytest.raises(RacingAccess, match="races with another instance"):
        run(seed, "9", "")


def _ends(run, *how):
    """False where the reader's block comes first: blocks run one after the other."""
    try:
        run(*how)
    except Deadlock:
        return False
    return True


def test_views_that_overlap_are_watched_together():
    x = zeros(8, np.int32)
    with pytest.raises(RacingAccess):
        emulate("it_store(x, threadIdx.x & 7, 1);\nit_load(y, threadIdx.x & 3);", x=x, y=x[4:])


def test_ranges_of_overlapping_memory_join():
    whole = np.zeros(16, np.float64)
    byte = whole.view(np.int8)[8:12]
    odd = Memory(name="odd", pointer=0, low=whole.ctypes.data + 5, high=whole.ctypes.data + 7, itemsize=2)
    apart = np.zeros(4, np.int16)
    memory = [memory_of("a", whole), memory_of("b", byte), odd, memory_of("c", apart)]
    places, ranges = _ranges(memory)
    assert places[0] == places[1] == places[2] != places[3]
    assert ranges[places[0]] == (whole.ctypes.data, whole.ctypes.data + 128, 1)
    assert ranges[places[3]][2] == 2


def test_shared_memory_is_poisoned_between_blocks():
    """A block that reads what it has not written sees no other block's values, but NaN."""
    out = zeros(96)
    body = """
    float* held = it_piece<float>(0, 32);
    it_store(out, 32 * blockIdx.x + threadIdx.x, it_load(held, threadIdx.x));
    it_store(held, threadIdx.x, 5.0f);
    """
    emulate(body, blocks=3, shared=128, out=out)
    assert np.isnan(out).all()


def test_a_copy_arrives_when_its_group_is_waited_for():
    x, out = np.arange(64, dtype=np.float32), zeros(5 * 32)
    body = """
    float* first = it_piece<float>(0, 32);
    float* second = it_piece<float>(128, 32);
    it_store(first, threadIdx.x, -1.0f);
    it_store(second, threadIdx.x, -1.0f);
    it_copy_async<1>(first, threadIdx.x, x, threadIdx.x, true);
    it_commit_async();
    it_copy_async<1>(second, threadIdx.x, x, 32 + threadIdx.x, threadIdx.x < 16);
    it_commit_async();
    it_store(out, threadIdx.x, it_load(first, threadIdx.x));
    it_wait_async<1>();
    it_store(out, 32 + threadIdx.x, it_load(first, threadIdx.x));
    it_store(out, 64 + threadIdx.x, it_load(second, threadIdx.x));
    it_wait_async<0>();
    it_store(out, 96 + threadIdx.x, it_load(second, threadIdx.x));
    __syncthreads();
    it_store(out, 128 + threadIdx.x, it_load(first, threadIdx.x ^ 1));
    """
    emulate(body, shared=256, x=x, out=out)
    stale, early, still, late, shared = out.reshape(5, 32)
    assert (stale == -1).all()
    assert (early == x[:32]).all()
    assert (still == -1).all()
    assert (late == np.where(np.arange(32) < 16, x[32:], 0)).all()
    assert (shared == x[np.arange(32) ^ 1]).all()


def test_an_asynchronous_copy_is_checked_like_any_access():
    with pytest.raises(OutsideAccess, match="outside 'x'"):
        emulate("it_copy_async<4>(it_piece<float>(0, 4), 0, x, 4, true);", shared=16, x=zeros(4))
    with pytest.raises(RacingAccess):
        emulate("it_copy_async<1>(it_piece<float>(0, 4), 0, x, 0, true);", shared=16, x=zeros(4))
    emulate(
        "if (threadIdx.x == 0) it_copy_async<1>(it_piece<float>(0, 4), 0, x, 9, false);",
        shared=16,
        x=zeros(4),
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_arrives_where_nobody_reads(seed):
    """The barrier stands between the beginning of the copy and its end: it orders nothing."""
    body = """
    float* held = it_piece<float>(0, 64);
    it_copy_async<1>(held, threadIdx.x, x, threadIdx.x, true);
    it_commit_async();
    __syncthreads();
    it_wait_async<0>();
    it_load(held, threadIdx.x ^ 33);
    """
    with pytest.raises(RacingAccess):
        emulate(body, threads=64, shared=256, seed=seed, x=zeros(64))
