"""Cases of updates in place, partial writes, several outputs and several segments."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import effects as k

LINE = sizes("N", 1, 2, 33, 257)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 129))
I32 = (-(2**31), 2**31 - 1)
RATIO = Tolerance(rtol=4e-6, reason="exp within 2 ULP, a f32 sum of up to 129 positive terms, one division")


def _shifted(v: Values) -> dict[str, object]:
    return {"x": np.concatenate((v.x[:1], v.x[:-1]))}


def _scaled(v: Values) -> dict[str, object]:
    return {"x": v.x / np.max(np.abs(v.x), axis=1, initial=-np.inf, keepdims=True)}


def _parts(v: Values) -> dict[str, object]:
    y = v.y * 2
    y[1:] += v.x[:-1]
    y[:, ::2] -= 1
    return {"y": y + 3}


def _half(v: Values) -> dict[str, object]:
    y, half = v.y.copy(), v.x.shape[1] // 2
    y[:, :half] = v.x[:, :half]
    return {"y": y}


def _overwritten(v: Values) -> dict[str, object]:
    y = v.x * 2
    y[0] = v.x[0] + 100
    return {"y": y}


def _shared(v: Values) -> dict[str, object]:
    e = np.exp(v.x)
    return {"y": e / e.sum(axis=1, keepdims=True), "s": e.sum(axis=1)}


CASES = (
    Case(
        name="scale_in_place",
        kernel=k.scale_in_place,
        parameters=(scalar("a", "f32", 1.25), inout("x", "f32", "M N", normal())),
        oracle=lambda v: {"x": v.x * v.a},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="accumulate",
        kernel=k.accumulate,
        parameters=(view("x", "f32", "M N", normal()), inout("y", "f32", "M N", normal())),
        oracle=lambda v: {"y": v.x + v.y},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="shift_in_place",
        kernel=k.shift_in_place,
        parameters=(inout("x", "i32", "N", integers(*I32)),),
        oracle=_shifted,
        extents=LINE,
        segments=(segment(""),),
    ),
    Case(
        name="parts_in_place",
        kernel=k.parts_in_place,
        parameters=(view("x", "f32", "M N", normal()), inout("y", "f32", "M N", normal())),
        oracle=_parts,
        tolerance=Tolerance(atol=2e-6, reason="three sums of numbers below 16"),
        extents=sizes("M N", (1, 1), (1, 4), (5, 7), (17, 33)),
        segments=(segment(""),),
    ),
    Case(
        name="transpose_in_place",
        kernel=k.transpose_in_place,
        parameters=(inout("x", "f32", "N N", normal()),),
        oracle=lambda v: {"x": v.x.T},
        extents=sizes("N", 0, 1, 2, 7, 18),
        segments=(segment(""),),
    ),
    Case(
        name="normalise_in_place",
        kernel=k.normalise_in_place,
        parameters=(inout("x", "f32", "M N", uniform(0.5, 3)),),
        oracle=_scaled,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="partial_write",
        kernel=k.partial_write,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N")),
        oracle=_half,
        extents=PLANE,
        segments=(segment("M floordiv(N,2)", "floordiv(N, 2)*M"),),
    ),
    Case(
        name="write_then_overwrite",
        kernel=k.write_then_overwrite,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=_overwritten,
        extents=LINE,
        segments=(segment(""),),
    ),
    Case(
        name="read_back",
        kernel=k.read_back,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N"), out("z", "f32", "N")),
        oracle=lambda v: {
            "y": v.x + 1,
            "z": (v.x + 1).astype(np.float32).astype(np.float64) * 2,
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="shared_producer",
        kernel=k.shared_producer,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N"), out("s", "f32", "M")),
        oracle=_shared,
        tolerance=RATIO,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="two_shapes",
        kernel=k.two_shapes,
        parameters=(
            view("x", "f32", "M", normal()),
            view("z", "i64", "P Q", integers(-(2**62), 2**62)),
            out("y", "f32", "M"),
            out("w", "i64", "P Q"),
        ),
        oracle=lambda v: {"y": v.x * 3, "w": v.z + 5},
        extents=sizes("M P Q", (0, 0, 3), (0, 2, 3), (4, 0, 3), (1, 1, 1), (129, 5, 7), (7, 17, 33)),
        segments=(segment("M"), segment("P Q")),
    ),
    Case(
        name="three_shapes",
        kernel=k.three_shapes,
        parameters=(
            view("a", "f32", "M N", normal()),
            view("b", "f32", "K", normal()),
            out("rows", "f32", "M"),
            out("squares", "f32", "K"),
            out("total", "f32", ""),
        ),
        oracle=lambda v: {"rows": v.a.sum(axis=1), "squares": v.b * v.b, "total": v.b.sum()},
        tolerance={
            "rows": accumulated(33, scale=2),
            "squares": Tolerance(ulps=0.5, reason="one product"),
            "total": accumulated(129, scale=2, biased=True),
        },
        extents=sizes("M N K", (0, 3, 0), (3, 0, 2), (1, 1, 1), (5, 7, 9), (17, 33, 129)),
        segments=(segment("M"), segment("K"), segment("")),
    ),
    Case(
        name="rank_zero",
        kernel=k.rank_zero,
        parameters=(
            view("a", "f32", "", normal()),
            view("b", "i64", "", integers(-(2**62), 2**62)),
            out("x", "f32", ""),
            out("y", "i64", ""),
        ),
        oracle=lambda v: {"x": v.a * 2, "y": v.b - 1},
        extents=({},),
        segments=(segment(""), segment("")),
    ),
    Case(
        name="scalar_arguments",
        kernel=k.scalar_arguments,
        parameters=(
            scalar("p", "bool", True),
            scalar("i", "i32", -(2**31)),
            scalar("n", "i64", 2**52 + 1),
            scalar("u", "u8", 255),
            scalar("h", "f16", 0.333251953125),
            scalar("f", "f32", 0.125),
            scalar("d", "f64", 0.1),
            out("y", "f64", "7"),
        ),
        oracle=lambda _: {"y": np.array([1.0, -(2.0**31), 2.0**52 + 1, 255.0, 0.333251953125, 0.125, 0.1])},
        extents=({},),
        segments=(segment(""),),
    ),
)
