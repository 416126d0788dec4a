"""Cases of the elementary functions: accuracy as the language states it, hard points included."""

from __future__ import annotations

import numpy as np
from scipy import special

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import among, normal, uniform
from intent_testkit.cases.tolerance import EXACT, Tolerance, ulps
from intent_testkit.kernels import elementary as k

LINE = sizes("N", 0, 1, 17, 129, 2051)
NAN, INF = float("nan"), float("inf")

STATED = "the accuracy that the language states for these functions"
TWO_ULP = ulps(2, STATED)
HALF_ULP = ulps(0.5, STATED)


def _quiet(function: object, *arguments: object) -> object:
    with np.errstate(all="ignore"):
        return function(*arguments)  # type: ignore[operator]


def _sigmoid(x: np.ndarray) -> object:
    # expit in float64; exp underflows to the subnormals exactly as the definition says.
    return _quiet(special.expit, x)


def _rounded(v: Values) -> dict[str, object]:
    return {"floor": np.floor(v.x), "ceil": np.ceil(v.x), "rounded": np.rint(v.x), "trunc": np.trunc(v.x)}


def _extremes(v: Values) -> dict[str, object]:
    return {
        "maximum": np.maximum(v.x, v.y),
        "minimum": np.minimum(v.x, v.y),
        "maximum_num": np.fmax(v.x, v.y),
        "minimum_num": np.fmin(v.x, v.y),
        "clamp": np.clip(v.x, -0.5, 0.75),
    }


def _binary(v: Values) -> dict[str, object]:
    with np.errstate(all="ignore"):
        return {"fdiv": v.x / v.y, "power": np.power(v.x, v.y), "fma": v.x * v.y + v.x, "added": v.x + v.y}


def _logarithms(v: Values) -> dict[str, object]:
    with np.errstate(all="ignore"):
        return {"log": np.log(v.x), "log2": np.log2(v.x), "log1p": np.log1p(v.x)}


def _roots(v: Values) -> dict[str, object]:
    with np.errstate(all="ignore"):
        return {"sqrt": np.sqrt(v.x), "rsqrt": 1 / np.sqrt(v.x), "magnitude": np.abs(v.x)}


def _f64(v: Values) -> dict[str, object]:
    wide = v.x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        return {
            "exp": np.exp(wide),
            "log": np.log(wide),
            "sin": np.sin(wide),
            "cos": np.cos(wide),
            # Correctly rounded by IEEE; through 80 bits it would be rounded twice.
            "sqrt": np.sqrt(v.x),
            "tanh": np.tanh(wide),
            "erf": special.erf(v.x),
        }


