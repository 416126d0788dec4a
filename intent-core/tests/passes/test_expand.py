"""Functions that a target lacks, rewritten into arithmetic: accuracy, edges, and every place a function can stand."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.frontend import lower
from intent.kir.pointwise import FUNCTIONS
from intent.passes.expand import EXPANSIONS, expand
from intent.physical import Pointwise, Program
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan
from intent.provider.registry import registry
from intent.reference import physical

BASIC = frozenset(FUNCTIONS) - EXPANSIONS.keys()
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def _unary(function, element):
    @intent.kernel
    def computed(x: I.In[element, ("N",)], y: I.Out[element, ("N",)]):
        y[...] = function(x[...])

    return computed


def _program(kernel, **extents: int) -> Program:
    lowered = lower(kernel)
    analysis = analyze(lowered)
    plan = default_plan(analysis, registry().get("reference").capabilities, extents)
    program = expand(construct(lowered, plan, analysis), BASIC)
    verify(program)
    used = {op.fn for s in program.segments for op in walk(s.body) if isinstance(op, Pointwise)}
    assert used <= BASIC
    return program


def _run(kernel, views: dict[str, np.ndarray], **extents: int) -> None:
    with np.errstate(all="ignore"):
        physical.execute(_program(kernel, **extents), views, {}, extents)


def _result(fn: str, x: np.ndarray, dtype: str) -> np.ndarray:
    y = np.zeros_like(x)
    _run(_unary(getattr(I, fn), getattr(I, dtype)), {"x": x, "y": y}, N=len(x))
    return y


def _bessel(x: np.longdouble) -> np.longdouble:
    """Its series: all terms are positive, so longdouble keeps more digits than f64 has."""
    total = term = np.longdouble(1)
    for k in range(1, 400):
        term *= (x / 2 / k) ** 2
        total += term
    return total


# Reference in more digits or from the C library; arguments; permitted units in the last place (f32, f64).
LIMITS = {
    "sigmoid": (lambda x: 1 / (1 + np.exp(-np.longdouble(x))), (-80, 80), (2, 2)),
    "rsqrt": (lambda x: 1 / np.sqrt(np.longdouble(x)), (1e-6, 1e6), (2, 2)),
    "log1p": (lambda x: np.log1p(np.longdouble(x)), (-0.99, 9), (1, 1)),
    "asin": (lambda x: np.arcsin(np.longdouble(x)), (-1, 1), (2, 2)),
    "erf": (math.erf, (-5, 5), (2, 2)),
    "erfc": (math.erfc, (-5, 9), (4, 5)),
    "lgamma": (math.lgamma, (3, 90), (6, 6)),
    "i0": (lambda x: _bessel(np.longdouble(x)), (-40, 40), (6, 6)),
}


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("fn", LIMITS)
def test_accuracy(fn: str, dtype: str) -> None:
    reference, (low, high), limits = LIMITS[fn]
    rng = np.random.default_rng(zlib.crc32(fn.encode()))
    x = rng.uniform(low, high, 4096).astype(DTYPES[dtype])
    got = _result(fn, x, dtype)
    wanted = np.array([reference(float(v)) for v in x], np.longdouble)
    unit = np.spacing(np.abs(wanted).astype(DTYPES[dtype]))
    off = np.abs(got - wanted) / unit
    own = (
        1 if dtype == "f64" and fn in ("erf", "erfc", "lgamma") else 0
    )  # the reference is an f64 function itself
    assert off.max() <= limits[dtype == "f64"] + own, (x[off.argmax()], float(off.max()))


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize(("fn", "reference"), [("trunc", np.trunc), ("round", np.round)])
def test_rounding_is_exact_and_keeps_signs(fn: str, reference, dtype: str) -> None:
    values = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49,
        -0.49,
        1e4,
        -1e4,
        math.inf,
        -math.inf,
        math.nan,
        6e4,
        3.7,
    ]
    x = np.array(values, DTYPES[dtype])
    got = _result(fn, x, dtype)
    np.testing.assert_array_equal(got, reference(x))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(reference(x)))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    ("fn", "x", "wanted"),
    [
        ("sigmoid", [math.inf, -math.inf, math.nan, 0.0], [1.0, 0.0, math.nan, 0.5]),
        ("log1p", [math.inf, -1.0, math.nan, -0.0, -2.0], [math.inf, -math.inf, math.nan, -0.0, math.nan]),
        ("asin", [-0.0, 1.0, -1.0, 2.0, math.nan], [-0.0, math.pi / 2, -math.pi / 2, math.nan, math.nan]),
        ("erf", [-0.0, math.inf, -math.inf, math.nan], [-0.0, 1.0, -1.0, math.nan]),
        ("erfc", [0.0, math.inf, -math.inf, math.nan], [1.0, 0.0, 2.0, math.nan]),
        ("lgamma", [1.0, 2.0, 0.0, -3.0, math.inf, -math.inf], [0.0, 0.0, math.inf, math.inf, math.inf, math.inf]),
        ("i0", [0.0, math.inf, -math.inf, math.nan], [1.0, math.inf, math.inf, math.nan]),
        ("rsqrt", [0.0, math.inf, -1.0, 4.0], [math.inf, 0.0, math.nan, 0.5]),
    ],
)  # fmt: skip
def test_edges(fn: str, x: list[float], wanted: list[float], dtype: str) -> None:
    got = _result(fn, np.array(x, DTYPES[dtype]), dtype)
    expected = np.array(wanted, DTYPES[dtype])
    np.testing.assert_array_equal(got, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(expected[finite]))


def test_lgamma_where_its_parts_meet_and_below_zero() -> None:
    x = np.array([0.5, 1.5, 2.5, 8.0, -0.5, -1.5, -2.25, -7.75, -30.5, 1e-120, -1e-120])
    wanted = [math.lgamma(v) for v in x]
    np.testing.assert_allclose(_result("lgamma", x, "f64"), wanted, rtol=1e-14, atol=1e-14)


@intent.kernel
def outer_fma(
    x: I.In[I.f64, ("M",)], w: I.In[I.f64, ("N",)], c: I.In[I.f64, ()], y: I.Out[I.f64, ("M", "N")]
):
    y[...] = I.fma(x[...][:, None], w[...][None, :], c[()])


def test_operands_over_different_axes_and_one_rounding() -> None:
    """x * x - x**2 rounded is what the product lost; two roundings would give 0."""
    x = 1 + np.arange(1, 9) * 2.0**-52
    y = np.zeros((8, 8))
    _run(outer_fma, {"x": x, "w": x, "c": np.array(-1.0), "y": y}, M=8, N=8)
    exact = [[(int(a * 2**52) * int(b * 2**52) - 2**104) / 2**104 for b in x] for a in x]
    np.testing.assert_array_equal(y, exact)


@intent.kernel
def single_fma(
    x: I.In[I.f32, ("N",)], w: I.In[I.f32, ("N",)], c: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]
):
    y[...] = I.fma(x[...], w[...], c[...])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_the_product_and_the_sum_lose_decides_between_neighbours(sign: int) -> None:
    """Both products lie halfway between two numbers of f32; f64 has no room for what is added to them."""
    small = np.float32(2.0**-40)
    x = np.float32([4097, 4099, 4097, 4099, 4097, 3, 0.1])
    w = np.float32([4097, 4097, 4097, 4097, 4097, 5, 10])
    c = np.float32([small, small, -small, -small, 0, 7, -1])
    wanted = np.float32([16785410, 16793604, 16785408, 16793602, 16785408, 22, 0])
    wanted[-1] = np.float64(np.float32(0.1)) * 10 - 1
    y = np.zeros_like(x)
    _run(single_fma, {"x": sign * x, "w": w, "c": sign * c, "y": y}, N=len(x))
    np.testing.assert_array_equal(y, sign * wanted)


@intent.fn
def whole_sum(a, b):
    return I.trunc(a + b)


@intent.kernel
def folded(x: I.In[I.f64, ("M", "N")], y: I.Out[I.f64, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=whole_sum)


def test_functions_inside_of_a_combine_are_rewritten_there() -> None:
    x = np.arange(-20.0, 22.0).reshape(6, 7)
    y = np.zeros(6)
    _run(folded, {"x": x, "y": y}, M=6, N=7)
    np.testing.assert_array_equal(y, x.sum(axis=1))


def test_a_program_without_such_functions_stays_as_it_is() -> None:
    kernel = lower(_unary(I.exp, I.f32))
    analysis = analyze(kernel)
    plan = default_plan(analysis, registry().get("reference").capabilities, {"N": 8})
    program = construct(kernel, plan, analysis)
    assert expand(program, BASIC) is program


def test_what_the_target_has_is_left_to_it() -> None:
    kernel = lower(_unary(I.erf, I.f32))
    analysis = analyze(kernel)
    plan = default_plan(analysis, registry().get("reference").capabilities, {"N": 8})
    program = construct(kernel, plan, analysis)
    assert expand(program, BASIC | {"erf"}) is program
