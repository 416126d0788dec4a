"""Cases of region scans: decays, linear attention, several outputs, the final state."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import states as k


def _decay(v: Values) -> dict[str, object]:
    state, h = v.start, np.empty(v.x.shape)
    for t in range(v.x.shape[0]):
        state = v.a[t] * state + v.x[t]
        h[t] = state
    return {"h": h, "last": state}


def _linear(v: Values) -> dict[str, object]:
    causal = np.tril(v.q @ v.k.T)
    return {"y": causal @ v.v, "state": v.k.T @ v.v}


def _numbers(v: Values) -> dict[str, object]:
    hit = v.x > 0
    return {"y": np.where(hit, np.cumsum(hit) - 1 + v.begin, -1), "total": hit.sum() + v.begin}


def _pair(v: Values) -> dict[str, object]:
    sums = np.cumsum(v.x, axis=1)
    return {"up_to": sums, "before": sums - v.x}


CASES = (
    Case(
        name="decaying_sum",
        kernel=k.decaying_sum,
        parameters=(
            view("a", "f64", "T D", uniform(-1.2, 1.2)),
            view("x", "f64", "T D", normal()),
            view("start", "f64", "D", normal()),
            out("h", "f64", "T D"),
            out("last", "f64", "D"),
        ),
        oracle=_decay,
        tolerance=Tolerance(rtol=1e-10, atol=1e-12, reason="70 maps with factors below 1.2 in f64"),
        extents=sizes("T D", (0, 3), (3, 0), (1, 1), (2, 3), (7, 5), (70, 3)),
        segments=(segment("D"),),
    ),
    Case(
        name="linear_attention",
        kernel=k.linear_attention,
        parameters=(
            view("q", "f32", "T D", normal()),
            view("k", "f32", "T D", normal()),
            view("v", "f32", "T E", normal()),
            out("y", "f32", "T E"),
            out("state", "f32", "D E"),
        ),
        oracle=_linear,
        tolerance=Tolerance(
            rtol=1e-5, atol=4e-4, reason="f32 sums of up to 70 products of f32 sums of up to 5 products"
        ),
        extents=sizes("T D E", (0, 2, 3), (1, 1, 1), (7, 3, 4), (70, 5, 3)),
        # Every instance along E would compute the products of queries and keys again.
        segments=(segment(""),),
    ),
    Case(
        name="number_positive",
        kernel=k.number_positive,
        parameters=(
            view("x", "i32", "N", integers(-5, 5)),
            scalar("begin", "i32", 100),
            out("y", "i32", "N"),
            out("total", "i32", ""),
        ),
        oracle=_numbers,
        extents=sizes("N", 0, 1, 2, 33, 130),
        segments=(segment(""),),
    ),
    Case(
        name="two_outputs",
        kernel=k.two_outputs,
        parameters=(
            view("x", "i64", "M N", integers(-(2**40), 2**40)),
            out("up_to", "i64", "M N"),
            out("before", "i64", "M N"),
        ),
        oracle=_pair,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70)),
        segments=(segment("M"),),
    ),
)
