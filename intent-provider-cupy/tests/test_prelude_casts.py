"""Casts of the prelude against numpy and ml_dtypes, and the texts that need them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cupy_text import TYPES, emulate

from intent_provider_cupy import prelude

NARROW = {
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def cast(values, target):
    """``it_cast`` of every value."""
    values = np.ascontiguousarray(values)
    n = -(-values.size // 32) * 32
    x, y = np.zeros(n, values.dtype), np.zeros(n, target)
    x[: values.size] = values
    to = TYPES[np.dtype(target).name]
    body = f"const int i = blockIdx.x * 32 + threadIdx.x;\nit_store(y, i, it_cast<{to}>(it_load(x, i)));"
    emulate(body, blocks=n // 32, x=x, y=y)
    return y[: values.size]


def numbers(values, dtype):
    """Values as ``dtype`` by numpy, which warns of signalling NaN and of overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype)


def same(actual, expected):
    """Equal bits; any NaN equals any NaN."""
    assert actual.dtype == expected.dtype
    nan = np.isnan(numbers(expected, np.float64))
    assert (np.isnan(numbers(actual, np.float64)) == nan).all()
    word = f"u{expected.itemsize}"
    different = (actual.view(word) != expected.view(word)) & ~nan
    assert not different.any(), (actual[different][:5], expected[different][:5])


@pytest.mark.parametrize("name", NARROW)
def test_every_narrow_float_widens_exactly(name):
    narrow = NARROW[name]
    word = np.dtype(f"u{np.dtype(narrow).itemsize}")
    every = np.arange(1 << (8 * word.itemsize), dtype=word).view(narrow)
    same(cast(every, np.float32), numbers(every, np.float32))
    same(cast(every, np.float64), numbers(every, np.float64))
    same(cast(every, narrow), every)


def difficult(narrow):
    """f64 numbers around every value of a format and every midpoint of two neighbours, and beyond both ends."""
    word = np.dtype(f"u{np.dtype(narrow).itemsize}")
    every = numbers(np.arange(1 << (8 * word.itemsize), dtype=word).view(narrow), np.float64)
    finite = np.unique(every[np.isfinite(every)])
    middle = (finite[1:] + finite[:-1]) / 2
    largest = finite[-1] + (finite[-1] - finite[-2]) / 2
    points = np.concatenate(
        [finite, middle, [largest, -largest, largest * 8, 5e-324, 1e300, np.inf, -np.inf, np.nan]]
    )
    nudged = [
        np.nextafter(points, np.inf),
        np.nextafter(points, -np.inf),
        points * (1 + 2**-40),
        points * (1 - 2**-40),
    ]
    with np.errstate(invalid="ignore"):
        values = np.concatenate([points, *nudged])
    if narrow is ml_dtypes.float8_e4m3fn:  # beyond its range there is no meaning
        values = values[np.isnan(values) | (np.abs(values) < 464)]
    return values


def rounded(values, narrow):
    """``values`` (f64) as ``narrow``, rounded once: numpy for f16; else by the distances to the neighbours."""
    if narrow is np.float16:
        return numbers(values, np.float16)
    word = np.dtype(f"u{np.dtype(narrow).itemsize}")
    top = int(np.asarray(ml_dtypes.finfo(narrow).max).view(word))
    grid = np.arange(top + 1, dtype=word).view(narrow).astype(np.float64)
    grid = np.append(grid, 2 * grid[-1] - grid[-2])  # where infinity begins to be nearest
    size = np.abs(values)
    above = np.clip(np.searchsorted(grid, size), 1, top + 1)
    low, high = grid[above - 1], grid[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    bits = np.where(np.isnan(values), 0, np.where(up, above, above - 1)).astype(word)
    bits = np.where(size > grid[-1], top + 1, bits).astype(word)
    bits |= np.where(np.signbit(values), word.type(1 << (8 * word.itemsize - 1)), word.type(0))
    made = bits.view(narrow)
    made[np.isnan(values)] = np.nan
    return made


@pytest.mark.parametrize("name", NARROW)
def test_f64_rounds_once(name):
    values = difficult(NARROW[name])
    same(cast(values, NARROW[name]), rounded(values, NARROW[name]))


@pytest.mark.parametrize("name", NARROW)
def test_f32_rounds_to_nearest_even(name):
    narrow = NARROW[name]
    values = numbers(difficult(narrow), np.float32)
    if narrow is ml_dtypes.float8_e4m3fn:
        values = values[np.isnan(values) | (np.abs(values) < 464)]
    same(cast(values, narrow), numbers(values, narrow))


def wholes(dtype):
    """Integers of a type: its ends, powers of two and their neighbours, and numbers with long tails of bits."""
    info = np.iinfo(dtype)
    found = {info.min, info.max, 0}
    for k in range(info.bits):
        for tail in (
            0,
            1,
            -1,
            1 << max(k - 9, 0),
            (1 << max(k - 9, 0)) + 1,
            1 << max(k - 12, 0),
            3 << max(k - 25, 0),
        ):
            found |= {(1 << k) + tail, -(1 << k) - tail}
    return np.array(sorted(v for v in found if info.min <= v <= info.max), dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_integers_round_once(dtype, name):
    values = wholes(dtype)
    exact = rounded_integers([int(v) for v in values], NARROW[name])
    same(cast(values, NARROW[name]), exact)


def rounded_integers(values, narrow):
    """Python integers as ``narrow``, rounded once: sticky bits keep what f64 would lose."""
    sticky = []
    for value in values:
        size, lost = abs(value), max(0, abs(value).bit_length() - 50)
        kept = (size >> lost << lost) | ((1 << lost) if size & ((1 << lost) - 1) else 0)
        sticky.append(float(kept if value >= 0 else -kept))
    return rounded(np.array(sticky), narrow)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", [*INTEGERS, np.float32, np.float64, np.bool_])
def test_integers_keep_low_bits_or_round(source, target):
    values = wholes(source)
    same(cast(values, target), values.astype(target))


@pytest.mark.parametrize("target", [np.int32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("name", [*NARROW, "float32", "float64"])
def test_floats_truncate(name, target):
    values = np.array([0.0, 0.25, 0.75, 1.0, 1.5, 2.5, 3.0, 6.0, 96.0], NARROW.get(name, name))
    same(cast(values, target), values.astype(np.float64).astype(target))


def test_a_text_gets_the_files_it_uses_and_those_they_use():
    names = [name for name, text in prelude.files().items() if text in prelude.needed("it_mma(d, a, b);")]
    assert {"base", "casts", "mma"} <= set(names)
    assert not {"atomics", "async"} & set(names)
    assert prelude.needed("int i = 0;") == ""


def test_every_atomic_brings_its_file():
    kinds = ("load", "store", "exchange", "add", "max", "min", "and", "or", "xor", "compare_exchange")
    for kind in kinds:
        assert prelude.files()["atomics"] in prelude.needed(
            f"it_atomic_{kind}<IT_RELAXED, IT_BLOCK>(x, 0, 1);"
        )
