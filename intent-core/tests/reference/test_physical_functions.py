"""The program evaluator's functions against scipy in double precision, and against the logical evaluator."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from intent.kir.pointwise import FUNCTIONS
from intent.reference.logical.pointwise import apply
from intent.reference.logical.rounding import convert
from intent.reference.physical.conversion import to_dtype
from intent.reference.physical.functions import compute
from intent.types import dtypes
from intent.types.dtypes import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, I8, I32, I64, INDEX, U8, U32, U64

FLOATS = (F8E4M3FN, F8E5M2, F16, BF16, F32, F64)
INTEGERS = (I8, I32, I64, INDEX, U8, U32, U64)
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    3.0,
    27.0,
    -27.0,
    90.0,
    np.inf,
    -np.inf,
    np.nan,
]


def floats(dtype, rng, count=3000):
    values = np.concatenate(
        [EDGES, rng.normal(size=count) * 3, rng.uniform(-1, 1, count), rng.normal(size=300) * 30]
    )
    return values.astype(np.float64 if dtype is F64 else np.float32).astype(dtype.numpy)


ORACLES = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "log1p": np.log1p, "sin": np.sin,
    "cos": np.cos, "asin": np.arcsin, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc,
    "erf": special.erf, "erfc": special.erfc,
    "i0": lambda x: np.where(np.isinf(x), np.inf, special.i0(x)),
    "rsqrt": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt,
    "sigmoid": special.expit, "tanh": np.tanh, "neg": np.negative, "abs": np.abs,
    "lgamma": lambda x: np.where(x == -np.inf, np.inf, special.gammaln(x)),
}  # fmt: skip


def distance(actual, expected, dtype):
    wide = actual.astype(np.float64)
    if dtype is not F64:
        limit = float(ml_dtypes.finfo(dtype.numpy).max) * (1 + 2.0 ** -(dtype.mantissa_bits + 2))
        expected = np.where(np.abs(expected) > limit, np.copysign(np.inf, expected), expected)
    if dtype is F8E4M3FN:  # what is out of its range is invalid input
        keep = np.isfinite(expected)
        wide, expected = wide[keep], expected[keep]
    same = (wide == expected) | (np.isnan(wide) & np.isnan(expected))
    wide, expected = wide[~same], expected[~same]
    exponent = np.maximum(np.frexp(expected)[1] - 1, 2 - 2 ** (dtype.exponent_bits - 1))
    return float((np.abs(wide - expected) / np.ldexp(1.0, exponent - dtype.mantissa_bits)).max(initial=0))


@pytest.mark.parametrize("fn", sorted(ORACLES))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_unary_functions(fn, dtype):
    x = floats(dtype, np.random.default_rng(0))
    if fn == "lgamma":  # relative accuracy is promised away from the zeros only
        wide = x.astype(np.float64)
        x = x[(wide >= 0) | (wide == -np.inf) | np.isnan(wide)]
    with np.errstate(all="ignore"):
        actual = compute(fn, dtype, [x])
        expected = ORACLES[fn](x.astype(np.float64))
    assert actual.dtype == dtype.numpy
    if fn == "lgamma":
        keep = ~(np.abs(expected) < 0.05)
        actual, expected = actual[keep], expected[keep]
    loose = {"lgamma": 64, "erfc": 1e4, "i0": 8}.get(fn, 4) if dtype is F64 else 0.501
    assert distance(actual, expected, dtype) <= loose


@pytest.mark.parametrize("fn", ["erf", "erfc"])
def test_single_precision_error_functions_over_their_whole_range(fn):
    x = np.concatenate([np.linspace(-11, 11, 20001), np.geomspace(1e-30, 11, 2000)]).astype(np.float32)
    with np.errstate(all="ignore"):
        actual = compute(fn, F32, [x])
    exact = {"erf": math.erf, "erfc": math.erfc}[fn]
    assert distance(actual, np.array([exact(float(v)) for v in x]), F32) <= 0.51


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "fn", sorted(n for n, f in FUNCTIONS.items() if f.operands in ("float", "number", "any"))
)
def test_both_evaluators_agree_on_floats(fn, dtype):
    rng = np.random.default_rng(1)
    function = FUNCTIONS[fn]
    operands = [rng.permutation(floats(dtype, rng)) for _ in range(function.arity)]
    if fn == "select":
        operands[0] = rng.integers(0, 2, size=operands[1].size).astype(bool)
    with np.errstate(all="ignore"):
        one, other = compute(fn, dtype, operands), apply(fn, dtype, *operands)
    assert one.dtype == other.dtype
    if function.rule == "bool":
        assert (one == other).all()
        return
    a, b = one.astype(np.float64), other.astype(np.float64)
    assert (np.isnan(a) == np.isnan(b)).all()
    rough = {"lgamma": 1e-7, "erfc": 1e-13, "i0": 1e-13, "pow": 1e-13}.get(fn, 1e-15)
    tolerance = rough if dtype is F64 else 2.0**-dtype.mantissa_bits
    np.testing.assert_allclose(a, b, rtol=tolerance * 4, atol=1e-12 if fn == "lgamma" else 0)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("fn", sorted(n for n, f in FUNCTIONS.items() if f.operands not in ("float", "bool")))
def test_both_evaluators_agree_on_integers(fn, dtype):
    values = [dtype.minimum, dtype.minimum + 1, 0, 1, 2, 3, 7, dtype.maximum - 1, dtype.maximum]
    values += [-1, -2, -7] if dtype.is_signed else []
    grid = np.array(values, dtype.numpy)
    a, b = np.repeat(grid, grid.size), np.tile(grid, grid.size)
    if fn in ("shl", "shr"):
        b = (np.arange(a.size) % dtype.bits).astype(dtype.numpy)
    if fn in ("floordiv", "mod"):
        a, b = a[b != 0], b[b != 0]
    operands = {1: [a], 2: [a, b], 3: [a > b, a, b]}[FUNCTIONS[fn].arity]
    with np.errstate(all="ignore"):
        one, other = compute(fn, dtype, operands), apply(fn, dtype, *operands)
    assert one.dtype == other.dtype
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("source", dtypes.ALL, ids=str)
@pytest.mark.parametrize("target", dtypes.ALL, ids=str)
def test_both_evaluators_convert_alike(source, target):
    """Two constructions of correct rounding: scaling here, rounding to odd there."""
    rng = np.random.default_rng(2)
    if source.kind == "bool":
        x = np.array([True, False])
    elif source.is_float:
        top = {"bool": 1e3, "float": 400.0}.get(target.kind, min(float(target.maximum), 400.0))
        low = 0.0 if target.kind == "uint" else -min(top, 100.0)
        x = np.concatenate([rng.uniform(low, min(top, 100.0), 3000), rng.normal(size=3000).clip(low, 3)])
        if target.is_float:
            x = np.concatenate(
                [x, x * 2.0**-14, x * 2.0**-130 if source.bits >= 32 else x, [np.nan, 0.0, -0.0]]
            )
            tie = np.floor(x * 2.0**7) / 2.0**7 + 2.0 ** rng.integers(-30, -5, x.size)
            x = np.concatenate([x, tie])
        x = x.astype(np.float64).astype(source.numpy)
    else:
        top = min(source.maximum, 400 if target.bits == 8 and target.is_float else source.maximum)
        x = rng.integers(max(source.minimum, -top - 1), top, size=4000, dtype=source.numpy, endpoint=True)
        x = (
            np.concatenate([x, x >> 3, x >> (source.bits // 2)])
            if not target.is_float or target.bits > 8
            else x
        )
        if target is F16:
            x = x[np.abs(x.astype(np.float64)) < 65504]
    with np.errstate(all="ignore"):
        one, other = to_dtype(x, source, target), convert(x, source, target)
    assert one.dtype == other.dtype == target.numpy
    np.testing.assert_array_equal(one.astype(np.float64), other.astype(np.float64))
