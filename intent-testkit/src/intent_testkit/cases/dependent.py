"""Cases of parallel points whose domain depends on a point around it, or on data read there."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, integers, normal
from intent_testkit.cases.ragged import LAYOUTS, boundaries
from intent_testkit.cases.tolerance import ulps
from intent_testkit.kernels import dependent as k


def _triangles(v: Values) -> dict[str, object]:
    one, other = v.x[:, None], v.x[None, :]
    below = np.tril(np.ones((v.x.size, v.x.size), bool), -1)
    return {"y": np.where(below, one - other, one * other)}


def _wedge(v: Values) -> dict[str, object]:
    y = v.y.copy()
    for i in range(v.x.size):
        for j in range(i, v.x.size):
            y[i, j, j::2] = v.x[i] + v.x[j] * v.x[j::2]
    return {"y": y}


def _blocks(v: Values) -> dict[str, object]:
    y, whole = v.y.copy(), v.x.size // 4 * 4
    y[:whole] = v.x[:whole] * (np.arange(whole) // 4)
    return {"y": y}


def _members(v: Values) -> dict[str, object]:
    sizes_ = np.diff(v.offsets)
    return {"y": v.x * np.repeat(np.arange(sizes_.size), sizes_), "count": v.count + sizes_}


def _lengths(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return rng.integers(0, extents["N"] + 1, shape)


def _rows(v: Values) -> dict[str, object]:
    y, total = v.y.copy(), np.zeros(v.length.size, np.int64)
    for i, n in enumerate(v.length):
        for j in range(n):
            before = v.length[:j].sum()
            y[i, j] = before if before % 2 else y[i, j]
        total[i] = v.length[:n].sum()
    return {"y": y, "total": total}


CASES = (
    Case(
        name="triangles",
        kernel=k.triangles,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N N")),
        oracle=_triangles,
        tolerance=ulps(1, reason="one rounded operation"),
        extents=sizes("N", 0, 1, 4, 7, 33),
        segments=(segment("N"),),
    ),
    Case(
        name="wedge",
        kernel=k.wedge,
        parameters=(
            view("x", "i32", "N", integers(-50, 50)),
            inout("y", "i32", "N N N", integers(-9, 9)),
        ),
        oracle=_wedge,
        extents=sizes("N", 0, 1, 3, 6),
        segments=(segment("N"),),
    ),
    Case(
        name="blocks_of_four",
        kernel=k.blocks_of_four,
        parameters=(view("x", "i32", "N", integers(-50, 50)), inout("y", "i32", "N", integers(-9, 9))),
        oracle=_blocks,
        extents=sizes("N", 0, 3, 4, 17, 64),
        segments=(segment("floordiv(N,4) 4", "4*floordiv(N, 4)"),),
    ),
    Case(
        name="parallel_members",
        kernel=k.parallel_members,
        parameters=(
            view("offsets", "i32", "P", boundaries("N")),
            view("x", "f32", "N", normal()),
            inout("y", "f32", "N", normal()),
            inout("count", "i32", "G", integers(0, 5)),
        ),
        oracle=_members,
        tolerance=ulps(1, reason="one rounded operation"),
        extents=sizes("G P N", (0, 1, 0), (1, 2, 1), (4, 5, 0), (5, 6, 23), (7, 8, 70)),
        variants=LAYOUTS[:2],
        segments=(segment("G"),),
    ),
    Case(
        name="rows_of_read_lengths",
        kernel=k.rows_of_read_lengths,
        parameters=(
            view("length", "i32", "N", _lengths),
            inout("y", "i32", "N N", integers(-9, 9)),
            out("total", "i32", "N"),
        ),
        oracle=_rows,
        extents=sizes("N", 0, 1, 5, 9),
        segments=(segment("N"),),
    ),
)
