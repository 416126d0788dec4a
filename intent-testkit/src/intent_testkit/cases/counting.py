"""Cases of histograms and random bits."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import (
    Array,
    Extents,
    among,
    counts,
    integers,
    normal,
)
from intent_testkit.kernels import counting as k

PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 33))
SCATTER = sizes("N K", (0, 3), (1, 1), (33, 5), (130, 7))
MASK = 0xFFFFFFFF


def philox(seed: int, counter: int) -> int:
    """The word that a counter addresses, from the published definition of Philox4x32-10."""
    seed, block = seed % 2**64, (counter // 4) % 2**64
    c = [block & MASK, block >> 32, 0, 0]
    key = [seed & MASK, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ key[0], q & MASK, (p >> 32) ^ c[3] ^ key[1], p & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return c[counter % 4]


def _words(v: Values) -> dict[str, object]:
    words = [[philox(int(s), int(n)) for n in v.counter] for s in v.seed]
    return {"y": np.array(words, np.uint32).reshape(len(v.seed), len(v.counter))}


def _dropped(v: Values) -> dict[str, object]:
    u = np.array([(philox(v.seed, n) >> 8) * 2.0**-24 for n in range(v.x.size)]).reshape(v.x.shape)
    return {"y": np.where(u < np.float32(v.p), 0, v.x * 2)}


def _counted_rows(v: Values) -> dict[str, object]:
    bins = v.raw("y").shape[1]
    rows = [np.bincount(r[:n], minlength=bins) for r, n in zip(v.x, v.lengths, strict=True)]
    return {"y": np.array(rows, np.int64).reshape(-1, bins)}


def _bins(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return rng.integers(0, extents["K"], shape)


def _near_bins(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Numbers of bins, and some that only a cast to fewer bits would make one."""
    odd = np.array([-1, extents["K"], 2**32, 2**40 + 1, -(2**63), 2**63 - 1])
    return np.where(rng.random(shape) < 0.7, rng.integers(0, extents["K"], shape), rng.choice(odd, shape))


