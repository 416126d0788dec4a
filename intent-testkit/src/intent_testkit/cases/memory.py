"""Cases of guarded gathers, scatters, atomics, local buffers, random bits and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import (
    Array,
    Extents,
    among,
    coordinates,
    counts,
    integers,
    normal,
    permutation,
)
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import memory as k

# Destinations must stay distinct (or stay what they are): no layout that repeats elements.
PLAIN = ("contiguous", "strided")
LINE = sizes("N", 0, 1, 2, 33, 130)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 33))
SCATTER = sizes("N K", (0, 3), (1, 1), (33, 5), (130, 7))
WILD = among([-(2**62), -1, 2**62, 2**40], lambda rng, shape, e: rng.integers(-3, e["N"] + 3, shape))
MASK = 0xFFFFFFFF


def _fill(x: Array, at: Array, fill: float) -> Array:
    inside = (at >= 0) & (at < x.shape[-1])
    if not x.shape[-1]:
        return np.full((*x.shape[:-1], len(at)), fill, x.dtype)
    return np.where(inside, x[..., np.where(inside, at, 0)], fill)


def _shift(v: Values) -> dict[str, object]:
    return {"y": _fill(v.x, np.arange(len(v.x)) - v.by, 0)}


def _stencil(v: Values) -> dict[str, object]:
    p = np.pad(v.x, 1)
    return {"y": p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * v.x}


def _permuted(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[v.at[v.x > 0]] = v.x[v.x > 0] * 2
    return {"y": y}


def _rows(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[v.at] = v.x
    return {"y": y}


def _at(ufunc: Any, only_positive: bool = False) -> Any:
    def oracle(v: Values) -> dict[str, object]:
        y, x, at = v.y.copy(), v.x.reshape(-1), v.at.reshape(-1)
        if only_positive:
            x, at = x[x > 0], at[x > 0]
        with np.errstate(over="ignore"):
            ufunc.at(y, at, x)
        return {"y": y}

    return oracle


def _tickets(v: Values) -> dict[str, object]:
    n = int((v.x > 0).sum())
    taken = v.taken.copy()
    taken[int(v.counter) : int(v.counter) + n] += 1
    return {"counter": v.counter + n, "taken": taken}


def _claimed(v: Values) -> dict[str, object]:
    wanted = np.isin(np.arange(len(v.slots)), v.x)
    return {"slots": np.where(wanted, np.arange(len(v.slots)), -1), "won": v.won + wanted}


def _bits(v: Values) -> dict[str, object]:
    x = v.x
    return {
        "y": np.array(
            [
                v.y[0] | np.bitwise_or.reduce(x),
                v.y[1] & np.bitwise_and.reduce(x),
                v.y[2] ^ np.bitwise_xor.reduce(x),
            ],
            np.uint32,
        )
    }


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


def _primes(v: Values) -> dict[str, object]:
    n = v.raw("y").shape[0]
    return {"y": np.array([i >= 2 and all(i % d for d in range(2, i)) for i in range(n)], np.bool_)}


def _rotated(v: Values) -> dict[str, object]:
    return {"x": np.roll(v.x, -1)}


def _swapped(v: Values) -> dict[str, object]:
    x = v.x.copy()
    x[[v.a, v.b]] = x[[v.b, v.a]]
    return {"x": x}


def _bins(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return rng.integers(0, extents["K"], shape)


GATHERS = (
    Case(
        name="gather_with_fill",
        kernel=k.gather_with_fill,
        parameters=(view("x", "f32", "N", normal()), view("at", "i64", "K", WILD), out("y", "f32", "K")),
        oracle=lambda v: {"y": _fill(v.x, v.at, -7.0)},
        extents=sizes("N K", (0, 3), (3, 0), (1, 1), (9, 33), (33, 130)),
        segments=(segment("K"),),
    ),
    Case(
        name="gather_of_value",
        kernel=k.gather_of_value,
        parameters=(
            view("x", "i32", "M N", integers(-99, 99)),
            view("at", "i64", "K", WILD),
            out("y", "i32", "M K"),
        ),
        oracle=lambda v: {"y": _fill(v.x * v.x, v.at, -1)},
        extents=sizes("M N K", (2, 0, 3), (0, 3, 2), (1, 1, 1), (5, 9, 7), (4, 33, 20)),
        segments=(segment("M K"),),
    ),
    *(
        Case(
            name=f"shift_with_fill_{str(by).replace('-', 'minus_')}",
            kernel=k.shift_with_fill,
            parameters=(
                view("x", "i32", "N", integers(-99, 99)),
                scalar("by", "i64", by),
                out("y", "i32", "N"),
            ),
            oracle=_shift,
            extents=LINE,
            segments=(segment("N"),),
        )
        for by in (0, 3, -40)
    ),
    Case(
        name="stencil_with_edges",
        kernel=k.stencil_with_edges,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N")),
        oracle=_stencil,
        tolerance=accumulated(8),
        extents=PLANE,
        segments=(segment("M N"),),
    ),
)

SCATTERS = (
    Case(
        name="scatter_permutation",
        kernel=k.scatter_permutation,
        parameters=(
            view("x", "f32", "N", normal()),
            view("at", "i32", "N", permutation("N")),
            inout("y", "f32", "N", normal()),
        ),
        oracle=_permuted,
        extents=LINE,
        variants=PLAIN,
        segments=(segment("N"),),
    ),
    Case(
        name="scatter_rows",
        kernel=k.scatter_rows,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("at", "i32", "M", permutation("M")),
            inout("y", "f32", "M N", normal()),
        ),
        oracle=_rows,
        extents=PLANE,
        variants=PLAIN,
        segments=(segment("M N"),),
    ),
    Case(
        name="scatter_add",
        kernel=k.scatter_add,
        parameters=(
            view("x", "i32", "N", integers(-(2**31), 2**31 - 1)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "i32", "K", integers(-9, 9)),
        ),
        oracle=_at(np.add),
        extents=SCATTER,
        segments=(segment("N"),),
    ),
    Case(
        name="scatter_max",
        kernel=k.scatter_max,
        parameters=(
            view("x", "i64", "M N", integers(-(2**62), 2**62)),
            view("at", "i32", "M N", coordinates("K")),
            inout("y", "i64", "K", integers(-(2**61), 2**61)),
        ),
        oracle=_at(np.maximum, only_positive=True),
        extents=sizes("M N K", (0, 3, 2), (1, 1, 1), (5, 7, 3), (9, 13, 7)),
        segments=(segment("M N"),),
    ),
    Case(
        name="scatter_float_max",
        kernel=k.scatter_float_max,
        parameters=(
            view("x", "f32", "N", among([float("nan"), float("inf"), -0.0], normal())),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "f32", "K", normal()),
        ),
        oracle=_at(np.maximum),
        extents=SCATTER,
        segments=(segment(""),),
    ),
    Case(
        name="scatter_xor",
        kernel=k.scatter_xor,
        parameters=(
            view("x", "i32", "N", integers(-(2**31), 2**31 - 1)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "i32", "K", integers(-9, 9)),
        ),
        oracle=_at(np.bitwise_xor),
        extents=SCATTER,
        segments=(segment(""),),
    ),
    Case(
        name="scatter_product",
        kernel=k.scatter_product,
        parameters=(
            view("x", "u8", "N", integers(0, 255)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "u8", "K", integers(1, 255)),
        ),
        oracle=_at(np.multiply),
        extents=SCATTER,
        segments=(segment(""),),
    ),
)

ATOMICS = (
    Case(
        name="column_sums_by_atomics",
        kernel=k.column_sums_by_atomics,
        parameters=(view("x", "f32", "M N", normal()), inout("y", "f32", "N", normal())),
        oracle=lambda v: {"y": v.y + v.x.sum(axis=0)},
        tolerance=accumulated(40),
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="count_points",
        kernel=k.count_points,
        parameters=(
            view("x", "i32", "N", integers(-(2**31), 2**31 - 1)),
            inout("y", "i32", "3", integers(-9, 9)),
        ),
        oracle=lambda v: {
            "y": np.array([v.y[0] + len(v.x), np.max(v.x, initial=v.y[1]), np.min(v.x, initial=v.y[2])])
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="bit_sets",
        kernel=k.bit_sets,
        parameters=(
            view("x", "u32", "N", integers(0, 2**32 - 1)),
            inout("y", "u32", "3", integers(0, 2**32 - 1)),
        ),
        oracle=_bits,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="tickets",
        kernel=k.tickets,
        parameters=(
            view("x", "i32", "N", integers(-5, 5)),
            inout("counter", "i32", "", lambda rng, shape, e: np.zeros(shape)),
            inout("taken", "i32", "N", lambda rng, shape, e: np.zeros(shape)),
        ),
        oracle=_tickets,
        extents=sizes("N", 0, 1, 2, 33),
        segments=(segment("N"),),
    ),
    Case(
        name="claim",
        kernel=k.claim,
        parameters=(
            view("x", "i32", "N", coordinates("K")),
            inout("slots", "i32", "K", lambda rng, shape, e: np.full(shape, -1)),
            inout("won", "i32", "K", lambda rng, shape, e: np.zeros(shape)),
        ),
        oracle=_claimed,
        extents=sizes("N K", (0, 3), (1, 1), (9, 5), (33, 40)),
        segments=(segment("N"),),
    ),
)

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

BUFFERS = (
    Case(
        name="sieve",
        kernel=k.sieve,
        parameters=(out("y", "bool", "N"),),
        oracle=_primes,
        extents=sizes("N", 1, 3, 7, 40),
        segments=(segment(""),),
    ),
    Case(
        name="sort_rows",
        kernel=k.sort_rows,
        parameters=(view("x", "i32", "M N", integers(-20, 20)), out("y", "i32", "M N")),
        oracle=lambda v: {"y": np.sort(v.x, axis=1)},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 17)),
        segments=(segment("M"),),
    ),
    Case(
        name="local_counts",
        kernel=k.local_counts,
        parameters=(view("x", "i32", "M N", integers(0, 7)), out("y", "i32", "M 8")),
        oracle=lambda v: {"y": np.array([np.bincount(r, minlength=8) for r in v.x], np.int64).reshape(-1, 8)},
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="rotate_in_place",
        kernel=k.rotate_in_place,
        parameters=(inout("x", "i32", "N", integers(-99, 99)),),
        oracle=_rotated,
        extents=sizes("N", 2, 3, 33, 130),
        segments=(segment(""),),
    ),
    Case(
        name="swap_rows_in_place",
        kernel=k.swap_rows_in_place,
        parameters=(
            inout("x", "f32", "M N", normal()),
            scalar("a", "i64", 1),
            scalar("b", "i64", lambda e: e["M"] - 1),
        ),
        oracle=_swapped,
        tolerance=Tolerance(ulps=0.0, reason="rows are moved, not computed"),
        extents=sizes("M N", (3, 0), (3, 1), (5, 7), (9, 33)),
        segments=(segment("N"),),
    ),
)

CASES = (*GATHERS, *SCATTERS, *ATOMICS, *COUNTS, *BUFFERS)
