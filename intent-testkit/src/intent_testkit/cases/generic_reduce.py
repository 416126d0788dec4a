"""Cases of reductions with an author's combine."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, among, integers, normal
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import generic_reduce as k

ROWS = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (16, 17), (5, 130), (2, 515))
INF = float("inf")


def _peak(v: Values) -> dict[str, object]:
    y = np.zeros(v.x.shape[0])
    if v.x.shape[1]:
        y = v.x[np.arange(v.x.shape[0]), np.abs(v.x).argmax(axis=1)]
    return {"y": y}


def _keyed(v: Values) -> dict[str, object]:
    rows, columns = v.x.shape
    keys = (v.key ^ v.salt)[:, None] * ((np.arange(columns + 1) + 1) % 2)
    found = (
        np.concatenate([np.zeros((rows, 1), np.int64), np.bitwise_xor.accumulate(v.x, axis=1)], axis=1) ^ keys
    )
    return {"total": found[:, -1], "prefix": found[:, 1:]}


def _moments(v: Values) -> dict[str, object]:
    if not v.x.shape[1]:
        return {"mean": 0.0, "variance": 0.0}
    return {"mean": v.x.mean(axis=1), "variance": v.x.var(axis=1)}


def _argmax(v: Values) -> dict[str, object]:
    if not v.x.shape[1]:
        return {"value": -INF, "where": 2**63 - 1}
    return {"value": v.x.max(axis=1), "where": v.x.argmax(axis=1)}


def _log_sum(v: Values) -> dict[str, object]:
    return {"y": logsumexp(v.x, axis=1) if v.x.shape[1] else np.full(v.x.shape[0], -INF)}


def _multiples(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    del extents
    return rng.integers(1, 50, shape) * 6


def _divisors(v: Values) -> dict[str, object]:
    all_, later = np.gcd.reduce(v.x, axis=1), np.gcd.accumulate(v.x[:, ::-1], axis=1)[:, ::-1]
    return {"y": all_, "later": later, "folded": all_}


CASES = (
    Case(
        name="signed_peak",
        kernel=k.signed_peak,
        parameters=(view("x", "f32", "M N", normal(3)), out("y", "f32", "M")),
        oracle=_peak,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="parity",
        kernel=k.parity,
        parameters=(view("x", "i32", "M N", integers(-(2**31), 2**31 - 1)), out("y", "i32", "M")),
        oracle=lambda v: {"y": np.bitwise_xor.reduce(v.x, axis=1)},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="keyed_parity",
        # Operands of the combine: one for each row, and one for all.
        kernel=k.keyed_parity,
        parameters=(
            view("x", "i64", "M N", integers(-(2**40), 2**40)),
            view("key", "i64", "M", integers(-(2**40), 2**40)),
            scalar("salt", "i64", 12345),
            out("total", "i64", "M"),
            out("prefix", "i64", "M N"),
        ),
        oracle=_keyed,
        extents=ROWS,
        segments=(segment("M"), segment("M")),
    ),
    Case(
        name="welford",
        kernel=k.welford,
        # A mean that is large beside the deviation: the textbook sum of squares would fail here.
        parameters=(
            view("x", "f32", "M N", normal(1, 100)),
            out("mean", "f32", "M"),
            out("variance", "f32", "M"),
        ),
        oracle=_moments,
        tolerance={
            "mean": Tolerance(rtol=4e-6, reason="up to 515 f32 merges, each rounding the mean by 2^-24"),
            "variance": Tolerance(
                rtol=2e-4, atol=1e-6, reason="merged deviations of size 1 around a mean of 100 in f32"
            ),
        },
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="log_sum_exp",
        kernel=k.log_sum_exp,
        parameters=(view("x", "f32", "M N", normal(5)), out("y", "f32", "M")),
        oracle=_log_sum,
        tolerance=Tolerance(
            rtol=2e-6, atol=2e-5, reason="up to 515 f32 rescalings by exp within 2 ULP, then log"
        ),
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="argmax_record",
        kernel=k.argmax_record,
        parameters=(
            view("x", "f32", "M N", among((1.0, 1.0, 1.0, -INF, 0.5))),
            out("value", "f32", "M"),
            out("where", "i64", "M"),
        ),
        oracle=_argmax,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="norms_of_columns",
        kernel=k.norms_of_columns,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": np.sqrt((v.x**2).sum(axis=0))},
        tolerance=Tolerance(
            rtol=4e-6, reason="a f32 sum of positive terms in any order, sqrt halves the error"
        ),
        extents=ROWS,
        segments=(segment("N"),),
    ),
    Case(
        name="common_divisors",
        kernel=k.common_divisors,
        parameters=(
            view("x", "i64", "M N", _multiples),
            out("y", "i64", "M"),
            out("later", "i64", "M N"),
            out("folded", "i64", "M"),
        ),
        oracle=_divisors,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (3, 33)),
        segments=(segment("M"),),
    ),
)
