"""Cases of losses."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import coordinates, normal, uniform
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import losses as k

ROWS = sizes("M N", (0, 3), (1, 1), (5, 7), (17, 129), (3, 1025))
LOGARITHM = Tolerance(
    rtol=1e-6, atol=4e-6, reason="f32 values of size up to 20 added and subtracted, log within 2 ULP"
)


def _binary(v: Values) -> dict[str, object]:
    each = np.maximum(v.x, 0) - v.x * v.t + np.log1p(np.exp(-np.abs(v.x)))
    return {"loss": each.sum(axis=1)}


def _divergence(v: Values) -> dict[str, object]:
    each = v.p * (np.log(v.p) - v.log_q)
    return {"each": each, "row": each.sum(axis=1)}


def _smooth(v: Values) -> dict[str, object]:
    d = np.abs(v.x - v.y)
    return {"loss": np.where(d < v.beta, 0.5 * d * d / v.beta, d - 0.5 * v.beta)}


CASES = (
    Case(
        name="cross_entropy",
        kernel=k.cross_entropy,
        parameters=(
            view("logits", "f32", "M N", normal(4)),
            view("target", "i64", "M", coordinates("N")),
            out("loss", "f32", "M"),
        ),
        oracle=lambda v: {"loss": logsumexp(v.logits, axis=1) - v.logits[np.arange(v.target.size), v.target]},
        tolerance=LOGARITHM,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="mean_squared_error",
        kernel=k.mean_squared_error,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("y", "f32", "M N", normal()),
            out("loss", "f32", ""),
        ),
        oracle=lambda v: {"loss": ((v.x - v.y) ** 2).mean()},
        tolerance=Tolerance(
            rtol=1e-5, reason="a f32 sum of up to 4000 positive terms in any order, one division"
        ),
        extents=sizes("M N", (1, 1), (5, 7), (17, 129)),
        segments=(segment(""),),
    ),
    Case(
        name="binary_cross_entropy",
        kernel=k.binary_cross_entropy,
        parameters=(
            view("x", "f32", "M N", normal(3)),
            view("t", "f32", "M N", uniform(0, 1)),
            out("loss", "f32", "M"),
        ),
        oracle=_binary,
        tolerance=accumulated(1025, scale=1.5, biased=True),
        extents=(*ROWS, *sizes("M N", (4, 0))),
        segments=(segment("M"),),
    ),
    Case(
        name="smooth_l1",
        kernel=k.smooth_l1,
        parameters=(
            view("x", "f32", "N", normal()),
            view("y", "f32", "N", normal()),
            scalar("beta", "f32", 0.75),
            out("loss", "f32", "N"),
        ),
        oracle=_smooth,
        tolerance=Tolerance(rtol=1e-6, atol=1e-6, reason="four f32 roundings of unit-sized values"),
        extents=sizes("N", 0, 1, 127, 1025),
        segments=(segment("N"),),
    ),
    Case(
        name="kl_divergence",
        kernel=k.kl_divergence,
        parameters=(
            view("log_q", "f32", "M N", uniform(-6, -0.1)),
            view("p", "f32", "M N", uniform(0.01, 1)),
            out("each", "f32", "M N"),
            out("row", "f32", "M"),
        ),
        oracle=_divergence,
        tolerance={
            "each": Tolerance(
                rtol=1e-6, atol=2e-6, reason="log within 2 ULP, a difference of values below 7"
            ),
            "row": accumulated(1025, scale=1.5, biased=True),
        },
        extents=ROWS,
        segments=(segment("M"),),
    ),
)
