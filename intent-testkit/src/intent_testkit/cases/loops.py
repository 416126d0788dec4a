"""Cases of parallel and ordered loops."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance, accumulated, ulps
from intent_testkit.kernels import loops as k


def _horner(v: Values) -> dict[str, object]:
    y = np.zeros_like(v.x)
    for c in v.coefficients:
        y = y * v.x + c
    return {"y": y}


def _recurrence(v: Values) -> dict[str, object]:
    state, h = np.zeros(v.x.shape[1]), np.zeros_like(v.x)
    for t in range(v.x.shape[0]):
        state = v.a[t] * state + v.x[t]
        h[t] = state
    return {"h": h, "last": state}


def _power(v: Values) -> dict[str, object]:
    state = v.v
    for _ in range(v.steps):
        w = v.a @ state
        state = w / np.sqrt((w * w).sum())
    return {"y": state}


def _fibonacci(v: Values) -> dict[str, object]:
    a, b = 0, 1
    for _ in range(v.n):
        a, b = b, a + b
    return {"y": a}


def _hash(v: Values) -> dict[str, object]:
    h = 17
    for x in v.x.ravel().tolist():
        h = (h * 31 + x + 2**31) % 2**32 - 2**31
    return {"y": h}


def _depths(v: Values) -> dict[str, object]:
    depth = np.full(v.edge.shape[0], -1)
    front, level = [v.start][: depth.size], 0
    depth[front] = 0
    while front:
        level += 1
        front = [n for n in range(depth.size) if depth[n] < 0 and v.edge[front, n].any()]
        depth[front] = level
    return {"depth": depth}


def _stepped(v: Values) -> dict[str, object]:
    points = range(v.begin, v.end, v.step)
    return {"y": np.array([sum(points), len(points)])}


def _fibonacci_case(n: int) -> Case:
    return Case(
        name=f"fibonacci_{n}",
        kernel=k.fibonacci,
        parameters=(scalar("n", "i32", n), out("y", "i64", "")),
        oracle=_fibonacci,
        extents=({},),
        segments=(segment(""),),
    )


def _stepped_case(name: str, begin: int, end: int, step: int) -> Case:
    return Case(
        name=name,
        kernel=k.stepped_loop,
        parameters=(
            scalar("begin", "i64", begin),
            scalar("end", "i64", end),
            scalar("step", "i64", step),
            out("y", "i64", "2"),
        ),
        oracle=_stepped,
        extents=({},),
        segments=(segment(""),),
    )


CASES = (
    Case(
        name="nested_parallel",
        kernel=k.nested_parallel,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "N M")),
        oracle=lambda v: {"y": v.x.T + 1},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 33)),
        segments=(segment("M N"),),
    ),
    Case(
        name="horner",
        kernel=k.horner,
        parameters=(
            view("x", "f32", "N", uniform(-1, 1)),
            view("coefficients", "f32", "K", normal()),
            out("y", "f32", "N"),
        ),
        oracle=_horner,
        tolerance=accumulated(9, scale=3),
        extents=sizes("N K", (0, 3), (4, 0), (1, 1), (7, 4), (131, 9)),
        segments=(segment("N"),),
    ),
    Case(
        name="recurrence",
        kernel=k.recurrence,
        parameters=(
            view("a", "f32", "T D", uniform(0.1, 0.95)),
            view("x", "f32", "T D", normal()),
            out("h", "f32", "T D"),
            out("last", "f32", "D"),
        ),
        oracle=_recurrence,
        tolerance=accumulated(40, scale=5),
        extents=sizes("T D", (0, 3), (3, 0), (1, 1), (6, 5), (13, 65)),
        segments=(segment("D"),),
    ),
    Case(
        name="running_total",
        kernel=k.running_total,
        parameters=(view("x", "i64", "M N", integers(-(2**60), 2**60)), out("y", "i64", "M N")),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1)},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 33)),
        segments=(segment("M"),),
    ),
    *(
        Case(
            name=f"power_iteration_{steps}",
            kernel=k.power_iteration,
            parameters=(
                view("a", "f32", "5 5", uniform(0.5, 1.5)),
                scalar("steps", "i32", steps),
                view("v", "f32", "5", uniform(0.5, 1)),
                out("y", "f32", "5"),
            ),
            oracle=_power,
            tolerance=Tolerance(
                rtol=4e-6, reason="the map contracts, so only the last steps' f32 roundings remain"
            ),
            extents=({},),
            segments=(segment(""),),
        )
        for steps in (0, 1, 6)
    ),
    *(_fibonacci_case(n) for n in (0, 1, 50)),
    Case(
        name="newton_sqrt",
        kernel=k.newton_sqrt,
        parameters=(view("x", "f32", "N", uniform(0.5, 30)), out("y", "f32", "N")),
        oracle=lambda v: {"y": np.sqrt(v.x)},
        tolerance=ulps(1.5, "Newton's fixed point: the last step rounds a division, a sum and a halving"),
        extents=sizes("N", 0, 1, 65, 257),
        segments=(segment("N"),),
    ),
    Case(
        name="matmul_by_loop",
        kernel=k.matmul_by_loop,
        parameters=(
            view("a", "f32", "M K", normal()),
            view("b", "f32", "K N", normal()),
            out("c", "f32", "M N"),
        ),
        oracle=lambda v: {"c": v.a @ v.b},
        tolerance=accumulated(9, scale=2),
        extents=sizes("M N K", (0, 2, 3), (2, 3, 0), (1, 1, 1), (5, 7, 3), (17, 33, 9)),
        segments=(segment("M N"),),
    ),
    Case(
        name="nested_ordered",
        kernel=k.nested_ordered,
        parameters=(view("x", "i32", "M N", integers(-(2**31), 2**31 - 1)), out("y", "i32", "")),
        oracle=_hash,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 13)),
        segments=(segment(""),),
    ),
    _stepped_case("stepped_loop", 3, 50, 7),
    _stepped_case("stepped_loop_negative", -20, 21, 4),
    _stepped_case("stepped_loop_empty", 5, 5, 2),
    _stepped_case("stepped_loop_once", 5, 6, 100),
    Case(
        name="breadth_first",
        # What a read gives is written where it was read, and decides about the next step as well.
        kernel=k.breadth_first,
        parameters=(
            view("edge", "bool", "N N", lambda rng, shape, _: rng.random(shape) < 0.12),
            scalar("start", "i32", lambda e: e["N"] // 2),
            out("depth", "i32", "N"),
        ),
        oracle=_depths,
        extents=sizes("N", 0, 1, 9, 67),
        segments=(segment(""),),
    ),
)
