"""Cases that tell a right compiler from one that is wrong in a single place (docs/mutants.md)."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, coordinates, integers, normal
from intent_testkit.cases.tolerance import ulps
from intent_testkit.kernels import telling as k

GARBAGE = 2**50


def _even(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return np.where(np.arange(shape[0]) % 2 == 0, 1, -1)


def _inside_at_even(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return np.where(np.arange(shape[0]) % 2 == 0, rng.integers(0, extents["K"], shape), GARBAGE)


def _where_asked(v: Values) -> dict[str, object]:
    y = v.y.copy()
    on = v.ok > 0
    y[on] = v.x[v.at[on]] + 1.0
    return {"y": y}


def _branch(v: Values) -> dict[str, object]:
    m = v.y.size
    if v.flag <= 0:
        return {"y": v.y, "z": np.zeros(m, int)}
    return {"y": v.y + v.x[v.where] * np.arange(m), "z": np.full(m, m * v.x[v.where] - m * (m - 1) // 2)}


def _loop(v: Values) -> dict[str, object]:
    total, z = 1, v.z.copy()
    for step in range(v.n):
        total = total * 3 + v.x[v.where] + step
        z = z * 2 + v.x[v.where]
    return {"y": np.full(v.z.size, total), "z": z}


def _diagonal(v: Values) -> dict[str, object]:
    m = v.x.copy()
    for _ in range(3):
        d = np.diagonal(m)
        m = m * 2 + d[None, :] - d[:, None] * 3
    return {"y": m}


def _turned(v: Values) -> dict[str, object]:
    y = v.x * 3 if v.flag > 0 else v.y
    return {"y": y, "z": y[::-1]}


def _raised(v: Values) -> dict[str, object]:
    y, i = v.y.copy(), np.arange(v.x.size)
    np.add.at(y, i % y.size, v.x)
    np.maximum.at(y, (i * 2 + 1) % y.size, v.x)
    return {"y": y}


def _where_they_meet(v: Values) -> dict[str, object]:
    y = v.y.copy()
    np.add.at(y, v.k, v.y[v.k])
    return {"y": y}


def _from_itself(v: Values) -> dict[str, object]:
    y, i = v.y.copy(), np.arange(v.y.size)
    np.add.at(y, (i * 2 + 1) % y.size, v.y[::-1])
    return {"y": y}


def _points(v: Values) -> dict[str, object]:
    return {"y": np.where(v.ok[:, None] > 0, v.x * 2 + 1, v.y)}


def _one(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[0] += (v.x + 1).sum()
    return {"y": y}


def _half(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return np.full(shape, extents["N"] // 4 * 2)


def _steps(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[0 : v.end[0] : 2] += 1
    return {"y": y}


def _between(v: Values) -> dict[str, object]:
    y, z = v.y.copy(), np.zeros(4, int)
    for t in range(4):
        y = y * 2 + v.x
        z[t] = y.sum()
    return {"y": y, "z": z}


CASES = (
    Case(
        name="promised_where_asked",
        kernel=k.promised_where_asked,
        parameters=(
            view("ok", "i32", "N", _even),
            view("at", "i64", "N", _inside_at_even),
            view("x", "f32", "K", normal()),
            inout("y", "f32", "N", normal()),
        ),
        oracle=_where_asked,
        tolerance=ulps(1, reason="one rounded operation"),
        extents=sizes("N K", (0, 1), (1, 1), (7, 3), (33, 5)),
        variants=("contiguous", "strided"),
        segments=(segment("N"),),
    ),
    *(
        Case(
            name=f"promised_in_a_branch_{name}",
            kernel=k.promised_in_a_branch,
            parameters=(
                scalar("flag", "i32", flag),
                scalar("where", "i64", where),
                view("x", "i32", "K", integers(-9, 9)),
                inout("y", "i32", "M", integers(-9, 9)),
                out("z", "i32", "M"),
            ),
            oracle=_branch,
            extents=sizes("M K", (0, 2), (1, 2), (5, 3)),
            segments=(segment(""), segment("")),
        )
        for name, flag, where in (("taken", 1, 1), ("not_taken", 0, GARBAGE))
    ),
    *(
        Case(
            name=f"promised_in_a_loop_of_{n}",
            kernel=k.promised_in_a_loop,
            parameters=(
                scalar("n", "i64", n),
                scalar("where", "i64", where),
                view("x", "i32", "K", integers(-9, 9)),
                out("y", "i32", "M"),
                inout("z", "i32", "M", integers(-9, 9)),
            ),
            oracle=_loop,
            extents=sizes("M K", (0, 2), (1, 2), (5, 3)),
            segments=(segment(""), segment("M")),
        )
        for n, where in ((3, 1), (0, GARBAGE))
    ),
    *(
        Case(
            name=f"endless_elsewhere_{step}",
            kernel=k.endless_elsewhere,
            parameters=(scalar("step", "i32", step), inout("y", "i32", "N", integers(-9, 9))),
            oracle=lambda v: {"y": v.y + 1 + (-(-9 // v.step) * v.step if v.step > 0 else 0)},
            extents=sizes("N", 0, 1, 5),
            segments=(segment(""),),
        )
        for step in (3, 0)
    ),
    *(
        Case(
            name=f"turned_after_a_branch_{name}",
            kernel=k.turned_after_a_branch,
            parameters=(
                scalar("flag", "i32", flag),
                view("x", "i32", "N", integers(-9, 9)),
                inout("y", "i32", "N", integers(-9, 9)),
                out("z", "i32", "N"),
            ),
            oracle=_turned,
            extents=sizes("N", 0, 1, 7, 33),
            segments=(segment(""),),
        )
        for name, flag in (("taken", 1), ("not_taken", 0))
    ),
    Case(
        name="added_then_raised",
        kernel=k.added_then_raised,
        parameters=(view("x", "i32", "N", integers(-9, 9)), inout("y", "i32", "K", integers(-9, 9))),
        oracle=_raised,
        extents=sizes("N K", (0, 1), (1, 1), (7, 3), (33, 5)),
        variants=("contiguous", "strided"),
        segments=(segment(""),),
    ),
    *(
        Case(
            name=f"written_again_elsewhere_{n}",
            kernel=k.written_again_elsewhere,
            parameters=(scalar("n", "i64", n), view("x", "i32", "N", integers(-9, 9)), out("y", "i32", "N")),
            oracle=lambda v: {"y": v.x[::-1] + 1},
            extents=sizes("N", 1, 7, 33),
            segments=(segment(""),),
        )
        for n in (0, 2)
    ),
    Case(
        name="rows_against_columns",
        kernel=k.rows_against_columns,
        parameters=(view("x", "i32", "N N", integers(-9, 9)), out("y", "i32", "N")),
        oracle=lambda v: {"y": np.einsum("ij,ji->i", v.x, v.x) + v.x.shape[0] * np.diagonal(v.x)},
        extents=sizes("N", 0, 1, 5, 9),
        segments=(segment("N"),),
    ),
    Case(
        name="carried_diagonal",
        kernel=k.carried_diagonal,
        parameters=(view("x", "i32", "N N", integers(-9, 9)), out("y", "i32", "N N")),
        oracle=_diagonal,
        extents=sizes("N", 0, 1, 3, 6),
        segments=(segment(""),),
    ),
    Case(
        name="points_where_asked",
        kernel=k.points_where_asked,
        parameters=(
            view("ok", "i32", "M", _even),
            view("x", "i32", "M N", integers(-50, 50)),
            inout("y", "i32", "M N", integers(-50, 50)),
        ),
        oracle=_points,
        extents=sizes("M N", (0, 3), (3, 1), (5, 6)),
        variants=("contiguous", "strided"),
        segments=(segment("M"),),
    ),
    Case(
        name="all_into_one",
        kernel=k.all_into_one,
        parameters=(view("x", "i32", "N", integers(-50, 50)), inout("y", "i32", "K", integers(-50, 50))),
        oracle=_one,
        extents=sizes("N K", (0, 1), (1, 1), (7, 3), (33, 5)),
        segments=(segment("N"),),
    ),
    Case(
        name="steps_to_the_end",
        kernel=k.steps_to_the_end,
        parameters=(view("end", "i64", "1", _half), inout("y", "i32", "N", integers(-9, 9))),
        oracle=_steps,
        extents=sizes("N", 1, 4, 13),
        variants=("contiguous", "strided"),
        segments=(segment(""),),
    ),
    Case(
        name="sums_between_writes",
        kernel=k.sums_between_writes,
        parameters=(
            view("x", "i32", "N", integers(-9, 9)),
            inout("y", "i32", "N", integers(-9, 9)),
            out("z", "i32", "4"),
        ),
        oracle=_between,
        extents=sizes("N", 0, 1, 7, 33),
        segments=(segment(""),),
    ),
    Case(
        name="added_from_itself",
        kernel=k.added_from_itself,
        parameters=(inout("y", "i32", "N", integers(-9, 9)),),
        oracle=_from_itself,
        extents=sizes("N", 1, 7, 33),
        variants=("contiguous", "strided"),
        segments=(segment(""),),
    ),
    Case(
        name="added_where_they_meet",
        kernel=k.added_where_they_meet,
        parameters=(view("k", "i32", "P", coordinates("N")), inout("y", "i32", "N", integers(-9, 9))),
        oracle=_where_they_meet,
        extents=sizes("N P", (1, 3), (7, 5), (5, 40)),
        variants=("contiguous", "strided"),
        segments=(segment(""),),
    ),
    Case(
        name="rows_of_pairs",
        kernel=k.rows_of_pairs,
        parameters=(
            view("x", "i32", "M N", integers(-9, 9)),
            out("y", "i32", "M"),
            out("z", "i32", "M N"),
        ),
        oracle=lambda v: {"y": v.x.sum(axis=1) * 11, "z": v.x * 10},
        extents=sizes("M N", (3, 0), (1, 1), (3, 5), (5, 9)),
        segments=(segment("M"), segment("M N")),
    ),
)
