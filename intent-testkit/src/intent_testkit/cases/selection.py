"""Cases of largest and smallest elements with their positions: ties, NaN, infinities, equal rows."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, Sampler, among, integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import selection as k

INF = float("inf")
NAN = float("nan")
ROWS = sizes("M N", (0, 3), (1, 1), (5, 7), (16, 33), (6, 130))


def hard_rows(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Rows with ties, of one value, of infinities only, and with NaN in the middle or twice."""
    x = rng.integers(-3, 4, shape).astype(np.float64)
    kinds = [None, -INF, INF, 2.0, NAN]
    for row in range(shape[0]):
        kind = kinds[row % len(kinds)]
        if kind is not None and shape[1]:
            x[row] = kind if row % len(kinds) != 4 else x[row]
        if row % len(kinds) == 4 and shape[1]:
            x[row, shape[1] // 2 :: 3] = NAN
    return x


def hard_columns(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """The same along the other axis."""
    return hard_rows(rng, shape[::-1], extents).T


def _nearest(v: Values) -> dict[str, object]:
    d = ((v.points[:, None, :] - v.centres[None]) ** 2).sum(axis=2)
    return {"label": d.argmin(axis=1), "far": d.min(axis=1)}


def _window(v: Values) -> dict[str, object]:
    return {"where": v.x[:, v.begin : v.end].argmax(axis=1) + v.begin}


def _two(v: Values) -> dict[str, object]:
    rows = np.arange(v.x.shape[0])
    first = v.x.argmax(axis=1)
    rest = v.x.copy()
    rest[rows, first] = -INF
    return {"first": first, "second": rest.argmax(axis=1)}


def _best(v: Values) -> dict[str, object]:
    return {"y": v.table[v.x.argmax(axis=1)]}


def _distinct() -> Sampler:
    return lambda rng, shape, _: rng.permutation(int(np.prod(shape))).reshape(shape)


CASES = (
    Case(
        name="argmax_rows",
        kernel=k.argmax_rows,
        parameters=(view("x", "f32", "M N", hard_rows), out("value", "f32", "M"), out("where", "i64", "M")),
        oracle=lambda v: {"value": v.x.max(axis=1), "where": v.x.argmax(axis=1)},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="argmin_columns",
        kernel=k.argmin_columns,
        parameters=(
            view("x", "f32", "M N", hard_columns),
            out("value", "f32", "N"),
            out("where", "i64", "N"),
        ),
        oracle=lambda v: {"value": v.x.min(axis=0), "where": v.x.argmin(axis=0)},
        extents=sizes("M N", (3, 0), (1, 1), (7, 5), (33, 16), (130, 6)),
        segments=(segment("N"),),
    ),
    Case(
        name="argmax_of_integers",
        kernel=k.argmax_of_integers,
        parameters=(
            view("x", "i64", "B M N", among([-(2**63), 2**63 - 1, 0], integers(-5, 5))),
            out("value", "i64", "B N"),
            out("where", "i64", "B N"),
        ),
        oracle=lambda v: {"value": v.x.max(axis=1), "where": v.x.argmax(axis=1)},
        extents=sizes("B M N", (0, 3, 2), (1, 1, 1), (2, 5, 3), (3, 17, 4)),
        segments=(segment("B N"),),
    ),
    Case(
        name="argmin_of_bytes",
        kernel=k.argmin_of_bytes,
        parameters=(
            view("x", "u8", "N", integers(200, 255)),
            out("value", "u8", ""),
            out("where", "i64", ""),
        ),
        oracle=lambda v: {"value": v.x.min(), "where": v.x.argmin()},
        extents=sizes("N", 1, 2, 33, 130),
        segments=(segment(""),),
    ),
    Case(
        name="argmax_flat",
        kernel=k.argmax_flat,
        parameters=(view("x", "f16", "M N", uniform(-9, 9)), out("where", "i64", "")),
        oracle=lambda v: {"where": v.x.argmax()},
        extents=sizes("M N", (1, 1), (5, 7), (9, 33)),
        segments=(segment(""),),
    ),
    Case(
        name="argmax_of_window",
        kernel=k.argmax_of_window,
        parameters=(
            scalar("begin", "i64", 2),
            scalar("end", "i64", lambda e: e["N"] - 1),
            view("x", "f32", "M N", hard_rows),
            out("where", "i64", "M"),
        ),
        oracle=_window,
        extents=sizes("M N", (0, 4), (1, 4), (5, 7), (7, 70)),
        segments=(segment("M"),),
    ),
    Case(
        name="nearest",
        kernel=k.nearest,
        parameters=(
            view("points", "f32", "M D", normal()),
            view("centres", "f32", "K D", normal()),
            out("label", "i32", "M"),
            out("far", "f32", "M"),
        ),
        oracle=_nearest,
        tolerance=Tolerance(rtol=2e-6, atol=1e-7, reason="a f32 sum of 5 squares of differences"),
        extents=sizes("M K D", (0, 2, 3), (1, 1, 1), (7, 5, 3), (18, 9, 5)),
        # Equal rows would make a tie that rounding decides.
        variants=("contiguous", "strided", "transposed", "flipped"),
        segments=(segment("M"),),
    ),
    Case(
        name="top_two",
        kernel=k.top_two,
        parameters=(
            view("x", "f32", "M N", _distinct()),
            out("first", "i64", "M"),
            out("second", "i64", "M"),
        ),
        oracle=_two,
        extents=sizes("M N", (0, 3), (1, 2), (5, 7), (4, 70)),
        segments=(segment("M"),),
    ),
    Case(
        name="gather_best",
        kernel=k.gather_best,
        parameters=(
            view("x", "f32", "M N", hard_rows),
            view("table", "i32", "N D", integers(-99, 99)),
            out("y", "i32", "M D"),
        ),
        oracle=_best,
        extents=sizes("M N D", (0, 3, 2), (1, 1, 1), (5, 7, 3), (7, 33, 5)),
        segments=(segment("M"),),
    ),
)
