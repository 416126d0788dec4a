"""Cases of ordered control: data-dependent stops, early exits, nested loops, carried tensors."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, among, integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import ordered as k

LINE = sizes("N", 0, 1, 5, 33)
ROWS = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 33))


def _steps(n: int) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def _first(v: Values) -> dict[str, object]:
    hit = v.x == v.wanted
    return {"y": np.where(hit.any(axis=1), hit.argmax(axis=1) if hit.shape[1] else 0, -1)}


def _returned(v: Values) -> dict[str, object]:
    return {"y": v.x * 2, "z": v.z if v.n < 0 else v.x + 1}


def _stopped(v: Values) -> dict[str, object]:
    y, done = v.y.copy(), v.done
    for j, x in enumerate(v.x):
        if x == 0:
            return {"y": y, "done": done}
        y[j] = x
    return {"y": y, "done": 1}


def _bisect(v: Values) -> dict[str, object]:
    y, count = [], []
    for x in v.x:
        a, b, steps = v.low, v.high, 0
        while b - a > 1e-9 and steps < 100:
            m = 0.5 * (a + b)
            a, b = (m, b) if m * m < x else (a, m)
            steps += 1
        y.append(0.5 * (a + b))
        count.append(steps)
    return {"y": np.array(y), "count": np.array(count, np.int32)}


def _heavy(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
    """A matrix with a heavy diagonal."""
    return rng.uniform(-1, 1, shape) + 3.0 * shape[0] * np.eye(shape[0])


def _jacobi(v: Values) -> dict[str, object]:
    state, change, n = np.zeros(v.b.shape), 1.0, 0
    diagonal = np.diag(v.a)
    while change > 1e-12 and n < 200:
        following = (v.b - v.a @ state + diagonal * state) / diagonal
        change = np.max(np.abs(following - state), initial=-np.inf)
        state, n = following, n + 1
    return {"y": np.linalg.solve(v.a, v.b), "steps": n}


def _nested(v: Values) -> dict[str, object]:
    y = np.zeros(v.x.shape[0], np.int32)
    for i, row in enumerate(v.x):
        total = taken = 0
        for x in row:
            if total > v.limit:
                break
            total, taken = total + int(x), taken + 1
        y[i] = taken
        if total == 0:
            break
    return {"y": y}


def _ring(v: Values) -> dict[str, object]:
    state = np.zeros(v.x.shape[1])
    for row in v.x:
        state = np.roll(state, -1) * 0.5 + row
    return {"y": state}


def _power(n: int) -> Case:
    return Case(
        name=f"matrix_power_{n}",
        kernel=k.matrix_power,
        parameters=(view("a", "i64", "N N", integers(-3, 3)), scalar("n", "i32", n), out("y", "i64", "N N")),
        oracle=lambda v: {"y": np.linalg.matrix_power(v.a, n)},
        extents=sizes("N", 0, 1, 2, 5),
        # Every row of a power is a row of the one before times a matrix.
        segments=(segment("N"),),
    )


def _swapped(n: int) -> Case:
    def oracle(v: Values) -> dict[str, object]:
        a, b = v.x, np.full(v.x.shape, 7)
        for _ in range(n):
            a, b = b + 1, a
        return {"y": a, "z": b}

    return Case(
        name=f"swap_carries_{n}",
        kernel=k.swap_carries,
        parameters=(
            view("x", "i32", "N", integers(-99, 99)),
            scalar("n", "i32", n),
            out("y", "i32", "N"),
            out("z", "i32", "N"),
        ),
        oracle=oracle,
        extents=LINE,
        segments=(segment("N"),),
    )


def _gated(v: Values) -> dict[str, object]:
    state = np.zeros(v.x.shape[1])
    for row, gate in zip(v.x, v.gate, strict=True):
        state = state + row if gate > 0 else np.zeros(state.shape) if gate < 0 else state
    return {"y": state}


def _distance(v: Values) -> dict[str, object]:
    row = np.arange(len(v.b) + 1)
    for i, x in enumerate(v.a):
        above, row = row, np.concatenate(([i + 1], np.zeros(len(v.b), np.int64)))
        for j, y in enumerate(v.b):
            row[j + 1] = min(above[j + 1] + 1, row[j] + 1, above[j] + (x != y))
    return {"y": row[-1]}


CASES = (
    Case(
        name="collatz",
        kernel=k.collatz,
        parameters=(view("x", "i64", "N", integers(0, 1000)), out("y", "i32", "N")),
        oracle=lambda v: {"y": np.array([_steps(int(x)) for x in v.x], np.int32)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="gcd",
        kernel=k.gcd,
        parameters=(
            view("a", "i64", "N", integers(0, 10**6)),
            view("b", "i64", "N", integers(0, 10**6)),
            out("y", "i64", "N"),
        ),
        oracle=lambda v: {"y": np.gcd(v.a, v.b)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="first_index",
        kernel=k.first_index,
        parameters=(
            view("x", "i32", "M N", integers(0, 9)),
            scalar("wanted", "i32", 4),
            out("y", "i64", "M"),
        ),
        oracle=_first,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="sum_of_positive",
        kernel=k.sum_of_positive,
        parameters=(view("x", "i32", "M N", integers(-99, 99)), out("y", "i32", "M")),
        oracle=lambda v: {"y": np.maximum(v.x, 0).sum(axis=1)},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    *(
        Case(
            name=f"early_return_{'taken' if n < 0 else 'not_taken'}",
            kernel=k.early_return,
            parameters=(
                scalar("n", "i32", n),
                view("x", "f32", "N", normal()),
                inout("y", "f32", "N", normal()),
                inout("z", "f32", "N", normal()),
            ),
            oracle=_returned,
            extents=LINE,
            segments=(segment("N"),),
        )
        for n in (-1, 3)
    ),
    Case(
        name="return_inside_loop",
        kernel=k.return_inside_loop,
        parameters=(
            view("x", "i32", "N", integers(0, 9)),
            inout("y", "i32", "N", integers(-9, -1)),
            inout("done", "i32", "", integers(5, 9)),
        ),
        oracle=_stopped,
        extents=sizes("N", 0, 1, 2, 9, 33),
        segments=(segment(""),),
    ),
    Case(
        name="skipped_points",
        kernel=k.skipped_points,
        parameters=(view("x", "i32", "N", integers(-99, 99)), inout("y", "i32", "N", integers(-9, 9))),
        oracle=lambda v: {"y": np.where(v.x % 3 == 0, v.y, v.x * 10)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="bisection",
        kernel=k.bisection,
        parameters=(
            scalar("low", "f64", 0.0),
            scalar("high", "f64", 16.0),
            view("x", "f64", "N", uniform(0, 200)),
            out("y", "f64", "N"),
            out("count", "i32", "N"),
        ),
        oracle=_bisect,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="until_converged",
        kernel=k.until_converged,
        parameters=(
            view("a", "f64", "N N", _heavy),
            view("b", "f64", "N", normal()),
            out("y", "f64", "N"),
            out("steps", "i32", ""),
        ),
        oracle=_jacobi,
        tolerance=Tolerance(rtol=1e-9, atol=1e-11, reason="stopped when a step changes less than 1e-12"),
        extents=sizes("N", 1, 2, 7, 18),
        variants=("contiguous", "strided", "transposed", "flipped"),
        segments=(segment(""),),
    ),
    Case(
        name="nested_break",
        kernel=k.nested_break,
        parameters=(
            view("x", "i32", "M N", integers(0, 3)),
            scalar("limit", "i32", 11),
            out("y", "i32", "M"),
        ),
        oracle=_nested,
        extents=ROWS,
        segments=(segment(""),),
    ),
    Case(
        name="tensor_state",
        kernel=k.tensor_state,
        parameters=(view("x", "f32", "T N", normal()), out("y", "f32", "N")),
        oracle=_ring,
        tolerance=Tolerance(rtol=1e-6, atol=1e-6, reason="a sum with halving weights in f32"),
        extents=sizes("T N", (0, 3), (3, 1), (5, 7), (9, 33)),
        segments=(segment(""),),
    ),
    *(_power(n) for n in (0, 1, 5)),
    *(_swapped(n) for n in (0, 1, 2, 5)),
    Case(
        name="conditional_state",
        kernel=k.conditional_state,
        parameters=(
            view("x", "f32", "T D", integers(-9, 9)),
            view("gate", "i32", "T", among([-1, 0, 1, 1, 1])),
            out("y", "f32", "D"),
        ),
        oracle=_gated,
        extents=sizes("T D", (0, 3), (3, 0), (1, 1), (7, 5), (33, 9)),
        segments=(segment("D"),),
    ),
    Case(
        name="levenshtein",
        kernel=k.levenshtein,
        parameters=(
            view("a", "i32", "M", integers(0, 3)),
            view("b", "i32", "N", integers(0, 3)),
            out("y", "i32", ""),
        ),
        oracle=_distance,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 9)),
        segments=(segment(""),),
    ),
)
