"""Cases of built-in reductions, the empty ones included."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import among, integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import reductions as k

NAN, INF = float("nan"), float("inf")
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (16, 17), (33, 130), (3, 1025))
CUBE = sizes("A B C", (0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (3, 5, 7), (4, 9, 33))
SUM = accumulated(1025, scale=1.5)


def _max(x: Any, axis: int) -> Any:
    return np.max(x, axis=axis, initial=-INF)


def _min(x: Any, axis: int) -> Any:
    return np.min(x, axis=axis, initial=INF)


def _extrema(v: Values) -> dict[str, object]:
    high, low = _max(v.x, 1), _min(v.x, 1)
    with np.errstate(invalid="ignore"):
        return {"high": high, "low": low, "span": high - low}


def _integer_extrema(v: Values) -> dict[str, object]:
    return {
        "high": np.max(v.x, axis=0, initial=np.iinfo(np.int32).min),
        "low": np.min(v.x, axis=1, initial=np.iinfo(np.int32).max),
    }


def _products(v: Values) -> dict[str, object]:
    return {"y": np.prod(v.x, axis=1), "z": np.prod(v.k, axis=1, dtype=np.int32)}


def _small(v: Values) -> dict[str, object]:
    return {"x": v.a.sum(axis=1, dtype=np.int32), "y": v.b.sum(axis=1, dtype=np.uint32)}


def _trace(v: Values) -> dict[str, object]:
    return {"trace": np.trace(v.x), "rows": (v.x + v.x.T).sum(axis=1)}


CASES = (
    Case(
        name="sum_rows",
        kernel=k.sum_rows,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M")),
        oracle=lambda v: {"y": v.x.sum(axis=1)},
        tolerance=SUM,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="sum_columns",
        kernel=k.sum_columns,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x.sum(axis=0)},
        tolerance=SUM,
        extents=PLANE,
        segments=(segment("N"),),
    ),
    Case(
        name="sum_all",
        kernel=k.sum_all,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "")),
        oracle=lambda v: {"y": v.x.sum()},
        tolerance=accumulated(4500, scale=1.5),
        extents=PLANE,
        segments=(segment(""),),
    ),
    Case(
        name="sum_outer_axes",
        kernel=k.sum_outer_axes,
        parameters=(view("x", "f32", "A B C", normal()), out("y", "f32", "B")),
        oracle=lambda v: {"y": v.x.sum(axis=(0, 2))},
        tolerance=SUM,
        extents=CUBE,
        segments=(segment("B"),),
    ),
    Case(
        name="sum_middle_axis",
        kernel=k.sum_middle_axis,
        parameters=(view("x", "f64", "A B C", normal()), out("y", "f64", "A C")),
        oracle=lambda v: {"y": v.x.sum(axis=1)},
        tolerance=accumulated(33, scale=2, dtype="f64"),
        extents=CUBE,
        segments=(segment("A C"),),
    ),
    Case(
        name="row_max",
        kernel=k.row_max,
        # All negative: a padding lane of zeros would win. Some rows hold a NaN or only -inf.
        parameters=(
            view("x", "f32", "M N", among((-INF, -5.0, -INF), uniform(-9, -1))),
            out("y", "f32", "M"),
        ),
        oracle=lambda v: {"y": _max(v.x, 1)},
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="extrema",
        kernel=k.extrema,
        parameters=(
            view("x", "f32", "M N", among((NAN, 1.0, 2.0), uniform(1, 9))),
            out("high", "f32", "M"),
            out("low", "f32", "M"),
            out("span", "f32", "M"),
        ),
        oracle=_extrema,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="extrema_integers",
        kernel=k.extrema_integers,
        parameters=(
            view("x", "i32", "M N", integers(-(2**31), 2**31 - 1)),
            out("high", "i32", "N"),
            out("low", "i32", "M"),
        ),
        oracle=_integer_extrema,
        extents=PLANE,
        segments=(segment("N"), segment("M")),
    ),
    Case(
        name="products",
        kernel=k.products,
        parameters=(
            view("x", "f32", "M N", uniform(0.97, 1.03)),
            view("k", "i32", "M N", integers(-3, 3)),
            out("y", "f32", "M"),
            out("z", "i32", "M"),
        ),
        oracle=_products,
        tolerance=Tolerance(rtol=1e-4, reason="up to 1025 f32 roundings, each 2^-24 relative, in any order"),
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="any_and_all",
        kernel=k.any_and_all,
        parameters=(
            view("x", "f32", "M N", normal(1, 1.5)),
            out("some", "bool", "M"),
            out("every", "bool", "M"),
        ),
        oracle=lambda v: {"some": (v.x > 0).any(axis=1), "every": (v.x > 0).all(axis=1)},
        extents=(*PLANE, *sizes("M N", (40, 2))),
        segments=(segment("M"),),
    ),
    Case(
        name="sum_f16",
        kernel=k.sum_f16,
        # Large enough that accumulating in f16 would lose every small term.
        parameters=(
            view("x", "f16", "M N", uniform(0.5, 8)),
            out("wide", "f32", "M"),
            out("narrow", "f16", "M"),
        ),
        oracle=lambda v: {"wide": v.x.sum(axis=1), "narrow": v.x.sum(axis=1)},
        tolerance={
            "wide": Tolerance(rtol=4e-6, reason="a f32 sum of up to 1025 positive terms in any order"),
            "narrow": Tolerance(rtol=4e-6, ulps=0.5, reason="the f32 sum, rounded once to f16"),
        },
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="sum_small_integers",
        kernel=k.sum_small_integers,
        parameters=(
            view("a", "i8", "M N", integers(-128, 127)),
            view("b", "u8", "M N", integers(0, 255)),
            out("x", "i32", "M"),
            out("y", "u32", "M"),
        ),
        oracle=_small,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="sum_i64",
        kernel=k.sum_i64,
        parameters=(view("x", "i64", "M N", integers(-(2**62), 2**62)), out("y", "i64", "M")),
        oracle=lambda v: {"y": v.x.sum(axis=1)},
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="sum_in_f64",
        kernel=k.sum_in_f64,
        parameters=(view("x", "f32", "M N", among((1e8, -1e8, 1e-3), normal())), out("y", "f64", "M")),
        oracle=lambda v: {"y": v.x.sum(axis=1)},
        tolerance=accumulated(1025, scale=1e8, dtype="f64"),
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="variance",
        kernel=k.variance,
        parameters=(view("x", "f32", "M N", normal(1, 3)), out("y", "f32", "M")),
        oracle=lambda v: {"y": v.x.var(axis=1)},
        tolerance=Tolerance(rtol=1e-5, atol=1e-9, reason="two f32 sums of up to 1025 positive terms"),
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (33, 130), (3, 1025)),
        segments=(segment("M"),),
    ),
    Case(
        name="trace_and_symmetric_sum",
        kernel=k.trace_and_symmetric_sum,
        parameters=(view("x", "f32", "N N", normal()), out("trace", "f32", ""), out("rows", "f32", "N")),
        oracle=_trace,
        tolerance={"trace": accumulated(33, scale=2), "rows": accumulated(66, scale=3)},
        extents=sizes("N", 0, 1, 7, 16, 33),
        segments=(segment(""), segment("N")),
    ),
    Case(
        name="eight_bit_floats",
        # Padding lanes carry identities and constants of dtypes that have no arithmetic of their own.
        kernel=k.eight_bit_floats,
        parameters=(
            view("a", "f8e4m3fn", "M N", normal(3)),
            view("b", "f8e5m2", "M N", normal(3)),
            out("low", "f8e4m3fn", "M"),
            out("high", "f8e5m2", "M"),
            out("where", "i64", "M"),
            out("capped", "f8e4m3fn", "M N"),
        ),
        oracle=lambda v: {
            "low": v.a.min(axis=1),
            "high": v.b.max(axis=1),
            "where": v.a.argmax(axis=1),
            "capped": np.minimum(v.a, 1.5),
        },
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (3, 130)),
        segments=(segment("M"), segment("M"), segment("M"), segment("M N")),
    ),
)
