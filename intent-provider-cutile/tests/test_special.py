"""Functions that cuTile lacks, against references with more digits."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from intent_provider_cutile import prelude
from intent_provider_cutile.emulate.dtypes import ALL, FLOAT32, FLOAT64
from intent_provider_cutile.emulate.language import Language
from intent_provider_cutile.emulate.tile import Tile

RNG = np.random.default_rng(11)


def function(name):
    """A function of the prelude, run by the stand-in on arrays of a power-of-two length."""
    namespace = Language().namespace("test")
    text = "\n".join(prelude.FUNCTIONS[n] for n in prelude.closure([name]))
    exec(f"import cuda.tile as ct\nINF = float('inf')\n{text}", namespace)

    def run(*arrays):
        kinds = [FLOAT32 if a.dtype == np.float32 else FLOAT64 for a in arrays]
        with np.errstate(all="ignore"):
            return namespace[name](*(Tile(a, k) for a, k in zip(arrays, kinds, strict=True))).data

    return run


def rounded(value: Fraction, dtype) -> float:
    """The nearest float of ``dtype`` (normal range), ties to even."""
    bits = {np.float32: 24, np.float64: 53}[dtype]
    if value == 0:
        return 0.0
    scale = Fraction(2) ** (math.floor(math.log2(abs(value))) - bits + 1)
    while abs(value) / scale >= 2**bits:
        scale *= 2
    while abs(value) / scale < 2 ** (bits - 1):
        scale /= 2
    return float(round(value / scale) * scale)


@pytest.mark.parametrize(("name", "dtype"), [("_fma_f32", np.float32), ("_fma_f64", np.float64)])
def test_fma_rounds_once(name, dtype):
    a, b = (RNG.standard_normal(512).astype(dtype) for _ in range(2))
    exact = -(a.astype(np.longdouble) * b)
    # Sums that cancel, ties, and addends far below the product's last place.
    c = np.concatenate([exact[:256].astype(dtype), (RNG.standard_normal(256) * 2.0**-30).astype(dtype)])
    got = function(name)(a, b, c)
    wanted = [
        rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), dtype)
        for x, y, z in zip(a, b, c, strict=True)
    ]
    np.testing.assert_array_equal(got, np.asarray(wanted, dtype))


def test_fma_of_infinities_is_ieee():
    inf, nan = np.inf, np.nan
    a, b, c = (np.array(v) for v in ([inf, inf, 1.0, 1.0], [1.0, 0.0, 2.0, 2.0], [-1.0, 1.0, -inf, nan]))
    np.testing.assert_array_equal(function("_fma_f64")(a, b, c), [inf, nan, -inf, nan])


@pytest.mark.parametrize(
    ("name", "reference", "low", "high", "ulps"),
    [
        ("_erf", math.erf, -6, 6, 3), ("_erfc", math.erfc, -6, 26, 6), ("_log1p", math.log1p, -0.9, 9, 3),
        ("_asin", math.asin, -1, 1, 3), ("_i0", np.i0, -8, 8, 16), ("_i0", np.i0, 8, 700, 16),
    ],
)  # fmt: skip
def test_accuracy_in_f64(name, reference, low, high, ulps):
    x = RNG.uniform(low, high, 1024)
    wanted = np.array([float(reference(v)) for v in x])
    off = np.abs(function(name)(x) - wanted) / np.spacing(np.abs(wanted))
    assert off.max() <= ulps, x[off.argmax()]


def test_lgamma_has_its_poles_and_zeros():
    x = np.array(
        [
            1.0,
            2.0,
            0.0,
            -0.0,
            -1.0,
            -7.0,
            np.inf,
            -np.inf,
            np.nan,
            3.0,
            0.5,
            -0.5,
            1e-300,
            -1e-300,
            171.0,
            1e9,
        ]
    )
    got = function("_lgamma")(x)
    inf = np.inf
    np.testing.assert_array_equal(got[:9], [0.0, 0.0, inf, inf, inf, inf, inf, inf, np.nan])
    np.testing.assert_allclose(got[9:], [math.lgamma(v) for v in x[9:]], rtol=2e-15)


def test_every_function_says_what_it_needs():
    for name, text in prelude.FUNCTIONS.items():
        called = {other for other in prelude.FUNCTIONS if other != name and re.search(rf"\b{other}\(", text)}
        assert called <= set(prelude.NEEDS.get(name, ())), name


def test_unsigned_division_of_64_bits():
    text = prelude.FUNCTIONS["_floordiv_u64"]
    namespace = Language().namespace("test")
    exec(f"import cuda.tile as ct\n{text}", namespace)
    edges = np.array(
        [0, 1, 2, 3, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1, 10, 7], np.uint64
    )
    a, b = (
        x.reshape(-1)[:256]
        for x in np.meshgrid(np.resize(edges, 16), np.maximum(np.resize(edges, 16), np.uint64(1)))
    )
    kind = ALL["uint64"]
    got = namespace["_floordiv_u64"](Tile(a, kind), Tile(b, kind)).data
    np.testing.assert_array_equal(got, a // b)
