"""Cases of the pointwise family."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import among, normal, truth
from intent_testkit.cases.tolerance import EXACT, Tolerance, ulps
from intent_testkit.kernels import pointwise as k

LINE = sizes("N", 0, 1, 7, 127, 128, 129, 4099)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (16, 17), (33, 129))

NAN, INF = float("nan"), float("inf")
HARD = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e-310, 1e300, -1e300)

# Results that are infinite, that bf16 holds as subnormal numbers, and that only f32 would hold.
EXTREME = (0.0, -0.0, INF, -INF, NAN, 88.5, 89.5, -87.0, -88.5, -92.0, 92.0, -105.0, 105.0, -17.0, 17.5, 30.5)

FUSED = Tolerance(
    rtol=2.0**-23, atol=2.0**-22, reason="a*b+c of unit-sized values may be one FMA or two roundings"
)


def _arithmetic(v: Values) -> dict[str, object]:
    with np.errstate(all="ignore"):
        return {
            "total": v.x + v.y,
            "difference": v.x - v.y,
            "product": v.x * v.y,
            "quotient": v.x / v.y,
            "negated": -v.x,
        }


def _narrowed(v: Values) -> dict[str, object]:
    with np.errstate(all="ignore"):
        fallen = np.exp(-v.x).astype(np.float32).astype(np.float64)  # an f32 value may overflow on the way
        return {
            "grown": np.exp(v.x),
            "weighed": v.scale * fallen / 3.0,
            "gate": v.x * expit(v.x) * v.scale,
            "quotient": expit(v.x) / v.scale,
        }


def _coordinates(v: Values) -> dict[str, object]:
    m, n = v.extents["M"], v.extents["N"]
    return {"y": np.arange(m * n).reshape(m, n)}


def _lower(v: Values) -> dict[str, object]:
    keep = np.tril(np.ones(v.x.shape, np.bool_))
    return {"chosen": np.where(v.x > 0, v.x, 0.25 * v.x), "lower": np.where(keep, v.x, -1.0)}


CASES = (
    Case(
        name="add",
        kernel=k.add,
        parameters=(view("x", "f32", "N", normal()), view("y", "f32", "N", normal()), out("z", "f32", "N")),
        oracle=lambda v: {"z": v.x + v.y},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="axpy",
        kernel=k.axpy,
        parameters=(
            scalar("a", "f32", 1.5),
            view("x", "f32", "M N", normal()),
            view("y", "f32", "M N", normal()),
            out("z", "f32", "M N"),
        ),
        oracle=lambda v: {"z": v.a * v.x + v.y},
        tolerance=FUSED,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="axpy_bf16",
        kernel=k.axpy_bf16,
        parameters=(
            scalar("a", "f32", -0.75),
            view("x", "bf16", "N", normal()),
            view("y", "bf16", "N", normal()),
            out("z", "bf16", "N"),
        ),
        oracle=lambda v: {"z": v.a * v.x + v.y},
        tolerance=Tolerance(ulps=0.51, atol=2.0**-22, reason="f32 arithmetic, then one rounding to bf16"),
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="add_f16",
        kernel=k.add_f16,
        parameters=(view("x", "f16", "N", normal(8)), view("y", "f16", "N", normal(8)), out("z", "f16", "N")),
        oracle=lambda v: {"z": v.x + v.y},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="swiglu",
        kernel=k.swiglu,
        parameters=(
            view("gate", "bf16", "M N", normal(3)),
            view("up", "bf16", "M N", normal()),
            out("y", "bf16", "M N"),
        ),
        oracle=lambda v: {"y": v.gate * expit(v.gate) * v.up},
        tolerance=ulps(0.52, "f32 arithmetic with a 2 ULP sigmoid, then one rounding to bf16"),
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="narrowed_factors",
        kernel=k.narrowed_factors,
        parameters=(
            view("x", "f32", "N", among(EXTREME, normal(40))),
            view("scale", "f32", "N", among((1.0, -1.0, 0.5, -0.75))),
            *(out(name, "bf16", "N") for name in ("grown", "weighed")),
            out("gate", "f16", "N"),
            out("quotient", "bf16", "N"),
        ),
        oracle=_narrowed,
        tolerance=ulps(0.51, "factors off by 2**-17 at most, then one rounding to 16 bits"),
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="arithmetic_f64",
        kernel=k.arithmetic_f64,
        parameters=(
            view("x", "f64", "N", among(HARD, normal())),
            view("y", "f64", "N", among(HARD[::-1], normal())),
            *(out(name, "f64", "N") for name in ("total", "difference", "product", "quotient", "negated")),
        ),
        oracle=_arithmetic,
        tolerance=EXACT,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="compare",
        kernel=k.compare,
        parameters=(
            view("x", "f32", "N", among((0.0, 1.0, NAN, INF, -INF, -0.0, 2.0))),
            view("y", "f32", "N", among((-0.0, NAN, NAN, INF, INF, 0.0, 1.0))),
            *(
                out(name, "bool", "N")
                for name in ("less", "less_equal", "equal", "different", "greater", "greater_equal")
            ),
        ),
        oracle=lambda v: {
            "less": v.x < v.y,
            "less_equal": v.x <= v.y,
            "equal": v.x == v.y,
            "different": v.x != v.y,
            "greater": v.x > v.y,
            "greater_equal": v.x >= v.y,
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="select_and_mask",
        kernel=k.select_and_mask,
        parameters=(
            view("x", "f32", "M N", normal()),
            out("chosen", "f32", "M N"),
            out("lower", "f32", "M N"),
        ),
        oracle=_lower,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="boolean_logic",
        kernel=k.boolean_logic,
        parameters=(
            view("p", "bool", "N", truth()),
            view("q", "bool", "N", truth()),
            *(out(name, "bool", "N") for name in ("both", "either", "one", "neither")),
        ),
        oracle=lambda v: {"both": v.p & v.q, "either": v.p | v.q, "one": v.p ^ v.q, "neither": ~(v.p | v.q)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="constants",
        kernel=k.constants,
        parameters=(out("y", "f32", "M N"), out("n", "i32", "M")),
        oracle=lambda _: {"y": 2.5, "n": 0},
        extents=PLANE,
        segments=(segment("M N"), segment("M")),
    ),
    Case(
        name="coordinates",
        kernel=k.coordinates,
        parameters=(out("y", "i32", "M N"),),
        oracle=_coordinates,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
)
