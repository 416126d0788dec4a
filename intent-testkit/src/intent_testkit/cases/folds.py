"""Cases of region folds: none, one and many slices, masked and data-dependent ends, combines that do not commute."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, integers, normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import folds as k

INF = float("inf")
SOFTMAX = Tolerance(
    rtol=2e-5,
    atol=2e-6,
    reason="exp of a f32 product sum, a f32 sum of up to 70 positive terms, one division",
)


def _softmax(logits: Array) -> Array:
    e = np.exp(logits - np.max(logits, axis=1, initial=-INF, keepdims=True))
    found: Array = e / e.sum(axis=1, keepdims=True)
    return found


def _attention(v: Values) -> dict[str, object]:
    return {"y": _softmax(v.q @ v.k.T * 0.5) @ v.v}


def _causal(v: Values) -> dict[str, object]:
    n = v.q.shape[0]
    return {"y": _softmax(np.where(np.tri(n, dtype=bool), v.q @ v.k.T * 0.5, -INF)) @ v.v}


def _ragged(v: Values) -> dict[str, object]:
    y = np.zeros((v.q.shape[0], v.v.shape[1]))
    for g, (begin, end) in enumerate(zip(v.offsets[:-1], v.offsets[1:], strict=True)):
        if end > begin:
            y[g] = _softmax(v.q[g : g + 1] @ v.k[begin:end].T)[0] @ v.v[begin:end]
    return {"y": y}


def offsets(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Group boundaries from 0 to N; some groups are empty."""
    inner = np.sort(rng.integers(0, extents["N"] + 1, shape[0] - 2)) if shape[0] > 1 else np.zeros(0)
    cuts = np.concatenate(([0], inner, [extents["N"]]))[: shape[0]]
    if shape[0] > 3:
        cuts[2] = cuts[1]
    return cuts


def _composed(v: Values) -> dict[str, object]:
    scale, shift = np.ones(v.a.shape[1]), np.zeros(v.a.shape[1])
    for a, b in zip(v.a, v.b, strict=True):
        scale, shift = scale * a, a * shift + b
    return {"scale": scale, "shift": shift}


def _hash(v: Values) -> dict[str, object]:
    h = 0
    for x in v.x:
        h = (h * 31 + int(x)) % 2**64
    return {"y": np.uint64(h)}


def _changes(v: Values) -> dict[str, object]:
    before = np.concatenate((np.full((v.x.shape[0], 1), -1), v.x[:, :-1]), axis=1)[:, : v.x.shape[1]]
    return {"y": (v.x != before).sum(axis=1), "n": v.x.shape[1]}


def _moments(v: Values) -> dict[str, object]:
    if not v.x.shape[1]:
        return {"mean": 0.0, "variance": 0.0}
    return {"mean": v.x.mean(axis=1), "variance": v.x.var(axis=1)}


CASES = (
    Case(
        name="attention",
        kernel=k.attention,
        parameters=(
            view("q", "f32", "M D", normal()),
            view("k", "f32", "N D", normal()),
            view("v", "f32", "N E", normal()),
            out("y", "f32", "M E"),
        ),
        oracle=_attention,
        tolerance=SOFTMAX,
        constexprs={"SCALE": 0.5},
        extents=sizes("M N D E", (0, 2, 3, 4), (1, 1, 1, 1), (5, 7, 3, 4), (6, 70, 8, 5)),
        segments=(segment("M"),),
    ),
    Case(
        name="causal_attention",
        kernel=k.causal_attention,
        parameters=(
            view("q", "f32", "N D", normal()),
            view("k", "f32", "N D", normal()),
            view("v", "f32", "N E", normal()),
            out("y", "f32", "N E"),
        ),
        oracle=_causal,
        tolerance=SOFTMAX,
        constexprs={"SCALE": 0.5},
        extents=sizes("N D E", (0, 2, 3), (1, 1, 1), (7, 3, 4), (37, 5, 3)),
        segments=(segment("N"),),
    ),
    Case(
        name="ragged_attention",
        kernel=k.ragged_attention,
        parameters=(
            view("q", "f32", "G D", normal()),
            view("k", "f32", "N D", normal()),
            view("v", "f32", "N E", normal()),
            view("offsets", "i32", "P", offsets),
            out("y", "f32", "G E"),
        ),
        oracle=_ragged,
        tolerance=SOFTMAX,
        extents=sizes("G P N D E", (0, 1, 2, 3, 4), (1, 2, 1, 1, 1), (4, 5, 0, 2, 3), (5, 6, 23, 3, 4)),
        variants=("contiguous", "strided", "transposed", "flipped"),
        segments=(segment("G"),),
    ),
    Case(
        name="compose_all",
        kernel=k.compose_all,
        parameters=(
            view("a", "f64", "T D", uniform(-1.2, 1.2)),
            view("b", "f64", "T D", normal()),
            out("scale", "f64", "D"),
            out("shift", "f64", "D"),
        ),
        oracle=_composed,
        tolerance=Tolerance(rtol=1e-10, atol=1e-12, reason="70 maps with factors below 1.2 in f64"),
        extents=sizes("T D", (0, 3), (3, 0), (1, 1), (2, 3), (7, 5), (70, 3)),
        segments=(segment("D"),),
    ),
    Case(
        name="rolling_hash",
        kernel=k.rolling_hash,
        parameters=(view("x", "u64", "N", integers(0, 2**64 - 1)), out("y", "u64", "")),
        oracle=_hash,
        extents=sizes("N", 0, 1, 2, 33, 70),
        segments=(segment(""),),
    ),
    Case(
        name="count_changes",
        kernel=k.count_changes,
        parameters=(view("x", "i32", "M N", integers(0, 2)), out("y", "i64", "M"), out("n", "i64", "M")),
        oracle=_changes,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70)),
        segments=(segment("M"),),
    ),
    Case(
        name="moments_by_slices",
        kernel=k.moments_by_slices,
        parameters=(
            view("x", "f32", "M N", normal(1, 100)),
            out("mean", "f32", "M"),
            out("variance", "f32", "M"),
        ),
        oracle=_moments,
        tolerance={
            "mean": Tolerance(rtol=1e-6, reason="merged f32 means of up to 70 values around 100"),
            "variance": Tolerance(
                rtol=2e-4, atol=1e-3, reason="squares of f32 differences of values around 100"
            ),
        },
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70)),
        segments=(segment("M"),),
    ),
    Case(
        name="folds_in_folds",
        kernel=k.folds_in_folds,
        parameters=(
            view("x", "f32", "M N", integers(-9, 9)),
            out("twice", "f32", "M"),
            out("squares", "f32", ""),
        ),
        oracle=lambda v: {"twice": 2 * v.x.sum(axis=1), "squares": np.square(v.x.sum(axis=1)).sum()},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70)),
        segments=(segment("M"), segment("")),
    ),
    Case(
        name="scans_in_scans",
        kernel=k.scans_in_scans,
        parameters=(
            view("x", "f32", "M N", integers(-9, 9)),
            out("y", "f32", "M N"),
            out("last", "f32", "M"),
        ),
        oracle=lambda v: {"y": 2 * (v.x.cumsum(axis=1) + 3), "last": v.x.sum(axis=1) + 3},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (4, 70)),
        segments=(segment("M"),),
    ),
)
