"""Cases of guarded gathers, scatters, local buffers and updates in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import (
    Array,
    among,
    coordinates,
    integers,
    normal,
    permutation,
)
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import memory as k

PLAIN = ("contiguous", "strided")
LINE = sizes("N", 0, 1, 2, 33, 130)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 33))
SCATTER = sizes("N K", (0, 3), (1, 1), (33, 5), (130, 7))
WILD = among([-(2**62), -1, 2**62, 2**40], lambda rng, shape, e: rng.integers(-3, e["N"] + 3, shape))


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


def _at_rows(v: Values) -> dict[str, object]:
    y = v.y.copy()
    np.add.at(y, v.at, v.x)
    return {"y": y}


def _scattered(v: Values) -> dict[str, object]:
    y = v.y.copy()
    np.add.at(y, v.at, v.x)
    return {"y": y, "z": y * 2}


def _primes(v: Values) -> dict[str, object]:
    n = v.raw("y").shape[0]
    return {"y": np.array([i >= 2 and all(i % d for d in range(2, i)) for i in range(n)], np.bool_)}


def _rotated(v: Values) -> dict[str, object]:
    return {"x": np.roll(v.x, -1)}


def _swapped(v: Values) -> dict[str, object]:
    x = v.x.copy()
    x[[v.a, v.b]] = x[[v.b, v.a]]
    return {"x": x}


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
        segments=(segment("N"),),
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
        segments=(segment("N"),),
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
        segments=(segment("N"),),
    ),
    Case(
        name="scatter_then_read",
        kernel=k.scatter_then_read,
        parameters=(
            view("x", "i32", "N", integers(-9, 9)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "i32", "K", integers(-9, 9)),
            out("z", "i32", "K"),
        ),
        oracle=_scattered,
        extents=SCATTER,
        segments=(segment(""),),
    ),
    Case(
        name="scatter_add_rows",
        kernel=k.scatter_add_rows,
        parameters=(
            view("x", "f32", "N D", normal()),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "f32", "K D", normal()),
        ),
        oracle=_at_rows,
        tolerance=accumulated(35),
        extents=sizes("N D K", (0, 3, 2), (1, 1, 1), (9, 5, 3), (33, 4, 7)),
        segments=(segment("N D"),),
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

CASES = (*GATHERS, *SCATTERS, *BUFFERS)
