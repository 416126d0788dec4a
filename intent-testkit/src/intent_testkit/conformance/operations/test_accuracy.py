"""Functions that the language promises within some units of the last place, over their whole domain and range."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from scipy import special

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array
from intent_testkit.conformance.operations.pointwise import result_of
from intent_testkit.programs import run
from intent_testkit.programs.single import power_of_scalar
from intent_testkit.programs.values import floats, generator, log_gamma, rounding, same, ulps

ULP: Final = {
    "exp": (2, 2), "exp2": (2, 2), "log": (2, 2), "log2": (2, 2), "erf": (2, 2), "tanh": (2, 2), "sigmoid": (2, 2),
    "rsqrt": (2, 2), "sin": (2, 2), "cos": (2, 2), "asin": (2, 2), "log1p": (1, 1), "erfc": (4, 5), "lgamma": (6, 6),
    "i0": (6, 6),
}  # fmt: skip
"""The promised distance in f32 and in f64 (spec: numbers)."""

# scipy's own erfc is off by hundreds of units in places; the C library's is not.
ORACLES: Final[dict[str, Any]] = {
    "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc), "lgamma": np.vectorize(log_gamma),
    "i0": lambda x: np.where(np.isinf(x), np.inf, special.i0(x)), "sigmoid": special.expit,
    "rsqrt": lambda x: 1 / np.sqrt(x), "asin": np.arcsin,
}  # fmt: skip


def _oracle(fn: str, values: Array) -> Array:
    with np.errstate(all="ignore"):
        found: Array = (ORACLES.get(fn) or getattr(np, fn))(values.astype(np.float64))
    return found


def arguments_for(fn: str, dtype: str) -> Array:
    """Arguments over the function's whole domain and range; of lgamma those away from its zeros."""
    rng = generator(fn, dtype)
    top = 100.0 if dtype == "f32" else 740.0
    small = 10.0 ** rng.uniform(-37, 0, 200)
    wide = np.concatenate([rng.uniform(-top, top, 600), rng.standard_normal(600), small])
    if fn in ("log", "log2", "rsqrt", "log1p"):
        wide = np.concatenate([10.0 ** rng.uniform(-40, 38, 800), 1 + rng.standard_normal(400) * 1e-3])
    if fn == "log1p":
        wide = np.concatenate([wide, rng.uniform(-1, 1, 400), rng.standard_normal(400) * 1e-5])
    if fn == "asin":
        wide = rng.uniform(-1, 1, 1000)
    if fn == "i0":
        wide = np.clip(wide, -700, 700)  # scipy overflows before the function does
    if fn == "lgamma":
        parts = [rng.uniform(2.5, 90, 500), rng.uniform(0.01, 0.5, 500), -rng.uniform(0.1, 0.9, 200)]
        wide = np.concatenate(parts)
    edges = np.array([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1e-45, 1e-40])
    return np.asarray(np.concatenate([edges, wide]).astype(BY_NAME[dtype].numpy))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("fn", ULP)
def test_accuracy(intent_provider: str, fn: str, dtype: str) -> None:
    """Within the promise where the result is finite; NaN, infinities and signs of zeros exactly."""
    a = arguments_for(fn, dtype)
    got = result_of(intent_provider, fn, dtype, a)
    wanted = _oracle(fn, a)
    with np.errstate(all="ignore"):
        stored = wanted.astype(got.dtype)
    finite = np.isfinite(stored)
    same(got[~finite], stored[~finite], fn)
    slack = 1.0 if dtype == "f64" else 0.0  # most oracles are f64 functions themselves
    distance = ulps(got[finite], wanted[finite])
    worst = int(distance.argmax())
    text = f"{fn}({a[finite][worst]!r}) = {got[finite][worst]!r}, {float(distance.max()):.2f} ULP"
    assert distance.max() <= ULP[fn][dtype == "f64"] + slack, text
    zero = finite & (stored == 0) & (fn not in ("log", "log2", "lgamma"))
    assert (np.signbit(got[zero]) == np.signbit(stored[zero])).all()


@pytest.mark.parametrize(("dtype", "limit"), [("f32", 8), ("f64", 3)])
def test_pow(intent_provider: str, dtype: str, limit: int) -> None:
    """Negative bases, infinities and NaN as IEEE has them."""
    kind, rng = BY_NAME[dtype].numpy, generator("pow", dtype)
    base = np.concatenate([10.0 ** rng.uniform(-3, 3, 500), [0.0, 2.0, -2.0, -2.0, 1.0, math.inf]])
    power = np.concatenate([rng.uniform(-12, 12, 500), [0.0, 0.5, 3.0, 0.5, math.nan, -1.0]])
    base, power = base.astype(kind), power.astype(kind)
    with np.errstate(all="ignore"):
        wanted = np.power(base.astype(np.float64), power.astype(np.float64))
        stored = wanted.astype(kind)
    got = result_of(intent_provider, "pow", dtype, base, power)
    finite = np.isfinite(stored)
    same(got[~finite], stored[~finite])
    assert ulps(got[finite], wanted[finite]).max() <= limit


def test_a_library_function_of_a_number_and_a_block(intent_provider: str) -> None:
    """A power of one scalar argument with an exponent per lane."""
    rng = generator("power of a scalar")
    power, weight = rng.uniform(-2, 2, 4).astype(np.float32), rng.uniform(1, 2, 8).astype(np.float32)
    out = np.zeros((4, 8), np.float32)
    run(intent_provider, power_of_scalar(), {"x": power, "z": weight, "y": out}, {"base": 1e4})
    np.testing.assert_allclose(out, (np.float64(1e4) ** power)[:, None] * weight, rtol=1e-5)


@pytest.mark.parametrize("fn", ["exp", "tanh", "sigmoid", "log", "sqrt", "rsqrt", "erf", "exp2", "sin"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_floats_are_computed_in_f32_and_rounded_once(
    intent_provider: str, fn: str, dtype: str
) -> None:
    """Half a unit of the narrow dtype, and what an f32 result may be off on top."""
    a = np.abs(floats(dtype)) if fn in ("log", "sqrt", "rsqrt") else floats(dtype)
    got = result_of(intent_provider, fn, dtype, a).astype(np.float64)
    exact = _oracle(fn, a)
    with np.errstate(all="ignore"):
        wanted = exact.astype(np.float32).astype(BY_NAME[dtype].numpy).astype(np.float64)
    finite = np.isfinite(wanted) & np.isfinite(got)
    assert (np.isnan(got) == np.isnan(wanted)).all()
    same(got[~finite & ~np.isnan(wanted)], wanted[~finite & ~np.isnan(wanted)])
    unit = np.abs(wanted[finite]) * 2 * rounding(dtype) + 6e-8
    assert (np.abs(got[finite] - exact[finite]) <= 0.502 * unit).all()


@pytest.mark.parametrize("fn", ["exp2", "div"])
def test_approximate_forms(intent_provider: str, fn: str) -> None:
    """Two units for operands of usual size."""
    rng = generator("approximate", fn)
    a, b = rng.uniform(-120, 120, 1000).astype(np.float32), rng.uniform(0.1, 100, 1000).astype(np.float32)
    operands = [a] if fn == "exp2" else [a, b]
    got = result_of(intent_provider, fn, "f32", *operands, approximate=True)
    wanted = np.exp2(a.astype(np.float64)) if fn == "exp2" else a.astype(np.float64) / b
    assert ulps(got, wanted).max() <= 2