CASES = (
    Case(
        name="exponentials",
        kernel=k.exponentials,
        parameters=(
            view(
                "x",
                "f32",
                "N",
                among((0.0, -0.0, INF, -INF, NAN, 88.7, -87.5, 100.0, -120.0, 1e-30), normal(6)),
            ),
            *(out(name, "f32", "N") for name in ("exp", "exp2", "sigmoid", "tanh")),
        ),
        oracle=lambda v: {
            "exp": _quiet(np.exp, v.x),
            "exp2": _quiet(np.exp2, v.x),
            "sigmoid": _sigmoid(v.x),
            "tanh": np.tanh(v.x),
        },
        tolerance=TWO_ULP,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="logarithms",
        kernel=k.logarithms,
        parameters=(
            view(
                "x",
                "f32",
                "N",
                among((0.0, 1.0, INF, NAN, 1e-40, 1e-20, 0.999999, 1.000001, 3e38, -0.5), uniform(0, 9)),
            ),
            *(out(name, "f32", "N") for name in ("log", "log2", "log1p")),
        ),
        oracle=_logarithms,
        tolerance={"log": TWO_ULP, "log2": TWO_ULP, "log1p": ulps(1, STATED)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="trigonometry",
        kernel=k.trigonometry,
        parameters=(
            view(
                "x",
                "f32",
                "N",
                among((0.0, 8.0, -8.0, 3.1415927, 1.5707964, -6.2831855, 1e-20), uniform(-8, 8)),
            ),
            *(out(name, "f32", "N") for name in ("sin", "cos", "asin")),
        ),
        oracle=lambda v: {"sin": np.sin(v.x), "cos": np.cos(v.x), "asin": np.arcsin(v.x / 8)},
        tolerance=TWO_ULP,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="roots",
        kernel=k.roots,
        parameters=(
            view("x", "f32", "N", among((0.0, 1.0, 4.0, INF, NAN, 1e-40, -1.0, 3e38), uniform(0, 50))),
            *(out(name, "f32", "N") for name in ("sqrt", "rsqrt", "magnitude")),
        ),
        oracle=_roots,
        tolerance={"sqrt": HALF_ULP, "rsqrt": TWO_ULP, "magnitude": EXACT},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="error_functions",
        kernel=k.error_functions,
        parameters=(
            view("x", "f32", "N", among((0.0, -0.0, INF, -INF, NAN, 9.0, -9.0, 1e-20, 5.5), normal(2))),
            *(out(name, "f32", "N") for name in ("erf", "erfc")),
        ),
        oracle=lambda v: {"erf": special.erf(v.x), "erfc": special.erfc(v.x)},
        tolerance={"erf": TWO_ULP, "erfc": ulps(4, STATED)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="special_functions",
        kernel=k.special_functions,
        parameters=(
            view("x", "f32", "N", among((1.0, 2.0, INF, NAN, 0.5, 20.0, 1e-3, 3.0), uniform(0.01, 30))),
            *(out(name, "f32", "N") for name in ("lgamma", "i0")),
        ),
        oracle=lambda v: {"lgamma": special.gammaln(v.x), "i0": np.where(v.x == INF, INF, special.i0(v.x))},
        tolerance={
            "lgamma": Tolerance(ulps=6, atol=2e-7, reason=STATED + "; absolute near the zeros at 1 and 2"),
            "i0": ulps(6, STATED),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="elementary_f64",
        kernel=k.elementary_f64,
        parameters=(
            view("x", "f64", "N", uniform(0.05, 9)),
            *(out(name, "f64", "N") for name in ("exp", "log", "sin", "cos", "sqrt", "tanh", "erf")),
        ),
        oracle=_f64,
        tolerance={
            **dict.fromkeys(("exp", "log", "sin", "cos", "tanh"), TWO_ULP),
            "sqrt": ulps(0.5, STATED),
            "erf": ulps(3, STATED + ", plus 1 ULP of the float64 oracle itself"),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="exp_f16",
        kernel=k.exp_f16,
        parameters=(view("x", "f16", "N", normal(3)), out("y", "f16", "N")),
        oracle=lambda v: {"y": np.exp(v.x)},
        tolerance=ulps(0.51, "computed in f32 within 2 ULP, rounded once to f16"),
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="roundings",
        kernel=k.roundings,
        parameters=(
            view(
                "x",
                "f32",
                "N",
                among((0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.0, INF, NAN, 8388609.0, -7.0), normal(20)),
            ),
            *(out(name, "f32", "N") for name in ("floor", "ceil", "rounded", "trunc")),
        ),
        oracle=_rounded,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="extremes",
        kernel=k.extremes,
        parameters=(
            view("x", "f32", "N", among((NAN, 1.0, NAN, INF, -INF, 0.7, -3.0), normal())),
            view("y", "f32", "N", among((1.0, NAN, NAN, 2.0, INF, 0.8, -4.0), normal())),
            *(out(n, "f32", "N") for n in ("maximum", "minimum", "maximum_num", "minimum_num", "clamp")),
        ),
        oracle=_extremes,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="binary_functions",
        kernel=k.binary_functions,
        parameters=(
            view("x", "f32", "N", uniform(0.05, 20)),
            view("y", "f32", "N", uniform(-5, 5)),
            *(out(name, "f32", "N") for name in ("fdiv", "power", "fma", "added")),
        ),
        oracle=_binary,
        tolerance={"fdiv": HALF_ULP, "power": ulps(8, STATED), "fma": HALF_ULP, "added": HALF_ULP},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="classify",
        kernel=k.classify,
        parameters=(
            view("x", "f32", "N", among((NAN, INF, -INF, 0.0, 3e38, -NAN), normal())),
            out("nan", "bool", "N"),
            out("infinite", "bool", "N"),
        ),
        oracle=lambda v: {"nan": np.isnan(v.x), "infinite": np.isinf(v.x)},
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="approximate",
        kernel=k.approximate,
        parameters=(
            view("x", "f32", "N", uniform(-8, 8)),
            view("y", "f32", "N", uniform(0.1, 9)),
            *(out(name, "f32", "N") for name in ("exp2", "fdiv", "tanh")),
        ),
        oracle=lambda v: {"exp2": np.exp2(v.x), "fdiv": v.x / v.y, "tanh": np.tanh(v.x)},
        tolerance={
            "exp2": TWO_ULP,
            "fdiv": TWO_ULP,
            "tanh": Tolerance(
                rtol=2.0**-11, reason="the accuracy that the language states for approximate tanh"
            ),
        },
        extents=LINE,
        segments=(segment("N"),),
    ),
)
