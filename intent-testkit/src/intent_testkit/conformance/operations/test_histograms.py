"""Histograms against numpy: what counts, dtypes, dims that are not counted, counts carried through loops."""

from __future__ import annotations

import numpy as np
import pytest

from intent.physical import Dim, Fragment
from intent.types.dtypes import BY_NAME, I32, I64
from intent_testkit.cases.draw import Array
from intent_testkit.programs import Builder, run, view
from intent_testkit.programs.values import generator


def _counts(values: Array, bins: int, valid: Array | None = None) -> Array:
    """Counts of the values that are the number of a bin."""
    wide = values.astype(object).reshape(-1)
    taken = [int(v) for k, v in enumerate(wide) if valid is None or valid.reshape(-1)[k]]
    return np.array([sum(v == b for v in taken) for b in range(bins)])


def _around(dtype: str, bins: int, *shape: int) -> Array:
    """Numbers of bins, of the next ones outside, and the least and greatest of the dtype."""
    rng, kind = generator("counted", dtype, bins), BY_NAME[dtype]
    low, high = kind.minimum, kind.maximum
    odd = [v for v in (low, high, -1, bins, bins + 256, 2 * bins) if low <= v <= high]
    inside = rng.integers(0, min(bins - 1, high), shape, endpoint=True)
    outside = np.array(odd, kind.numpy)[rng.integers(0, len(odd), shape)]
    return np.where(rng.random(shape) < 0.8, inside.astype(kind.numpy), outside)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("bins", [1, 2, 4, 32, 64, 256, 1024])
def test_only_numbers_of_bins_count(intent_provider: str, dtype: str, bins: int) -> None:
    """A value that is the number of no bin counts nowhere."""
    n, k = Dim("n", 128), Dim("k", bins)
    b = Builder(n, k)
    x, y = view("x", dtype, "128"), view("y", "i32", str(bins), "out")

    def body(_pid: Fragment) -> None:
        b.store(y, [b.lane(k)], b.histogram(b.load(x, b.lane(n)), n, bins=k, dtype=I32))

    values, out = _around(dtype, bins, 128), np.full(bins, -7, np.int32)
    run(
        intent_provider,
        b.program("counted", [x, y], b.segment([("one", 1, 1)], body)),
        {"x": values, "y": out},
    )
    np.testing.assert_array_equal(out, _counts(values, bins))


