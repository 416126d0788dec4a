"""Cases of normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import norms as k

ROWS = sizes("M N", (0, 5), (1, 1), (3, 7), (2, 64), (17, 127), (3, 1025))

NORM = Tolerance(
    rtol=2e-5,
    atol=2e-5,
    reason="f32 mean and variance of up to 1025 terms, rsqrt within 2 ULP, unit-sized results",
)
IN_F16 = Tolerance(ulps=0.52, atol=2e-5, reason="f32 arithmetic as for f32 norms, rounded once to f16")
IN_BF16 = Tolerance(ulps=0.52, atol=3e-5, reason="f32 arithmetic as for f32 norms, rounded once to bf16")


def _normalised(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    mean = x.mean(axis=axes, keepdims=True)
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + eps)
    return (x - mean) * scale, mean, scale


def _statistics(v: Values) -> dict[str, object]:
    y, mean, scale = _normalised(v.x, (1,), 1e-5)
    return {"y": y * v.weight + v.bias, "mean": mean[:, 0], "inverse_deviation": scale[:, 0]}


def _groups(v: Values) -> dict[str, object]:
    b, c, length = v.x.shape
    groups = v.extents.get("G", 3)
    y, _, _ = _normalised(v.x.reshape(b, groups, c // groups * length), (2,), 1e-5)
    return {"y": y.reshape(v.x.shape)}


CASES = (
    Case(
        name="layer_norm",
        kernel=k.layer_norm,
        parameters=(
            view("x", "f32", "M N", normal(2, 1)),
            view("weight", "f32", "N", normal()),
            view("bias", "f32", "N", normal()),
            scalar("eps", "f32", 1e-5),
            out("y", "f32", "M N"),
        ),
        oracle=lambda v: {"y": _normalised(v.x, (1,), v.eps)[0] * v.weight + v.bias},
        tolerance=NORM,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="layer_norm_statistics",
        kernel=k.layer_norm_statistics,
        parameters=(
            view("x", "bf16", "M N", normal(2, 1)),
            view("weight", "bf16", "N", normal()),
            view("bias", "bf16", "N", normal()),
            out("y", "bf16", "M N"),
            out("mean", "f32", "M"),
            out("inverse_deviation", "f32", "M"),
        ),
        oracle=_statistics,
        # With one element the variance is 0 and 1/sqrt(eps) is about 316: relative error only.
        tolerance={"y": IN_BF16, "mean": NORM, "inverse_deviation": NORM},
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="rms_norm",
        kernel=k.rms_norm,
        parameters=(
            view("x", "f16", "M N", normal()),
            view("weight", "f16", "N", uniform(0.5, 2)),
            out("y", "f16", "M N"),
        ),
        oracle=lambda v: {"y": v.x / np.sqrt((v.x**2).mean(axis=1, keepdims=True) + 1e-6) * v.weight},
        tolerance=IN_F16,
        extents=ROWS,
        segments=(segment("M"),),
    ),
    Case(
        name="group_norm",
        kernel=k.group_norm,
        parameters=(view("x", "f32", "B G C L", normal(2, 1)), out("y", "f32", "B G C L")),
        oracle=lambda v: {"y": _normalised(v.x, (2, 3), 1e-5)[0]},
        tolerance=NORM,
        extents=sizes("B G C L", (0, 2, 2, 3), (1, 1, 1, 1), (2, 3, 2, 5), (2, 2, 3, 33)),
        segments=(segment("B G"),),
    ),
    Case(
        name="group_norm_reshaped",
        kernel=k.group_norm_reshaped,
        constexprs={"G": 3},
        parameters=(view("x", "f32", "B 6 L", normal(2, 1)), out("y", "f32", "B 6 L")),
        oracle=_groups,
        tolerance=NORM,
        extents=sizes("B L", (0, 2), (1, 1), (2, 5), (3, 33)),
        segments=(segment("B"),),
    ),
    Case(
        name="batch_norm",
        kernel=k.batch_norm,
        parameters=(view("x", "f32", "B C L", normal(2, 1)), out("y", "f32", "B C L")),
        oracle=lambda v: {"y": _normalised(v.x, (0, 2), 1e-5)[0]},
        tolerance=NORM,
        extents=sizes("B C L", (2, 0, 3), (1, 1, 1), (3, 5, 7), (2, 3, 65)),
        segments=(segment("C"),),
    ),
)
