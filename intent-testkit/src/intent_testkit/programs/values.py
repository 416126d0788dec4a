"""Operands that reach a dtype's edges, and how close a result must be; the same values whatever ran before."""

from __future__ import annotations

import math
import zlib
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

import ml_dtypes
import numpy as np

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array

SIGNED: Final = ("i8", "i16", "i32", "i64")
UNSIGNED: Final = ("u8", "u16", "u32", "u64")
INTEGERS: Final = SIGNED + UNSIGNED
FLOATS: Final = ("f16", "bf16", "f32", "f64")

_FLOAT_EDGES: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, math.inf, -math.inf, math.nan, 1e-3, -7.25, 100.0,
)  # fmt: skip
_EDGES: Final = len(_FLOAT_EDGES) + 5
"""How many edge values :func:`floats` puts in front."""


def generator(*words: object) -> np.random.Generator:
    """A generator that depends on the words alone."""
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


def integers(dtype: str, count: int = 400) -> Array:
    """``count`` random bit patterns with the extremes in front."""
    kind = BY_NAME[dtype]
    edges = [kind.minimum, kind.maximum, 0, 1, kind.maximum - 1, kind.minimum + 1, 2, 3]
    rng = generator("integers", dtype)
    body = rng.integers(kind.minimum, kind.maximum, count - len(edges), dtype=kind.numpy, endpoint=True)
    return np.concatenate([np.array(edges, kind.numpy), body])


def floats(dtype: str, count: int = 400) -> Array:
    """``count`` numbers of all magnitudes with the edges, subnormals included, in front."""
    kind = BY_NAME[dtype].numpy
    tiny, normal, top = _sizes(kind)
    edges = [*_FLOAT_EDGES, tiny, -tiny, normal / 2, normal, top]
    rng = generator("floats", dtype)
    body = rng.standard_normal(count - len(edges)) * 10.0 ** rng.integers(-4, 4, count - len(edges))
    found: Array = np.concatenate([np.array(edges), body]).astype(kind)
    return found


def _sizes(kind: Any) -> tuple[float, float, float]:
    """The smallest subnormal, smallest normal and largest finite number."""
    info: Any = ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
    return float(info.smallest_subnormal), float(info.tiny), float(info.max)


def pairs(values: Array, others: Array) -> tuple[Array, Array]:
    """Edges against edges first, then 300 random pairs."""
    edge = np.array(np.meshgrid(np.arange(_EDGES), np.arange(_EDGES))).reshape(2, -1)
    rest = generator("pairs").integers(0, len(values), (2, 300))
    index = np.concatenate([edge, rest], axis=1)
    return values[index[0]], others[index[1]]


def block(dtype: str, rows: int = 4, columns: int = 32) -> Array:
    """Normal floats, or integers or bools over the whole range."""
    kind, rng = BY_NAME[dtype], generator("block", dtype)
    if kind.is_float:
        return rng.standard_normal((rows, columns)).astype(kind.numpy)
    if dtype == "bool":
        return rng.integers(0, 2, (rows, columns)).astype(np.bool_)
    return rng.integers(kind.minimum, kind.maximum, (rows, columns), dtype=kind.numpy, endpoint=True)


def same(got: Array, wanted: Array, what: str = "") -> None:
    """Fail unless all bits are equal, up to the payload of NaN."""
    given, right = (a.astype(np.float64) if a.dtype.kind not in "iub" else a for a in (got, wanted))
    nan = (given != given) & (right != right)  # noqa: PLR0124 - NaN differs from itself
    signs = np.signbit(given) == np.signbit(right) if given.dtype.kind == "f" else True
    bad = ~(((given == right) & signs) | nan)
    places = np.argwhere(bad)[:4].tolist()
    assert not bad.any(), f"{what}: at {places} got {got[bad][:4]}, wanted {wanted[bad][:4]}"


def wrapped(values: list[int], dtype: str) -> Array:
    """Python integers reduced to the dtype's range; booleans as they are."""
    if all(isinstance(v, bool) for v in values):
        return np.array(values)
    bits = BY_NAME[dtype].bits
    found: Array = np.array([v & ((1 << bits) - 1) for v in values], f"u{bits // 8}")
    return found.view(BY_NAME[dtype].numpy)


def computed(fn: Any, dtype: str, *operands: Array) -> Array:
    """What numpy gives in the dtype; 16-bit floats through f32, rounded once."""
    wide = [o.astype(np.float32) if BY_NAME[dtype].bits < 32 else o for o in operands]
    with np.errstate(all="ignore"):
        result: Array = fn(*wide)
        return result if result.dtype == np.bool_ else result.astype(BY_NAME[dtype].numpy)


def ulps(got: Array, wanted: Array) -> Array:
    """Distance in units of the last place of ``got``'s dtype, subnormals included."""
    info = np.finfo(got.dtype)
    _, exponent = np.frexp(wanted.astype(np.float64))
    unit = np.maximum(np.ldexp(1.0, exponent - info.nmant - 1), float(info.smallest_subnormal))
    with np.errstate(all="ignore"):
        distance: Array = np.abs(got.astype(np.longdouble) - wanted.astype(np.longdouble)) / unit
    return distance


def rounding(dtype: str) -> float:
    """The largest relative error of one rounding to nearest in the dtype; 0 for integers."""
    kind = BY_NAME[dtype]
    return 2.0 ** -(kind.mantissa_bits + 1) if kind.is_float else 0.0


def nearest(value: Fraction, dtype: str) -> float:
    """``value`` rounded to nearest even in ``dtype``, overflow to infinity; exact arithmetic."""
    kind = BY_NAME[dtype]
    if value == 0:
        return 0.0
    size = abs(value)
    bias = (1 << (kind.exponent_bits - 1)) - 1
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, 1 - bias) - kind.mantissa_bits)
    rounded = round(size / unit) * unit
    _, _, top = _sizes(kind.numpy)
    result = math.inf if rounded > Fraction(top) else float(rounded)
    return -result if value < 0 else result


_BERNOULLI: Final = (
    Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66), Fraction(-691, 2730),
)  # fmt: skip
"""B(2), B(4), ...: Stirling's series from 30 on is right to 23 digits with these."""


def log_gamma(x: float) -> float:
    """The logarithm of |gamma(x)|, rounded once.

    math.lgamma and scipy's are off by many units where the result is small.
    """
    if math.isnan(x):
        return math.nan
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    if x in (1, 2):
        return 0.0
    with localcontext(prec=50):
        at, factor = Decimal(x), Decimal(1)
        while at < 30:
            factor *= at
            at += 1
        two_pi = Decimal("6.2831853071795864769252867665590057683943387987502")
        total = (at - Decimal("0.5")) * at.ln() - at + two_pi.ln() / 2 - abs(factor).ln()
        for k, b in enumerate(_BERNOULLI, start=1):
            total += Decimal(b.numerator) / (b.denominator * 2 * k * (2 * k - 1)) / at ** (2 * k - 1)
        return float(total)
