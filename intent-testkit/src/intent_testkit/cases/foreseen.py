"""Cases of branches that the arguments of a launch decide."""

from __future__ import annotations

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal
from intent_testkit.cases.tolerance import accumulated
from intent_testkit.kernels import foreseen as k

WORDS = integers(-999, 999)


def _needs(v: Values) -> dict[str, object]:
    return {"y": v.x + v.z if v.n == 1 else v.x * 2}


def _part(v: Values) -> dict[str, object]:
    y = v.x
    y[: max(0, v.n)] *= 3
    return {"y": y}


def _flag(v: Values) -> dict[str, object]:
    held = v.x + 1
    return {"y": held * v.z[None, : held.shape[1]] if v.flag else held}


CASES = (
    Case(
        name="one_side_needs",
        kernel=k.one_side_needs,
        parameters=(
            scalar("n", "i32", lambda e: int(e["M"] == e["N"])),
            view("x", "f32", "N", normal()),
            view("z", "f32", "M", normal()),
            out("y", "f32", "N"),
        ),
        oracle=_needs,
        extents=sizes("N M", (0, 0), (0, 3), (3, 0), (5, 5), (33, 7), (130, 130), (129, 300)),
        segments=(segment("N"),),
        tolerance=accumulated(1),
    ),
    Case(
        name="part_where_given",
        kernel=k.part_where_given,
        parameters=(
            scalar("n", "i64", lambda e: e["N"] - 5),
            view("x", "i32", "N", WORDS),
            out("y", "i32", "N"),
        ),
        oracle=_part,
        extents=sizes("N", 0, 1, 5, 6, 130),
        segments=(segment("", "1"),),
    ),
    Case(
        name="flag_decides",
        kernel=k.flag_decides,
        parameters=(
            scalar("flag", "bool", lambda e: e["K"] >= e["N"]),
            view("x", "i32", "M N", WORDS),
            view("z", "i32", "K", WORDS),
            out("y", "i32", "M N"),
        ),
        oracle=_flag,
        extents=sizes("M N K", (0, 3, 2), (3, 0, 2), (5, 7, 3), (5, 7, 7), (17, 9, 33)),
        segments=(segment("M N"),),
    ),
)
