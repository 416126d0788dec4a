"""Every pointwise function against numpy, scipy or Python integers, in higher precision."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from intent.kir.pointwise import FUNCTIONS
from intent.reference.logical.fma import fma
from intent.reference.logical.pointwise import apply
from intent.types.dtypes import BF16, BOOL, F8E4M3FN, F8E5M2, F16, F32, F64, I8, I32, I64, INDEX, U8, U32, U64

FLOATS = (F8E4M3FN, F8E5M2, F16, BF16, F32, F64)
INTEGERS = (I8, I32, I64, INDEX, U8, U32, U64)

MATH = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "lgamma": special.gammaln,
    "sin": np.sin,
    "asin": np.arcsin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "erf": special.erf,
    "erfc": special.erfc,
    "i0": special.i0,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "neg": np.negative,
    "abs": np.abs,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "maximum_num": np.fmax,
    "minimum_num": np.fmin,
    "pow": np.power,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 2.5, 3.0, -2.0, 60.0, -60.0, np.inf, -np.inf, np.nan]


def samples(dtype, rng, count=4000):
    values = np.concatenate(
        [SPECIAL, rng.normal(size=count) * 4, rng.uniform(0, 1, 500), rng.normal(size=200) * 80]
    )
    return values.astype(np.float32 if dtype.bits < 64 else np.float64).astype(dtype.numpy)


def ulps(actual, expected, dtype):
    """Distance in units of the last place of the expected value in ``dtype``."""
    actual = actual.astype(np.float64)
    both = np.isfinite(actual) & np.isfinite(expected)
    exponent = np.frexp(np.where(both, expected, 1.0))[1]
    floor = 2 - 2 ** (dtype.exponent_bits - 1)
    unit = np.ldexp(1.0, np.maximum(exponent - 1, floor) - dtype.mantissa_bits)
    return np.where(both, np.abs(actual - np.where(both, expected, 0)) / unit, 0.0), both


def check(fn, dtype, actual, expected, bound):
    actual, expected = np.asarray(actual), np.asarray(expected, np.float64)
    distance, finite = ulps(actual, expected, dtype)
    assert actual.dtype == dtype.numpy
    assert distance.max() <= bound, (fn, dtype, distance.max())
    wide = actual.astype(np.float64)
    assert (np.isnan(wide) == np.isnan(expected))[~finite & ~np.isinf(wide)].all(), (fn, dtype)
    infinite = np.isinf(expected)
    assert (wide[infinite] == expected[infinite]).all() or dtype is F8E4M3FN, (fn, dtype)


def test_every_function_of_the_language_is_tested():
    integer = {"floordiv", "mod", "shl", "shr", "and", "or", "xor", "invert"}
    compare = {"eq", "ne", "lt", "le", "gt", "ge"}
    rest = {"not", "isnan", "isinf", "fma", "select"}
    assert set(FUNCTIONS) == set(MATH) | set(BINARY) | integer | compare | rest


def overflowed(expected, dtype):
    """What rounds beyond the largest finite number is infinite."""
    limit = float(ml_dtypes.finfo(dtype.numpy).max) * (1 + 2.0 ** -(dtype.mantissa_bits + 2))
    return np.where(np.abs(expected) > limit, np.copysign(np.inf, expected), expected)


# scipy has fewer digits than the language asks of these in f64: they are compared with exact values below.
EXACT_BELOW = {("erfc", F64), ("i0", F64), ("lgamma", F64)}


@pytest.mark.parametrize(
    ("fn", "dtype"), [(f, d) for f in sorted(MATH) for d in FLOATS if (f, d) not in EXACT_BELOW], ids=str
)
def test_unary(fn, dtype):
    x = samples(dtype, np.random.default_rng(1))
    if fn == "lgamma":
        x = x[~((x.astype(np.float64) < 0) & (x.astype(np.float64) > -60))]  # scipy is no oracle near zeros
        x = x[x != -np.inf]  # tested below
    with np.errstate(all="ignore"):
        expected = MATH[fn](x.astype(np.float64))
        actual = apply(fn, dtype, x)
    if dtype is F8E4M3FN:  # out of its range is invalid input
        keep = ~(np.abs(expected) > 448)
        actual, expected = actual[keep], expected[keep]
    if dtype.bits < 64:
        expected = overflowed(expected, dtype)
    near_zero = np.isin(fn, ["lgamma"]) & (np.abs(expected) < 1e-2)
    expected, actual = expected[~near_zero], actual[~near_zero]
    check(fn, dtype, actual, expected, 0.5001 if dtype.bits < 64 else 4)


@pytest.mark.parametrize(
    ("fn", "argument", "exact"),
    [  # to 30 digits, from an arbitrary-precision evaluation
        ("erf", 1e-09, "0.0000000011283791670955126437972828086"),
        ("erf", 0.3, "0.328626759459127416189617985318"),
        ("erf", -1.7, "-0.983790458590774560841312945809"),
        ("erf", 5.5, "0.999999999999992642152082025602"),
        ("erfc", -3.0, "1.99997790950300141455862722387"),
        ("erfc", 0.1, "0.887537083981715101595287748986"),
        ("erfc", 0.9, "0.20309178757716786033533383966"),
        ("erfc", 2.5, "0.000406952017444958939564215739975"),
        ("erfc", 9.75, "2.98570083280057832205665176104e-43"),
        ("erfc", 26.25, "1.19107677067262300403120588306e-301"),
        ("i0", 1e-05, "1.00000000002500000000015625409"),
        ("i0", 0.75, "1.14564677804400132764757080038"),
        ("i0", -3.0, "4.88079258586502408561123554602"),
        ("i0", 19.75, "34140102.0601014443181160482902"),
        ("i0", 20.25, "55579102.8409386489895322965118"),
        ("i0", 34.5, "65577854099304.4039670958037628"),
        ("i0", 600.0, "6.14630540393684480348523088186e+258"),
        ("lgamma", 1e-08, "18.4206807381802088844527450222"),
        ("lgamma", 0.3, "1.09579799481807556056299850031"),
        ("lgamma", 0.75, "0.203280951431295371481432971862"),
        ("lgamma", 0.9990234375, "0.000564471911855123384257457527784"),
        ("lgamma", 1.25, "-0.0982718364218131614638538026966"),
        ("lgamma", 1.5, "-0.120782237635245222345518445782"),
        ("lgamma", 1.96875, "-0.0128950259801674106214042170437"),
        ("lgamma", 2.0009765625, "0.000413182793064254264258674986332"),
        ("lgamma", 2.75, "0.475214666914937130313102466395"),
        ("lgamma", 3.5, "1.20097360234707422481602188145"),
        ("lgamma", 4.25, "2.11445692745037147547749071719"),
        ("lgamma", 17.5, "32.081114895947349486504843399"),
        ("lgamma", 1000000.0, "12815504.569147611659976971785"),
        ("lgamma", -0.25, "1.58957531255118599031589721478"),
    ],
)
def test_special_functions_of_f64_to_four_ulp(fn, argument, exact):
    actual = apply(fn, F64, np.array([argument]))[0]
    assert abs(Fraction(float(actual)) - Fraction(exact)) <= 4 * Fraction(math.ulp(float(actual)))


def test_lgamma_special_values():
    x = np.array([1, 2, 0, -0.0, -1, -7, np.inf, -np.inf])
    assert apply("lgamma", F64, x).tolist() == [0, 0] + [math.inf] * 6


@pytest.mark.parametrize("fn", ["floor", "ceil", "round", "trunc", "sin", "asin", "erf", "tanh", "neg"])
def test_negative_zero_is_kept(fn):
    out = apply(fn, F32, np.array([-0.0], np.float32))
    assert out[0] == 0
    assert np.signbit(out[0]) == (fn != "neg")


@pytest.mark.parametrize("fn", sorted(BINARY))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_binary(fn, dtype):
    rng = np.random.default_rng(2)
    x, y = samples(dtype, rng), samples(dtype, rng)
    if fn == "pow":
        x = np.abs(x.astype(np.float64)).astype(dtype.numpy)
    grid = np.array(SPECIAL, np.float32).astype(dtype.numpy)
    x = np.concatenate([x, np.repeat(grid, grid.size)])
    y = np.concatenate([rng.permutation(y), np.tile(grid, grid.size)])
    with np.errstate(all="ignore"):
        expected = BINARY[fn](x.astype(np.float64), y.astype(np.float64))
        actual = apply(fn, dtype, x, y)
    if dtype is F8E4M3FN:
        keep = ~(np.abs(expected) > 448)
        actual, expected = actual[keep], expected[keep]
    elif dtype.bits < 64:
        expected = overflowed(expected, dtype)
    check(fn, dtype, actual, expected, 0.5001 if dtype.bits < 64 else 4)


def test_maximum_propagates_nan_and_maximum_num_does_not():
    x, y = np.array([np.nan, 1, np.nan], np.float32), np.array([1, np.nan, np.nan], np.float32)
    assert np.isnan(apply("maximum", F32, x, y)).all()
    assert np.isnan(apply("minimum", F32, x, y)).all()
    assert apply("maximum_num", F32, x, y)[:2].tolist() == [1, 1]
    assert np.isnan(apply("minimum_num", F32, x, y)[2])


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    "fn", ["add", "sub", "mul", "maximum", "minimum", "floordiv", "mod", "and", "or", "xor"]
)
def test_integer_arithmetic_wraps(fn, dtype):
    python = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "maximum": max, "minimum": min,
        "floordiv": operator.floordiv, "mod": operator.mod,
        "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    }[fn]  # fmt: skip
    values = [dtype.minimum, dtype.minimum + 1, 0, 1, 2, 3, 7, dtype.maximum - 1, dtype.maximum]
    values += [-1, -2, -7] if dtype.is_signed else []
    pairs = [(a, b) for a in values for b in values if b or fn not in ("floordiv", "mod")]
    x, y = (np.array(v, dtype.numpy) for v in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        actual = apply(fn, dtype, x, y)
    assert actual.dtype == dtype.numpy
    assert actual.tolist() == [wrap(python(a, b), dtype) for a, b in pairs]


def wrap(value, dtype):
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if value > dtype.maximum else value


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_shifts_negation_abs_invert(dtype):
    values = [dtype.minimum, 0, 1, 5, dtype.maximum] + ([-1, -5] if dtype.is_signed else [])
    x = np.array(values, dtype.numpy)
    for amount in (0, 1, dtype.bits - 1):
        by = np.full(x.shape, amount, dtype.numpy)
        assert apply("shl", dtype, x, by).tolist() == [wrap(v << amount, dtype) for v in values]
        assert apply("shr", dtype, x, by).tolist() == [wrap(v >> amount, dtype) for v in values]
    with np.errstate(all="ignore"):
        assert apply("neg", dtype, x).tolist() == [wrap(-v, dtype) for v in values]
        assert apply("abs", dtype, x).tolist() == [wrap(abs(v), dtype) for v in values]
    assert apply("invert", dtype, x).tolist() == [wrap(~v, dtype) for v in values]


@pytest.mark.parametrize("fn", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_comparisons(fn, dtype):
    values = (
        [0, 1, 2, 3, 100] + ([-1, -2] if dtype.is_signed else []) + ([math.nan] if dtype.is_float else [])
    )
    pairs = [(a, b) for a in values for b in values]
    x, y = (np.array(v, np.float64).astype(dtype.numpy) for v in zip(*pairs, strict=True))
    actual = apply(fn, dtype, x, y)
    assert actual.dtype == np.bool_
    exact = [float(v) for v in x], [float(v) for v in y]
    assert actual.tolist() == [getattr(operator, fn)(a, b) for a, b in zip(*exact, strict=True)]


def test_bool_functions():
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    for fn, expected in {
        "and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "xor": [0, 1, 1, 0], "eq": [1, 0, 0, 1], "ne": [0, 1, 1, 0],
    }.items():  # fmt: skip
        assert apply(fn, BOOL, x, y).tolist() == expected
    assert apply("not", BOOL, x).tolist() == [1, 1, 0, 0]
    assert apply("invert", BOOL, x).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_isnan_isinf_select(dtype):
    x = np.array([0, 1, np.nan, np.inf, -np.inf], np.float32).astype(dtype.numpy)
    wide = x.astype(np.float64)
    assert apply("isnan", dtype, x).tolist() == np.isnan(wide).tolist()
    assert apply("isinf", dtype, x).tolist() == np.isinf(wide).tolist()
    chosen = apply("select", dtype, np.array([1, 0, 1, 0, 1], bool), x, np.zeros(5, dtype.numpy))
    assert chosen.dtype == dtype.numpy
    assert (
        chosen.view(f"u{dtype.bytes}").tolist()
        == np.where([1, 0, 1, 0, 1], x.view(f"u{dtype.bytes}"), 0).tolist()
    )


def exact_fma(a, b, c, dtype):
    value = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    digits = dtype.mantissa_bits + 1
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value)))
    while Fraction(2) ** exponent > abs(value):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(value):
        exponent += 1
    exponent = max(exponent, 2 - 2 ** (dtype.exponent_bits - 1))
    unit = Fraction(2) ** (exponent - digits + 1)
    return float(round(value / unit) * unit)


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=3000).astype(dtype.numpy) for _ in range(2))
    product = (a.astype(np.float64) * b.astype(np.float64)).astype(dtype.numpy)
    tiny = (rng.normal(size=3000) * 2.0 ** rng.integers(-20, 5, 3000)).astype(dtype.numpy)
    for c in (-product, tiny, (product.astype(np.float64) * 2.0**-8).astype(dtype.numpy)):
        actual = fma(dtype, a, b, c).astype(np.float64)
        expected = [exact_fma(*t, dtype) for t in zip(a, b, c, strict=True)]
        assert (actual == expected).all()


def test_fma_extremes_of_f64():
    a = np.array([1e300, 1e-300, 2.0, np.inf, 1e308, 0.0, 5e-324])
    b = np.array([1e300, 1e-300, 3.0, 0.0, 10.0, 7.0, 0.5])
    c = np.array([-np.inf, 1e-310, np.nan, 1.0, -1.7e308, -0.0, 5e-324])
    with np.errstate(all="ignore"):
        out = fma(F64, a, b, c)
    assert out[0] == -np.inf
    assert out[1] == 1e-310
    assert np.isnan(out[2])
    assert np.isnan(out[3])
    assert out[4] == np.inf
    assert out[5] == 0
    assert out[6] == 1e-323
