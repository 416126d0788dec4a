"""Cases of groups whose members are read from memory; some groups are empty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, Sampler, coordinates, counts, integers, normal
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import ragged as k

INF = float("inf")
# The boundaries of groups must stay what they are: layouts that repeat elements would change them.
LAYOUTS = ("contiguous", "strided", "transposed", "flipped")
GROUPS = sizes("G P N", (0, 1, 2), (1, 2, 1), (4, 5, 0), (5, 6, 23), (7, 8, 70))


def boundaries(symbol: str) -> Sampler:
    """Non-decreasing offsets from 0 to an extent; the third group is empty."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
        n = shape[0]
        inner = np.sort(rng.integers(0, extents[symbol] + 1, max(0, n - 2)))
        cuts = np.concatenate(([0], inner, [extents[symbol]]))[:n]
        if n > 4:
            cuts[3] = cuts[2]
        return cuts

    return sample


def _spans(v: Values) -> list[slice]:
    return [slice(int(a), int(b)) for a, b in zip(v.offsets[:-1], v.offsets[1:], strict=True)]


def _each(function: Callable[[Array], object], dtype: type = np.float64) -> Callable[[Values], Array]:
    return lambda v: np.array([function(v.x[s]) for s in _spans(v)], dtype)


def _softmax(v: Values) -> dict[str, object]:
    y = v.y.copy()
    for s in _spans(v):
        e = np.exp(v.x[s] - np.max(v.x[s], initial=-INF))
        y[s] = e / e.sum()
    return {"y": y}


def _listed(v: Values) -> dict[str, object]:
    return {"y": np.array([v.x[v.list_[s]].sum(axis=0) for s in _spans(v)]).reshape(-1, v.x.shape[1])}


def _sparse(v: Values) -> dict[str, object]:
    return {"y": np.array([(v.values[s] * v.x[v.columns[s]]).sum() for s in _spans(v)])}


def _ranks(v: Values) -> dict[str, object]:
    y = v.y.copy()
    for s in _spans(v):
        y[s] = np.cumsum(v.x[s])
    return {"y": y}


def _matmul(v: Values) -> dict[str, object]:
    y = v.y.copy()
    for g, s in enumerate(_spans(v)):
        y[s] = v.x[s] @ v.w[g]
    return {"y": y}