def _last_bin(_: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return np.full(shape, extents["K"] - 1)


def _counted_wide(v: Values) -> dict[str, object]:
    bins = v.raw("y").shape[0]
    return {"y": np.bincount(v.x[(v.x >= 0) & (v.x < bins)], minlength=bins)}


def _counted_in_a_loop(v: Values) -> dict[str, object]:
    total = np.zeros(v.raw("y").shape[0], np.int64)
    for row in v.x:
        total = total * 2 + np.bincount(row, minlength=total.size)
    return {"y": total}


COUNTS = (
    Case(
        name="histogram_whole",
        kernel=k.histogram_whole,
        parameters=(view("x", "i32", "N", _bins), out("y", "i32", "K")),
        oracle=lambda v: {"y": np.bincount(v.x, minlength=v.raw("y").shape[0])},
        extents=SCATTER,
        segments=(segment("K"),),
    ),
    Case(
        name="histogram_of_many_bins",
        kernel=k.histogram_whole,
        parameters=(view("x", "i32", "N", _bins), out("y", "i32", "K")),
        oracle=lambda v: {"y": np.bincount(v.x, minlength=v.raw("y").shape[0])},
        extents=sizes("N K", (100, 1), (300, 3), (0, 256), (1000, 256), (777, 1000)),
        segments=(segment("K"),),
    ),
    Case(
        name="histogram_of_one_value",
        kernel=k.histogram_whole,
        parameters=(view("x", "i32", "N", _last_bin), out("y", "i32", "K")),
        oracle=lambda v: {"y": np.bincount(v.x, minlength=v.raw("y").shape[0])},
        extents=sizes("N K", (1, 2), (513, 7), (1024, 256)),
        segments=(segment("K"),),
    ),
    Case(
        name="histogram_of_wide",
        kernel=k.histogram_of_wide,
        parameters=(view("x", "i64", "N", _near_bins), out("y", "i64", "K")),
        oracle=_counted_wide,
        extents=sizes("N K", (0, 3), (1, 1), (33, 5), (300, 64)),
        segments=(segment("K"),),
    ),
    Case(
        name="histogram_of_planes",
        kernel=k.histogram_of_planes,
        parameters=(view("x", "i16", "L M N", integers(0, 15)), out("y", "u32", "16")),
        oracle=lambda v: {"y": np.bincount(v.x.reshape(-1), minlength=16)},
        extents=sizes("L M N", (0, 3, 2), (2, 0, 3), (1, 1, 1), (3, 5, 7), (2, 9, 33)),
        segments=(segment("16"),),
    ),
    Case(
        name="histograms_of_halves",
        kernel=k.histograms_of_halves,
        parameters=(
            view("x", "u8", "N", integers(0, 255)),
            out("low", "i32", "16"),
            out("high", "i16", "16"),
        ),
        oracle=lambda v: {
            "low": np.bincount(v.x % 16, minlength=16),
            "high": np.bincount(v.x // 16, minlength=16),
        },
        extents=sizes("N", 0, 1, 33, 500),
        segments=(segment("16"), segment("16")),
    ),
    Case(
        name="histogram_in_a_loop",
        kernel=k.histogram_in_a_loop,
        parameters=(view("x", "i32", "M N", _bins), out("y", "i32", "K")),
        oracle=_counted_in_a_loop,
        extents=sizes("M N K", (0, 3, 2), (3, 0, 2), (1, 1, 1), (5, 7, 4), (9, 33, 6)),
        segments=(segment("K"),),
    ),
    Case(
        name="frequencies",
        kernel=k.frequencies,
        parameters=(view("x", "i32", "N", integers(0, 39)), out("y", "i32", "N")),
        oracle=lambda v: {"y": np.bincount(v.x, minlength=40)[v.x]},
        extents=sizes("N", 0, 1, 33, 130),
        segments=(segment("", "1"),),
    ),
    Case(
        name="histogram_of_bytes",
        kernel=k.histogram_of_bytes,
        parameters=(view("x", "u8", "M N", integers(0, 255)), out("y", "i64", "300")),
        oracle=lambda v: {"y": np.bincount(v.x[v.x > 3], minlength=300)},
        extents=PLANE,
        segments=(segment("300"),),
    ),
    Case(
        name="histogram_of_rows",
        kernel=k.histogram_of_rows,
        parameters=(
            view("x", "i32", "M N", _bins),
            view("lengths", "i32", "M", counts("N")),
            out("y", "i32", "M K"),
        ),
        oracle=_counted_rows,
        extents=sizes("M N K", (0, 3, 2), (3, 0, 2), (1, 1, 1), (5, 7, 4), (9, 33, 6)),
        segments=(segment("M K"),),
    ),
    Case(
        name="counting_ranks",
        kernel=k.counting_ranks,
        parameters=(view("x", "i32", "N", _bins), out("y", "i32", "K")),
        oracle=lambda v: {
            "y": np.cumsum(np.bincount(v.x, minlength=v.raw("y").shape[0]))
            - np.bincount(v.x, minlength=v.raw("y").shape[0])
        },
        extents=SCATTER,
        segments=(segment(""),),
    ),
    Case(
        name="random_words",
        kernel=k.random_words,
        parameters=(
            view("seed", "u64", "M", integers(0, 2**64 - 1)),
            view(
                "counter", "i64", "N", among([0, -1, -5, 2**62 + 3, -(2**63), 2**34 + 1], integers(0, 2**40))
            ),
            out("y", "u32", "M N"),
        ),
        oracle=_words,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (3, 7), (4, 18)),
        segments=(segment("M N"),),
    ),
    Case(
        name="dropout",
        kernel=k.dropout,
        parameters=(
            scalar("seed", "i64", -(2**40) + 12345),
            scalar("p", "f32", 0.25),
            view("x", "f32", "M N", normal()),
            out("y", "f32", "M N"),
        ),
        oracle=_dropped,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
)

CASES = COUNTS
