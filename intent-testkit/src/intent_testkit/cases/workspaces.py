"""Cases of buffers that instances share in slices."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import coordinates, integers, normal
from intent_testkit.cases.tolerance import accumulated
from intent_testkit.kernels import workspaces as k

LINE = sizes("N", 0, 1, 5, 33, 130)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 33))
WORDS = integers(-999, 999)
I32 = np.int32


def _begun(v: Values) -> dict[str, object]:
    rows, columns = v.raw("y").shape
    sums = np.ones((rows, columns), I32)
    for j in range(v.x.shape[1]):
        sums[:, j % columns] += v.x[:, j]
    return {"y": sums * 2}


def _filled(v: Values) -> dict[str, object]:
    y = v.y
    y[:-1] += v.x[1:]
    return {"y": 2 * y - y[:, ::-1]}


def _third(v: Values) -> dict[str, object]:
    y = v.y
    y[1::3] *= 5 + v.x[:-1][::3]
    return {"y": y}


def _counted(v: Values) -> dict[str, object]:
    counts = np.zeros(v.raw("y").shape, I32)
    np.add.at(counts, (np.arange(counts.shape[0])[:, None], v.at), 1)
    return {"y": counts, "most": counts.max(axis=1, initial=np.iinfo(I32).min)}


def _chained(v: Values) -> dict[str, object]:
    first = v.x + v.y
    return {"y": np.where(first > 0, first, 0.5) - first}


CASES = (
    Case(
        name="staged_points",
        kernel=k.staged_points,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x * 2 + 1},
        extents=LINE,
        segments=(segment("N"),),
        tolerance=accumulated(2),
    ),
    Case(
        name="staged_backwards",
        kernel=k.staged_backwards,
        parameters=(view("x", "i32", "N", WORDS), out("y", "i32", "N")),
        oracle=lambda v: {"y": v.x[::-1] * 2},
        extents=LINE,
        segments=(segment("", "1"),),
    ),
    Case(
        name="begun_once",
        kernel=k.begun_once,
        parameters=(view("x", "i32", "M N", WORDS), out("y", "i32", "M K")),
        oracle=_begun,
        extents=sizes("M N K", (0, 3, 2), (3, 0, 2), (1, 1, 1), (5, 7, 3), (17, 9, 33)),
        segments=(segment("M"),),
    ),
    Case(
        name="begun_with_values",
        kernel=k.begun_with_values,
        parameters=(view("x", "i32", "M N", WORDS), view("w", "i32", "N", WORDS), out("y", "i32", "M N")),
        oracle=lambda v: {"y": ((v.x + 1) * v.w[None, :]) ** 2},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="every_third",
        kernel=k.every_third,
        parameters=(view("x", "i32", "N", WORDS), inout("y", "i32", "N", WORDS)),
        oracle=_third,
        extents=sizes("N", 1, 2, 3, 8, 130),
        segments=(segment("", "1"),),
    ),
    Case(
        name="staged_thirds",
        kernel=k.staged_thirds,
        parameters=(view("x", "i32", "N", WORDS), inout("y", "i32", "N", WORDS)),
        oracle=_third,
        extents=sizes("N", 1, 2, 3, 8, 130),
        segments=(segment("max(0,ceildiv(N-1,3))", "max(0, ceildiv(N - 1, 3))"),),
    ),
    Case(
        name="rows_in_points",
        kernel=k.rows_in_points,
        parameters=(view("x", "i32", "M N", WORDS), out("y", "i32", "M N")),
        oracle=lambda v: {"y": (v.x + 7) ** 2},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="turned_in_memory",
        kernel=k.turned_in_memory,
        parameters=(view("x", "i32", "N N", WORDS), out("y", "i32", "N N")),
        oracle=lambda v: {"y": v.x * 2 - np.arange(v.x.shape[1], dtype=I32)[None, :]},
        extents=sizes("N", 0, 1, 5, 18),
        segments=(segment("N N"),),
    ),
    Case(
        name="counted_in_rows",
        kernel=k.counted_in_rows,
        parameters=(
            view("at", "i32", "M N", coordinates("K")),
            out("y", "i32", "M K"),
            out("most", "i32", "M"),
        ),
        oracle=_counted,
        extents=sizes("M N K", (0, 3, 2), (3, 0, 2), (1, 1, 1), (5, 17, 3), (17, 9, 33)),
        segments=(segment("M"),),
    ),
    Case(
        name="stages_in_a_chain",
        kernel=k.stages_in_a_chain,
        parameters=(view("x", "f32", "N", normal()), inout("y", "f32", "N", normal())),
        oracle=_chained,
        extents=LINE,
        segments=(segment("N"),),
        tolerance=accumulated(3),
    ),
    Case(
        name="one_counter",
        kernel=k.one_counter,
        parameters=(view("x", "i32", "N", WORDS), out("y", "i32", "N")),
        oracle=lambda v: {"y": np.ones(v.x.shape, I32)},
        extents=LINE,
        segments=(segment("", "1"),),
    ),
    Case(
        name="filled_in_every_pass",
        kernel=k.filled_in_every_pass,
        parameters=(view("x", "i32", "M N", WORDS), inout("y", "i32", "M N", WORDS)),
        oracle=_filled,
        extents=sizes("M N", (1, 1), (5, 7), (17, 33)),
        segments=(segment(""),),
    ),
)
