"""Cases of atomics."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import (
    coordinates,
    integers,
    normal,
    permutation,
)
from intent_testkit.cases.tolerance import accumulated
from intent_testkit.kernels import atomics as k

PLAIN = ("contiguous", "strided")
LINE = sizes("N", 0, 1, 2, 33, 130)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 33))


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


def _exchanged(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[v.at] = v.x
    return {"y": y, "old": v.y[v.at]}


def _exchanged_plane(v: Values) -> dict[str, object]:
    y, old = v.y.copy(), v.y[:, v.at]
    y[:, v.at] = v.x
    return {"y": y, "old": old.T, "highest": old.max(axis=1, initial=-(2**31))}


def _threes(v: Values) -> dict[str, object]:
    y, old = v.y.copy(), v.y[v.at]
    y[v.at[old == 3]] = v.x[old == 3]
    return {"y": y, "old": old, "done": old == 3}


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

_MOVED = (
    view("x", "i32", "N", integers(-99, 99)),
    view("at", "i32", "N", permutation("N")),
    inout("y", "i32", "N", integers(2, 4)),
    out("old", "i32", "N"),
)

OLD_VALUES = (
    Case(
        name="exchange_all",
        kernel=k.exchange_all,
        parameters=_MOVED,
        oracle=_exchanged,
        extents=LINE,
        variants=PLAIN,
        segments=(segment("N"),),
    ),
    Case(
        name="replace_threes",
        kernel=k.replace_threes,
        parameters=(*_MOVED, out("done", "bool", "N")),
        oracle=_threes,
        extents=LINE,
        variants=PLAIN,
        segments=(segment("N"),),
    ),
    Case(
        name="exchange_plane",
        kernel=k.exchange_plane,
        parameters=(
            view("x", "i32", "M N", integers(-99, 99)),
            view("at", "i32", "N", permutation("N")),
            inout("y", "i32", "M N", integers(-99, 99)),
            out("old", "i32", "N M"),
            out("highest", "i32", "M"),
        ),
        oracle=_exchanged_plane,
        extents=PLANE,
        variants=PLAIN,
        segments=(segment("M"),),
    ),
    Case(
        name="load_and_store",
        kernel=k.load_and_store,
        parameters=(
            view("x", "i32", "N", integers(-99, 99)),
            inout("y", "i32", "N", integers(-99, 99)),
            out("z", "i32", "N"),
        ),
        oracle=lambda v: {"y": v.y + v.x, "z": v.y},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="counts_by_atomics",
        kernel=k.counts_by_atomics,
        parameters=(view("x", "i32", "M N", integers(0, 3)), out("y", "i32", "M 4")),
        oracle=lambda v: {"y": np.array([np.bincount(r, minlength=4) for r in v.x], np.int64).reshape(-1, 4)},
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="ordered_tickets",
        kernel=k.ordered_tickets,
        parameters=(
            view("x", "i32", "N", integers(-9, 9)),
            inout("counter", "i32", "", integers(5, 9)),
            out("y", "i32", "N"),
        ),
        oracle=lambda v: {"counter": v.counter + v.x.sum(), "y": v.counter + np.cumsum(v.x) - v.x},
        extents=sizes("N", 1, 2, 33),
        segments=(segment(""),),
    ),
)

CASES = (*ATOMICS, *OLD_VALUES)
