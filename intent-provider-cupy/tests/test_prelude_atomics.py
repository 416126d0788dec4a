"""Atomic accesses of every element type, as emulation does them, and products of a warp."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cupy_text import TYPES, emulate

from intent_provider_cupy.emulate.faults import MisalignedAccess, OutsideAccess, RacingAccess

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, ml_dtypes.float8_e5m2]


def changed(kind, values, start, *, seed=0):
    """An element that starts as ``start`` after 64 threads gave ``values``, and the old values they got."""
    values = np.ascontiguousarray(values)
    x, old = np.array([start, start, start], values.dtype), np.zeros_like(values)
    body = f"""
    const int i = threadIdx.x;
    it_store(old, i, it_atomic_{kind}<IT_ACQ_REL, IT_DEVICE>(x, 1, it_load(values, i)));
    """
    emulate(body, threads=64, seed=seed, x=x, old=old, values=values)
    untouched = np.array([start], values.dtype).tobytes()
    assert x[:1].tobytes() == x[2:].tobytes() == untouched, "its neighbours stay"
    return x[1], old


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_extremes(kind, dtype):
    values = np.random.default_rng(3).integers(0, 57, 64).astype(dtype)
    found, old = changed(kind, values, 20)
    everything = np.append(values.astype(np.float64), 20)
    assert float(found) == (everything.max() if kind == "max" else everything.min())
    assert 20 in old.astype(np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_wins(kind, dtype):
    values = np.arange(64).astype(dtype)
    values[17] = np.nan
    assert np.isnan(changed(kind, values, 1)[0])
    assert np.isnan(changed(kind, np.arange(64).astype(dtype), np.nan)[0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_wrap(dtype):
    info = np.iinfo(dtype)
    values = np.full(64, info.max, dtype)
    found, _ = changed("add", values, 7)
    assert int(found) == (64 * int(info.max) + 7 - int(info.min)) % (1 << info.bits) + int(info.min)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_floats_round_at_each_step(dtype):
    found, old = changed("add", np.full(64, 0.25, dtype), 1)
    expected, steps = np.asarray(1, dtype), []
    for _ in range(64):
        steps.append(float(expected))
        expected = (expected.astype(np.float32) + np.float32(0.25)).astype(dtype)
    assert float(found) == float(expected)
    assert sorted(old.astype(np.float64)) == sorted(steps)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    ("kind", "combine"), [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]
)
def test_bits(kind, combine, dtype):
    values = np.random.default_rng(5).integers(0, 100, 64).astype(dtype)
    assert changed(kind, values, 77)[0] == combine.reduce(values, initial=dtype(77))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("seed", range(3))
def test_exchange_hands_every_value_on(dtype, seed):
    values = np.arange(64).astype(dtype)
    found, old = changed("exchange", values, 40, seed=seed)
    given = sorted([*values.astype(np.float64), 40.0])
    assert sorted([*old.astype(np.float64), float(found)]) == given


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_compare_exchange_load_and_store(dtype):
    x, old, seen = np.array([5, 6, 7], dtype), np.zeros(32, dtype), np.zeros(32, dtype)
    to = TYPES[np.dtype(dtype).name]
    body = f"""
    const {to} six = it_cast<{to}>(6), mine = it_cast<{to}>((int)threadIdx.x + 8);
    it_store(old, threadIdx.x, it_atomic_compare_exchange<IT_RELAXED, IT_DEVICE>(x, 1, six, mine));
    __syncthreads();
    it_store(seen, threadIdx.x, it_atomic_load<IT_ACQUIRE, IT_DEVICE>(x, 1));
    __syncthreads();
    it_atomic_store<IT_RELEASE, IT_DEVICE>(x, 2, it_cast<{to}>(3));
    """
    emulate(body, x=x, old=old, seen=seen)
    assert [float(v) for v in x[[0, 2]]] == [5, 3]
    assert (old.astype(np.float64) == 6).sum() == 1
    winner = int(np.flatnonzero(old.astype(np.float64) == 6)[0])
    assert float(x[1]) == float(np.asarray(winner + 8, dtype))
    assert (seen == x[1]).all()


TOGETHER = [
    (np.float32, 2), (np.float32, 4), (np.float16, 2), (np.float16, 8), (ml_dtypes.bfloat16, 4),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "n"), TOGETHER)
@pytest.mark.parametrize("seed", range(3))
def test_sums_of_several_elements_at_once(dtype, n, seed):
    """Sixteen threads add to the same elements; with small integers every order gives the same."""
    x, values = np.ones(4 * n, dtype), np.arange(64 * n).astype(dtype) % dtype(7)
    to = TYPES[np.dtype(dtype).name]
    body = f"""
    {to} mine[{n}];
    it_load<{n}>(mine, values, {n} * threadIdx.x);
    it_atomic_add_all<{n}, IT_DEVICE>(x, {n} * (threadIdx.x & 3), mine);
    """
    emulate(body, threads=64, seed=seed, x=x, values=values)
    wanted = 1 + values.astype(np.float64).reshape(16, 4 * n).sum(0)
    assert (x.astype(np.float64) == wanted).all()


@pytest.mark.parametrize(("place", "error"), [("2", MisalignedAccess), ("16", OutsideAccess)])
def test_sums_of_several_elements_are_aligned_and_inside(place, error):
    with pytest.raises(error):
        emulate(
            f"float v[4] = {{}}; it_atomic_add_all<4, IT_DEVICE>(x, {place}, v);", x=np.zeros(16, np.float32)
        )


def test_sums_of_several_elements_race_with_plain_accesses():
    body = """
    float v[4] = {};
    if (threadIdx.x) it_atomic_add_all<4, IT_DEVICE>(x, 0, v); else it_store(x, 3, 1.0f);
    """
    with pytest.raises(RacingAccess):
        emulate(body, x=np.zeros(4, np.float32))


PRODUCTS = [
    (np.float16, np.float32, 16), (ml_dtypes.bfloat16, np.float32, 16), (ml_dtypes.float8_e4m3fn, np.float32, 32),
    (ml_dtypes.float8_e5m2, np.float32, 32), (np.int8, np.int32, 32), (np.uint8, np.int32, 32),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "total", "depth"), PRODUCTS)
def test_products_of_a_warp(dtype, total, depth):
    """Fragments as PTX lays them out: rows lane / 4, four bytes of k a register, k in quads of lanes."""
    rng = np.random.default_rng(depth)
    low = 0 if dtype is np.uint8 else -8
    a, b = rng.integers(low, 9, (16, depth)).astype(dtype), rng.integers(low, 9, (8, depth)).astype(dtype)
    d = rng.integers(-9, 9, (16, 8)).astype(total)
    expected = d.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T
    each = depth // 8
    to, acc = TYPES[np.dtype(dtype).name], TYPES[np.dtype(total).name]
    body = f"""
    const int row = threadIdx.x / 4, quad = threadIdx.x % 4;
    {to} x[{4 * each}], y[{2 * each}];
    for (int e = 0; e < {each}; ++e) for (int half = 0; half < 2; ++half) {{
        const int k = {each} * quad + e + {4 * each} * half;
        x[{2 * each} * half + e] = it_load(a, row * {depth} + k);
        x[{2 * each} * half + {each} + e] = it_load(a, (row + 8) * {depth} + k);
        y[{each} * half + e] = it_load(b, row * {depth} + k);
    }}
    {acc} sum[4];
    for (int e = 0; e < 4; ++e) sum[e] = it_load(d, (row + 8 * (e / 2)) * 8 + 2 * quad + e % 2);
    it_mma(sum, x, y);
    for (int e = 0; e < 4; ++e) it_store(d, (row + 8 * (e / 2)) * 8 + 2 * quad + e % 2, sum[e]);
    """
    emulate(body, a=a, b=b, d=d)
    assert (d.astype(np.float64) == expected).all()
