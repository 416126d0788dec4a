"""Cases of helpers."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import normal, uniform
from intent_testkit.cases.tolerance import Tolerance, ulps
from intent_testkit.kernels import functions as k

LINE = sizes("N", 0, 1, 33, 257)
FEW = Tolerance(
    rtol=2.0**-22, atol=2.0**-21, reason="up to three f32 roundings of values below 16, fused or not"
)


def _leaky(v: Values) -> dict[str, object]:
    tenth = float(np.float32(0.1))
    return {
        "a": np.where(v.x >= 0, v.x, v.x * tenth),
        "b": np.where(v.x >= 0, v.x, v.x * 0.5) * 3 + 1,
    }


def _standard(v: Values) -> dict[str, object]:
    mean = v.x.mean(axis=1, keepdims=True)
    return {"y": (v.x - mean) / np.sqrt(((v.x - mean) ** 2).mean(axis=1, keepdims=True) + 1e-6)}


CASES = (
    Case(
        name="leaky_affine",
        kernel=k.leaky_affine,
        parameters=(view("x", "f32", "N", normal()), out("a", "f32", "N"), out("b", "f32", "N")),
        oracle=_leaky,
        tolerance=FEW,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="standardise",
        kernel=k.standardise,
        parameters=(view("x", "f32", "M N", normal(2, 1)), out("y", "f32", "M N")),
        oracle=_standard,
        tolerance=Tolerance(
            rtol=2e-5, atol=2e-5, reason="f32 mean and variance of up to 131 terms, unit-sized results"
        ),
        extents=sizes("M N", (0, 3), (2, 5), (5, 64), (7, 131)),
        segments=(segment("M"),),
    ),
    Case(
        name="to_polar",
        kernel=k.to_polar,
        parameters=(
            view("re", "f32", "N", uniform(0.5, 4)),
            view("im", "f32", "N", normal()),
            out("radius", "f32", "N"),
            out("ratio", "f32", "N"),
        ),
        oracle=lambda v: {"radius": np.hypot(v.re, v.im), "ratio": v.im / v.re},
        tolerance={
            "radius": ulps(2, "two products, a sum and a root, each rounded once"),
            "ratio": ulps(0.5, "one division"),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="helper_coordinates",
        kernel=k.helper_coordinates,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "K")),
        oracle=lambda v: {"y": np.diff(v.x)},
        extents=sizes("N K", (1, 0), (2, 1), (34, 33), (258, 257)),
        segments=(segment("K"),),
    ),
    Case(
        name="helper_effects",
        kernel=k.helper_effects,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N")),
        oracle=lambda v: {"y": v.x * 2},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 33)),
        segments=(segment("M N"),),
    ),
)
