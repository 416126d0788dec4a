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
