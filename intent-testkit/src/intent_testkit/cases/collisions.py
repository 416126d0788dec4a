"""Cases of colliding writes that no single atomic performs."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Oracle, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import Array, coordinates, integers, normal, truth
from intent_testkit.kernels import collisions as k

SCATTER = sizes("N K", (0, 3), (1, 1), (33, 5), (130, 3))
ROWS = sizes("M N K", (0, 3, 2), (1, 1, 1), (3, 9, 2), (5, 17, 3))


def _at(v: Values, ufunc: np.ufunc, active: Array | None = None) -> Array:
    y = v.y
    chosen = np.ones(v.at.shape, np.bool_) if active is None else active
    with np.errstate(all="ignore"):
        ufunc.at(y, v.at[chosen], v.x[chosen])
    return np.asarray(y)


def _farthest(v: Values) -> dict[str, object]:
    y = v.y
    for value, place in zip(v.x, v.at, strict=True):
        if abs(value) > abs(y[place]):
            y[place] = value
    return {"y": y}


def _in_rows(v: Values) -> dict[str, object]:
    y = v.y
    rows = np.broadcast_to(np.arange(v.at.shape[0])[:, None], v.at.shape)
    np.multiply.at(y, (rows, v.at), v.x)
    return {"y": y}


def _then_read(v: Values) -> dict[str, object]:
    most = _at(v, np.maximum)
    y = most.copy()
    np.bitwise_or.at(y, v.at, v.x)
    return {"y": y, "z": most}


def _twice(first: np.ufunc, second: np.ufunc) -> Oracle:
    def wanted(v: Values) -> dict[str, object]:
        y = _at(v, first)
        second.at(y, v.at, v.x)
        return {"y": y}

    return wanted


def _distinct(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> Array:
    """Halves of different sizes, so that one of them is farthest from zero."""
    sizes_of = rng.permutation(int(np.prod(shape))).reshape(shape) + 1.0
    return np.asarray(sizes_of * rng.choice((-1.0, 1.0), shape))


CASES = (
    Case(
        name="collide_bytes",
        kernel=k.collide_bytes,
        parameters=(
            view("x", "i8", "N", integers(-128, 127)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "i8", "K", integers(-128, 127)),
        ),
        oracle=lambda v: {"y": _at(v, np.add)},
        extents=SCATTER,
        segments=(segment("N"),),
    ),
    Case(
        name="collide_bools",
        kernel=k.collide_bools,
        parameters=(
            view("x", "bool", "N", truth()),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "bool", "K", truth()),
        ),
        oracle=lambda v: {"y": _at(v, np.logical_or, v.at > 0)},
        extents=SCATTER,
        segments=(segment("N"),),
    ),
    Case(
        name="collide_halves",
        kernel=k.collide_halves,
        parameters=(
            view("x", "f16", "N", _distinct),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "f16", "K", normal(0.1)),
        ),
        oracle=_farthest,
        extents=SCATTER,
        segments=(segment("N"),),
    ),
    Case(
        name="collide_words",
        kernel=k.collide_words,
        parameters=(
            view("x", "u64", "M N", integers(0, 2**64 - 1)),
            view("at", "i32", "M N", coordinates("K")),
            inout("y", "u64", "K", integers(0, 2**64 - 1)),
        ),
        oracle=lambda v: {"y": _at(v, np.multiply, v.x % 3 != 0)},
        extents=ROWS,
        segments=(segment("M N"),),
    ),
    Case(
        name="collide_in_rows",
        kernel=k.collide_in_rows,
        parameters=(
            view("x", "i16", "M N", integers(-(2**15), 2**15 - 1)),
            view("at", "i32", "M N", coordinates("K")),
            inout("y", "i16", "M K", integers(-9, 9)),
        ),
        oracle=_in_rows,
        extents=ROWS,
        segments=(segment("M N"),),
    ),
    Case(
        name="collide_then_read",
        kernel=k.collide_then_read,
        parameters=(
            view("x", "u8", "N", integers(0, 255)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", "u8", "K", integers(0, 255)),
            out("z", "u8", "K"),
        ),
        oracle=_then_read,
        extents=SCATTER,
        segments=(segment(""),),
    ),
    *(
        Case(
            name=name,
            kernel=kernel,
            parameters=(
                view("x", "i32", "N", integers(-9, 9)),
                view("at", "i32", "N", coordinates("K")),
                inout("y", "i32", "K", integers(-9, 9)),
            ),
            oracle=_twice(first, second),
            extents=SCATTER,
            segments=(segment(""),),
        )
        for name, kernel, first, second in (
            ("collide_twice", k.collide_twice, np.add, np.maximum),
            ("collide_in_turn", k.collide_in_turn, np.maximum, np.add),
        )
    ),
)
