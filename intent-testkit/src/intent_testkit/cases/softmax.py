"""Cases of softmax."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, softmax

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import counts, normal
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import softmax as k

ROWS = sizes("M N", (0, 3), (3, 0), (1, 1), (3, 7), (5, 31), (2, 64), (17, 129), (3, 1025))

SOFTMAX = Tolerance(
    rtol=4e-6,
    atol=1e-37,
    reason="exp within 2 ULP of an argument rounded once (2^-20 for |x| <= 20), a f32 sum, one division",
)
IN_BF16 = Tolerance(
    ulps=0.51, atol=1e-37, reason="f32 softmax (relative error below 4e-6), rounded once to bf16"
)
LOGARITHM = Tolerance(
    rtol=1e-6, atol=4e-6, reason="difference of f32 values of size up to 20, log within 2 ULP"
)


def _valid_length(v: Values) -> dict[str, object]:
    m, n = v.x.shape
    valid = np.arange(n)[None, :] < v.lengths[:, None]
    y = np.full((m, n), np.nan)
    for i in range(m):
        if v.lengths[i] > 0:
            y[i] = np.where(valid[i], softmax(np.where(valid[i], v.x[i], -np.inf)), 0.0)
    return {"y": y}


def _sinkhorn(v: Values) -> dict[str, object]:
    p = np.exp(v.x)
    for _ in range(3):
        p = p / p.sum(axis=2, keepdims=True)
        p = p / p.sum(axis=1, keepdims=True)
    return {"y": p}


def _rows(v: Values) -> dict[str, object]:
    # An empty row has no element to write.
    return {"y": softmax(v.x, axis=1) if v.x.size else v.x}


def _columns(v: Values) -> dict[str, object]:
    return {"y": softmax(v.x / v.temperature, axis=0) if v.x.size else v.x}


CASES = (
    Case(
        name="softmax",
        kernel=k.softmax,
        parameters=(view("x", "f32", "M N", normal(4)), out("y", "f32", "M N")),
        oracle=_rows,
        tolerance=SOFTMAX,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="softmax_rows",
        kernel=k.softmax_rows,
        parameters=(view("x", "f32", "M N", normal(4)), out("y", "f32", "M N")),
        oracle=_rows,
        tolerance=SOFTMAX,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="softmax_bf16",
        kernel=k.softmax_bf16,
        parameters=(view("x", "bf16", "M N", normal(4)), out("y", "bf16", "M N")),
        oracle=_rows,
        tolerance=IN_BF16,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="log_softmax",
        kernel=k.log_softmax,
        parameters=(view("x", "f32", "M N", normal(4)), out("y", "f32", "M N")),
        oracle=lambda v: {"y": log_softmax(v.x, axis=1) if v.x.size else v.x},
        tolerance=LOGARITHM,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="softmax_columns",
        kernel=k.softmax_columns,
        parameters=(
            scalar("temperature", "f32", 2.5),
            view("x", "f32", "M N", normal(8)),
            out("y", "f32", "M N"),
        ),
        oracle=_columns,
        tolerance=SOFTMAX,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (7, 3), (65, 5), (129, 17)),
        segments=(segment("N"),),
    ),
    Case(
        name="softmax_valid_length",
        kernel=k.softmax_valid_length,
        parameters=(
            view("x", "f32", "M N", normal(4)),
            view("lengths", "i32", "M", counts("N")),
            out("y", "f32", "M N"),
        ),
        oracle=_valid_length,
        tolerance=SOFTMAX,
        extents=sizes("M N", (0, 3), (1, 1), (9, 7), (17, 129)),
        segments=(segment("M"),),
    ),
    Case(
        name="sinkhorn",
        kernel=k.sinkhorn,
        parameters=(view("x", "f32", "B 4 4", normal()), out("y", "f32", "B 4 4")),
        oracle=_sinkhorn,
        tolerance=Tolerance(rtol=8e-6, reason="one exp within 2 ULP, six f32 sums of four and six divisions"),
        extents=sizes("B", 0, 1, 5, 33),
        segments=(segment("B"),),
    ),
)