def _paged(v: Values) -> dict[str, object]:
    size = v.pages.shape[1]
    y = []
    for row, n in zip(v.table, v.lengths, strict=True):
        t = np.arange(n)
        y.append(v.pages[row[t // size], t % size].sum() if n else 0.0)
    return {"y": np.array(y)}


def _window(v: Values) -> dict[str, object]:
    n = len(v.x)
    return {"y": np.array([v.x[max(i - 3, 0) : min(i + 4, n)].max() for i in range(n)])}


CASES = (
    Case(
        name="group_sums",
        kernel=k.group_sums,
        parameters=(
            view("x", "f32", "N", normal()),
            view("offsets", "i32", "P", boundaries("N")),
            out("y", "f32", "G"),
        ),
        oracle=lambda v: {"y": _each(np.sum)(v)},
        tolerance=accumulated(70),
        extents=GROUPS,
        variants=LAYOUTS[:2],
        segments=(segment("G"),),
    ),
    Case(
        name="group_softmax",
        kernel=k.group_softmax,
        parameters=(
            view("x", "f32", "N", normal()),
            view("offsets", "i64", "P", boundaries("N")),
            inout("y", "f32", "N", normal()),
            scalar("G", "i32", lambda e: e["P"] - 1),
        ),
        oracle=_softmax,
        tolerance=Tolerance(
            rtol=4e-6, reason="exp within 2 ULP, a f32 sum of up to 70 positive terms, one division"
        ),
        extents=sizes("P N", (1, 0), (2, 1), (5, 0), (6, 23), (8, 70)),
        variants=LAYOUTS[:2],
        segments=(segment("max($G,0)", "max($G, 0)"),),
    ),
    Case(
        name="indexed_group_sums",
        kernel=k.indexed_group_sums,
        parameters=(
            view("x", "f32", "N D", normal()),
            view("offsets", "i32", "P", boundaries("K")),
            view("list_", "i32", "K", coordinates("N")),
            out("y", "f32", "G D"),
        ),
        oracle=_listed,
        tolerance=accumulated(70),
        extents=sizes(
            "G P N D K",
            (0, 1, 2, 3, 4),
            (1, 2, 1, 1, 1),
            (4, 5, 3, 2, 0),
            (5, 6, 9, 3, 23),
            (7, 8, 20, 5, 70),
        ),
        variants=LAYOUTS,
        segments=(segment("G D"),),
    ),
    Case(
        name="sparse_rows",
        kernel=k.sparse_rows,
        parameters=(
            view("values", "f32", "K", normal()),
            view("columns", "i32", "K", coordinates("N")),
            view("offsets", "i32", "P", boundaries("K")),
            view("x", "f32", "N", normal()),
            out("y", "f32", "M"),
        ),
        oracle=_sparse,
        tolerance=accumulated(70, scale=2),
        extents=sizes("M P K N", (0, 1, 2, 3), (1, 2, 1, 1), (4, 5, 0, 3), (5, 6, 23, 9), (7, 8, 70, 20)),
        variants=LAYOUTS[:2],
        segments=(segment("M"),),
    ),
    Case(
        name="masked_mean",
        kernel=k.masked_mean,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("lengths", "i32", "M", counts("N")),
            out("y", "f32", "M"),
        ),
        oracle=lambda v: {
            "y": np.array([r[:n].sum() / max(n, 1) for r, n in zip(v.x, v.lengths, strict=True)])
        },
        tolerance=accumulated(70),
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (7, 70)),
        segments=(segment("M"),),
    ),
    Case(
        name="group_extremes",
        kernel=k.group_extremes,
        parameters=(
            view("x", "i32", "N", integers(-3, 9)),
            view("offsets", "i32", "P", boundaries("N")),
            out("high", "i32", "G"),
            out("product", "i32", "G"),
            out("every", "bool", "G"),
        ),
        oracle=lambda v: {
            "high": _each(lambda x: np.max(x, initial=-(2**31)), np.int64)(v),
            "product": _each(lambda x: np.prod(x, dtype=np.int32), np.int32)(v),
            "every": _each(lambda x: np.all(x > 0), np.bool_)(v),
        },
        extents=GROUPS,
        variants=LAYOUTS[:2],
        segments=(segment("G"),),
    ),
    Case(
        name="group_ranks",
        kernel=k.group_ranks,
        parameters=(
            view("x", "i32", "N", integers(-99, 99)),
            view("offsets", "i32", "P", boundaries("N")),
            inout("y", "i32", "N", integers(-9, 9)),
            scalar("G", "i32", lambda e: e["P"] - 1),
        ),
        oracle=_ranks,
        extents=sizes("P N", (1, 0), (2, 1), (5, 0), (6, 23), (8, 70)),
        variants=LAYOUTS[:2],
        segments=(segment("max($G,0)", "max($G, 0)"),),
    ),
    Case(
        name="grouped_matmul",
        kernel=k.grouped_matmul,
        parameters=(
            view("x", "f32", "N K", normal()),
            view("w", "f32", "G K E", normal()),
            view("offsets", "i32", "P", boundaries("N")),
            inout("y", "f32", "N E", normal()),
        ),
        oracle=_matmul,
        tolerance=accumulated(9, scale=2),
        extents=sizes("G P N K E", (1, 2, 1, 1, 1), (4, 5, 0, 3, 2), (5, 6, 23, 4, 3), (3, 4, 37, 9, 5)),
        variants=LAYOUTS,
        segments=(segment("G E"),),
    ),
    Case(
        name="paged_sum",
        kernel=k.paged_sum,
        parameters=(
            view("pages", "f32", "B S", normal()),
            view("table", "i32", "M L", coordinates("B")),
            view("lengths", "i32", "M", lambda rng, shape, e: rng.integers(0, e["L"] * e["S"] + 1, shape)),
            out("y", "f32", "M"),
        ),
        oracle=_paged,
        tolerance=accumulated(60),
        extents=sizes("B S M L", (2, 3, 0, 2), (1, 1, 1, 1), (5, 4, 3, 6), (9, 7, 5, 8)),
        segments=(segment("M"),),
    ),
    Case(
        name="sliding_window",
        kernel=k.sliding_window,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=_window,
        constexprs={"W": 3},
        extents=sizes("N", 0, 1, 2, 5, 33),
        segments=(segment("N"),),
    ),
)