@pytest.mark.parametrize("out", ["i8", "u8", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("carried", [False, True])
def test_counts_wrap_in_their_dtype_and_start_at_the_accumulator(
    intent_provider: str, out: str, carried: bool
) -> None:
    """All values in one bin but a few, more of them than the narrow dtypes hold; masked lanes do not count."""
    n, k = Dim("n", 512), Dim("k", 8)
    b = Builder(n, k)
    x, ok, start = view("x", "i32", "512"), view("ok", "bool", "512"), view("start", out, "8")
    y = view("y", out, "8", "out")

    def body(_pid: Fragment) -> None:
        lane, bin_ = b.lane(n), b.lane(k)
        before = b.load(start, bin_) if carried else None
        counts = b.histogram(
            b.load(x, lane), n, bins=k, dtype=BY_NAME[out], valid=b.load(ok, lane), accumulator=before
        )
        b.store(y, [bin_], counts)

    kind, rng = BY_NAME[out].numpy, generator("wrapping", out)
    values = np.where(rng.random(512) < 0.9, 5, rng.integers(0, 8, 512)).astype(np.int32)
    given, valid = rng.integers(100, 120, 8).astype(kind), rng.random(512) < 0.8
    found = np.zeros(8, kind)
    program = b.program("wrapping", [x, ok, start, y], b.segment([("one", 1, 1)], body))
    run(intent_provider, program, {"x": values, "ok": valid, "start": given, "y": found})
    wanted = _counts(values, 8, valid) + (given.astype(np.int64) if carried else 0)
    np.testing.assert_array_equal(found, wanted.astype(kind))


@pytest.mark.parametrize("order", ["rnmk", "krmn", "nkrm", "mnkr"])
@pytest.mark.parametrize("rows", [1, 4])
def test_dims_that_are_not_counted_have_bins_of_their_own(
    intent_provider: str, order: str, rows: int
) -> None:
    """Two dims are counted, a third is not; the mask has a row less, and dims stand in any order."""
    dims = {"r": Dim("r", rows), "n": Dim("n", 16), "m": Dim("m", 8), "k": Dim("k", 16)}
    r, n, m, k = (dims[name] for name in "rnmk")
    b = Builder(*(dims[name] for name in order))
    x, ok, y = (
        view("x", "i32", f"{rows} 16 8"),
        view("ok", "bool", f"{rows} 8"),
        view("y", "i32", f"{rows} 16", "out"),
    )

    def body(_pid: Fragment) -> None:
        row, across = b.lane(r), b.lane(m)
        values = b.load(x, row, b.lane(n), across)
        counts = b.histogram(values, n, m, bins=k, dtype=I32, valid=b.load(ok, row, across))
        b.store(y, [row, b.lane(k)], counts)

    values = _around("i32", 16, rows, 16, 8)
    valid, found = generator("rows", rows).random((rows, 8)) < 0.7, np.zeros((rows, 16), np.int32)
    program = b.program("rows", [x, ok, y], b.segment([("one", 1, 1)], body))
    run(intent_provider, program, {"x": values, "ok": valid, "y": found})
    whole = np.broadcast_to(valid[:, None, :], values.shape)
    np.testing.assert_array_equal(found, [_counts(v, 16, t) for v, t in zip(values, whole, strict=True)])


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("used", ["at the end", "in the loop", "twice"])
def test_counts_carried_through_loops(intent_provider: str, nested: bool, dtype: str, used: str) -> None:
    """Passes of a loop count on; nothing but counting may happen to the counts, or something in every pass."""
    n, k = Dim("n", 64), Dim("k", 32)
    b = Builder(n, k)
    x, y, z = view("x", "i32", "640"), view("y", dtype, "32", "out"), view("z", dtype, "32", "out")
    kind = BY_NAME[dtype]

    def body(_pid: Fragment) -> None:
        zero = b.broadcast(b.constant(0, kind), k)

        def count(at: Fragment, before: Fragment) -> Fragment:
            value = b.load(x, b.op("add", at, b.lane(n)))
            counts = b.histogram(value, n, bins=k, dtype=kind, accumulator=before)
            if used == "in the loop":
                b.store(z, [b.lane(k)], counts)
            if used == "twice":
                odd = b.op("eq", b.op("and", value, b.constant(1, I32)), b.constant(1, I32))
                counts = b.histogram(value, n, bins=k, dtype=kind, accumulator=counts, valid=odd)
            return counts

        def outer(at: Fragment, before: Fragment) -> Fragment:
            end = b.op("add", at, b.constant(320))
            return b.loop(at, end, b.constant(64), [before], count)[0]

        step, fill = (b.constant(320), outer) if nested else (b.constant(64), count)
        (total,) = b.loop(b.constant(0), b.constant(640), step, [zero], fill)
        b.store(y, [b.lane(k)], total)
        if used != "in the loop":
            b.store(z, [b.lane(k)], total)

    values = _around("i32", 32, 640)
    counts, seen = np.zeros(32, kind.numpy), np.zeros(32, kind.numpy)
    program = b.program("carried", [x, y, z], b.segment([("one", 1, 1)], body))
    run(intent_provider, program, {"x": values, "y": counts, "z": seen})
    wanted = _counts(values, 32) + (_counts(values, 32, values % 2 == 1) if used == "twice" else 0)
    np.testing.assert_array_equal(counts, wanted)
    np.testing.assert_array_equal(seen, wanted)


def test_two_histograms_and_a_sum_of_one(intent_provider: str) -> None:
    """Counts of one are used while the other one counts."""
    n, k, j = Dim("n", 128), Dim("k", 16), Dim("j", 64)
    b = Builder(n, k, j)
    x, y, z, s = (
        view("x", "i32", "128"),
        view("y", "i32", "16", "out"),
        view("z", "i64", "64", "out"),
        view("s", "i32", "1", "out"),
    )

    def body(_pid: Fragment) -> None:
        value = b.load(x, b.lane(n))
        first = b.histogram(value, n, bins=k, dtype=I32)
        second = b.histogram(value, n, bins=j, dtype=I64)
        b.store(z, [b.lane(j)], second)
        b.store(y, [b.lane(k)], first)
        b.store(s, [b.constant(0)], b.reduce(first, k))

    values = _around("i32", 16, 128)
    counts, wide, total = np.zeros(16, np.int32), np.zeros(64, np.int64), np.zeros(1, np.int32)
    program = b.program("two", [x, y, z, s], b.segment([("one", 1, 1)], body))
    run(intent_provider, program, {"x": values, "y": counts, "z": wide, "s": total})
    np.testing.assert_array_equal(counts, _counts(values, 16))
    np.testing.assert_array_equal(wide, _counts(values, 64))
    assert total[0] == _counts(values, 16).sum()
