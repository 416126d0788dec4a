"""Cases of prefixes along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import Array, among, coordinates, integers, normal, truth, uniform
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import scans as k

LINE = sizes("N", 0, 1, 2, 33, 130)
ROWS = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70))
SQUARE = sizes("N", 0, 1, 2, 7, 19)
I32 = integers(-(2**31), 2**31 - 1)
INF = float("inf")


def _affine(a: Array, b: Array) -> tuple[Array, Array]:
    """Composed maps, one after the other, along the last axis."""
    scale, shift = np.ones(a.shape[:-1]), np.zeros(a.shape[:-1])
    scales, shifts = np.empty(a.shape), np.empty(a.shape)
    for n in range(a.shape[-1]):
        scale, shift = scale * a[..., n], a[..., n] * shift + b[..., n]
        scales[..., n], shifts[..., n] = scale, shift
    return scales, shifts


def _prefix(v: Values) -> dict[str, object]:
    scale, shift = _affine(v.a, v.b)
    return {"y": scale * 0.5 + shift}


def _suffix(v: Values) -> dict[str, object]:
    scale, shift = _affine(v.a[:, ::-1], v.b[:, ::-1])
    y = (scale * 0.5 + shift)[:, ::-1]
    return {"y": np.concatenate((y[:, 1:], np.full((y.shape[0], 1), 0.5)), axis=1)[:, : y.shape[1]]}


def _forward(x: Array) -> Array:
    y = x.copy()
    for n in range(1, x.shape[1]):
        y[:, n] = np.where(y[:, n] != 0, y[:, n], y[:, n - 1])
    return y


def _matrices(v: Values) -> dict[str, object]:
    product, y = np.eye(2, dtype=np.int64), []
    for row in v.x.astype(np.int64):
        product = product @ row.reshape(2, 2)
        y.append(product.reshape(4))
    return {"y": np.array(y, np.int64).reshape(-1, 4)}


def _segments(v: Values) -> dict[str, object]:
    total, y = 0, []
    for value, start in zip(v.x, v.start, strict=True):
        total = int(value) if start else total + int(value)
        y.append(total)
    return {"y": np.array(y, np.int64)}


def _compacted(v: Values) -> dict[str, object]:
    kept = v.x[v.x > 0]
    return {"y": np.concatenate((kept, v.y[len(kept) :])), "count": len(kept)}


def _softmax(v: Values) -> dict[str, object]:
    s = np.cumsum(v.x, axis=1)
    e = np.exp(s - np.max(s, axis=1, initial=-INF, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}


def _integer(
    name: str, kernel: object, dtype: str, oracle: Callable[[Array], Array], axes: str = "M"
) -> Case:
    limit = 2 ** (31 if dtype == "i32" else 40)
    return Case(
        name=name,
        kernel=kernel,
        parameters=(view("x", dtype, "M N", integers(-limit, limit - 1)), out("y", dtype, "M N")),
        oracle=lambda v: {"y": oracle(v.x)},
        extents=ROWS,
        segments=(segment(axes),),
    )


def _exclusive(x: Array) -> Array:
    return np.cumsum(x, axis=1, dtype=x.dtype) - x


def _from_end(x: Array) -> Array:
    return np.cumsum(x[:, ::-1], axis=1, dtype=x.dtype)[:, ::-1]


SUMS = (
    Case(
        name="running_sum",
        kernel=k.running_sum,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N")),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1)},
        tolerance=accumulated(70),
        extents=ROWS,
        segments=(segment("M"),),
    ),
    _integer(
        "running_sum_of_columns",
        k.running_sum_of_columns,
        "i32",
        lambda x: np.cumsum(x, axis=0, dtype=x.dtype),
        "N",
    ),
    _integer("running_sum_exclusive", k.running_sum_exclusive, "i64", _exclusive),
    _integer("running_sum_from_the_end", k.running_sum_from_the_end, "i32", _from_end),
    _integer(
        "running_sum_exclusive_from_the_end",
        k.running_sum_exclusive_from_the_end,
        "i32",
        lambda x: _from_end(x) - x,
    ),
    Case(
        name="running_extremes",
        kernel=k.running_extremes,
        parameters=(
            view("x", "f32", "M N", among([float("nan"), INF, -INF, -3.0], uniform(-9, 9))),
            out("high", "f32", "M N"),
            out("low", "f32", "M N"),
        ),
        oracle=lambda v: {
            "high": np.maximum.accumulate(v.x, axis=1),
            "low": np.minimum.accumulate(v.x, axis=1),
        },
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="running_product",
        kernel=k.running_product,
        parameters=(view("x", "i64", "M N", integers(-3, 3)), out("y", "i64", "M N")),
        oracle=lambda v: {"y": np.cumprod(v.x, axis=1, dtype=np.int64)},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="middle_axis",
        kernel=k.middle_axis,
        parameters=(view("x", "i32", "B M N", I32), out("y", "i32", "B M N")),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1, dtype=np.int32)},
        extents=sizes("B M N", (0, 2, 3), (2, 0, 3), (1, 1, 1), (2, 3, 5), (3, 17, 4)),
        segments=(segment("B N"),),
    ),
    Case(
        name="half_sums",
        kernel=k.half_sums,
        parameters=(view("x", "f16", "M N", normal()), out("y", "f32", "M N")),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1)},
        tolerance=accumulated(70),
        extents=ROWS,
        segments=(segment("M"),),
    ),
)

_AFFINE = Tolerance(rtol=1e-10, atol=1e-12, reason="70 maps with factors below 1.2, each f64 rounding 2**-53")
_MAPS = (
    view("a", "f64", "M N", uniform(-1.2, 1.2)),
    view("b", "f64", "M N", normal()),
    out("y", "f64", "M N"),
)

PRODUCTS = (
    Case(
        name="affine_prefix",
        kernel=k.affine_prefix,
        parameters=_MAPS,
        oracle=_prefix,
        tolerance=_AFFINE,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="affine_suffix",
        kernel=k.affine_suffix,
        parameters=_MAPS,
        oracle=_suffix,
        tolerance=_AFFINE,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="carry_forward",
        kernel=k.carry_forward,
        parameters=(view("x", "i32", "M N", among([0, 0, 0], integers(-9, 9))), out("y", "i32", "M N")),
        oracle=lambda v: {"y": _forward(v.x)},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="carry_backward",
        kernel=k.carry_backward,
        parameters=(view("x", "i32", "M N", among([0, 0, 0], integers(-9, 9))), out("y", "i32", "M N")),
        oracle=lambda v: {"y": _forward(v.x[:, ::-1])[:, ::-1]},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="matrix_prefix",
        kernel=k.matrix_prefix,
        parameters=(view("x", "i32", "N 4", integers(-2, 2)), out("y", "i32", "N 4")),
        oracle=_matrices,
        extents=sizes("N", 0, 1, 2, 9, 21),
        segments=(segment(""),),
    ),
    Case(
        name="segmented_sum",
        kernel=k.segmented_sum,
        parameters=(
            view("x", "i32", "N", integers(-99, 99)),
            view("start", "bool", "N", truth()),
            out("y", "i32", "N"),
        ),
        oracle=_segments,
        extents=LINE,
        segments=(segment(""),),
    ),
)

ELSEWHERE = (
    Case(
        name="prefix_lookup",
        kernel=k.prefix_lookup,
        parameters=(
            view("x", "i32", "M N", I32),
            view("at", "i64", "K", coordinates("N")),
            out("y", "i32", "M K"),
        ),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1, dtype=np.int32)[:, v.at]},
        extents=sizes("M N K", (0, 3, 2), (3, 2, 0), (1, 1, 1), (5, 7, 9), (3, 70, 5)),
        segments=(segment("M"),),
    ),
    Case(
        name="window_sums",
        kernel=k.window_sums,
        parameters=(view("x", "i64", "N", integers(-(2**40), 2**40)), out("y", "i64", "L")),
        oracle=lambda v: {"y": np.cumsum(v.x)[3:] - np.cumsum(v.x)[:-3]},
        extents=sizes("N L", (3, 0), (4, 1), (20, 17), (67, 64)),
        constexprs={"W": 3},
        segments=(segment(""),),
    ),
    Case(
        name="prefix_transposed",
        kernel=k.prefix_transposed,
        parameters=(view("x", "i32", "M N", I32), out("y", "i32", "N M")),
        oracle=lambda v: {"y": np.cumsum(v.x, axis=1, dtype=np.int32).T},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="summed_area",
        kernel=k.summed_area,
        parameters=(view("x", "i32", "M N", I32), out("y", "i32", "M N")),
        oracle=lambda v: {"y": np.cumsum(np.cumsum(v.x, axis=1, dtype=np.int32), axis=0, dtype=np.int32)},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 13)),
        segments=(segment(""),),
    ),
    Case(
        name="prefix_plus_transpose",
        kernel=k.prefix_plus_transpose,
        parameters=(view("x", "i32", "N N", I32), out("y", "i32", "N N")),
        oracle=lambda v: {
            "y": np.cumsum(v.x, axis=1, dtype=np.int32) + np.cumsum(v.x, axis=1, dtype=np.int32).T
        },
        extents=SQUARE,
        segments=(segment(""),),
    ),
    Case(
        name="compact",
        kernel=k.compact,
        parameters=(view("x", "i32", "N", I32), inout("y", "i32", "N", I32), out("count", "i64", "")),
        oracle=_compacted,
        extents=LINE,
        segments=(segment(""),),
    ),
    Case(
        name="softmax_of_prefix",
        kernel=k.softmax_of_prefix,
        parameters=(view("x", "f32", "M N", normal(0.3)), out("y", "f32", "M N")),
        oracle=_softmax,
        tolerance=Tolerance(
            rtol=5e-5,
            atol=1e-30,
            reason="exp of a difference of f32 sums of 70 terms, error 70 * 2**-24 * 8 in its argument",
        ),
        extents=ROWS,
        segments=(segment("M"),),
    ),
)

CASES = (*SUMS, *PRODUCTS, *ELSEWHERE)
