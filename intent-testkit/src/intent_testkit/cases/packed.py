"""Cases of microscaled and structured sparse contractions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from intent_testkit.cases.case import Case, Oracle, Values, out, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, Sampler, integers, normal
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import packed as k

Decoder = Callable[[Array, int], Array]
BYTES = integers(0, 255)
NAN = float("nan")
# The eight magnitudes of a 4-bit float with 2 exponent and 1 significand bits.
FOUR_BITS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _e2m1(x: Array, axis: int) -> Array:
    table: Array = np.array([*FOUR_BITS, *(-m for m in FOUR_BITS)])
    x = np.moveaxis(x, axis, -1)
    pairs = np.stack((table[x & 15], table[x >> 4]), axis=-1)
    found: Array = np.moveaxis(pairs.reshape(*x.shape[:-1], 2 * x.shape[-1]), -1, axis)
    return found


def _e4m3(x: Array, _: int = 0) -> Array:
    sign = np.where(x & 0x80, -1.0, 1.0)
    exponent, significand = ((x >> 3) & 15).astype(np.int64), (x & 7) / 8.0
    value = np.where(exponent == 0, significand * 2.0**-6, (1 + significand) * 2.0 ** (exponent - 7))
    found: Array = sign * np.where((x & 0x7F) == 0x7F, NAN, value)
    return found


def _scale(x: Array) -> Array:
    return np.where(x == 255, NAN, 2.0 ** (x.astype(np.float64) - 127))


def _scaled(lhs: Decoder, rhs: Decoder) -> Oracle:
    def oracle(v: Values) -> dict[str, object]:
        a = lhs(v.a, 2) * _scale(v.a_scale)[:, :, None]
        b = rhs(v.b, 1) * _scale(v.b_scale).T[:, None, :]
        return {"c": np.einsum("mgc,gcn->mn", a, b)}

    return oracle


def no_nan(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
    """Bytes that are not NaN as e4m3."""
    x = rng.integers(0, 256, shape)
    return np.where((x & 0x7F) == 0x7F, x - 1, x)


def below_two(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
    """Bytes that are numbers below two as e4m3, subnormal ones included."""
    return rng.integers(0, 256, shape) & 0xBF


def two_broken(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """The same, of which the first and the last of many are NaN, one of each sign."""
    x = below_two(rng, shape, extents)
    if x.size > 12:
        x.flat[0], x.flat[-1] = 0x7F, 0xFF
    return x


def one_broken(low: int, high: int) -> Sampler:
    """e8m0 exponents of which the first, if there are several, is NaN."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
        x = rng.integers(low, high + 1, shape)
        if x.size > 1:
            x.flat[0] = 255
        return x

    return sample


def _positions(which: int) -> Sampler:
    """The first or second of two ascending positions in a group of four, the same pair for both."""

    def sample(_: np.random.Generator, shape: tuple[int, ...], __: Extents) -> Array:
        pairs = np.array([(0, 1), (2, 3), (0, 3), (1, 2), (1, 3), (0, 2)])
        chosen = np.arange(int(np.prod(shape))) * 7 % 6
        found: Array = pairs[chosen, which].reshape(shape)
        return found

    return sample


def _two_of_four(v: Values) -> dict[str, object]:
    full = np.zeros((v.a.shape[0], v.first.shape[1], 4))
    rows, groups = np.indices(v.first.shape)
    full[rows, groups, v.first] = v.a[:, 0::2]
    full[rows, groups, v.second] = v.a[:, 1::2]
    return {"c": full.reshape(v.a.shape[0], v.b.shape[0]) @ v.b}


def _spoiled(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
    """Numbers, NaN and infinities: what no stored element meets must not be seen."""
    x = rng.normal(size=shape)
    kinds = rng.integers(0, 12, shape)
    return np.where(kinds == 0, NAN, np.where(kinds == 1, np.inf, x))


def _batches(v: Values) -> dict[str, object]:
    c = np.zeros((v.a.shape[0], v.a.shape[2], v.b.shape[0]))
    for n, s, m in np.ndindex(v.a.shape):
        c[n, m] += v.a[n, s, m] * v.b[:, 2 * s + v.place[n, s, m], n]
    return {"c": c}


def _one_of_two(v: Values) -> dict[str, object]:
    full = np.zeros((*v.a.shape, 2), np.int64)
    np.put_along_axis(full, v.place[..., None].astype(np.int64), v.a[..., None].astype(np.int64), axis=-1)
    full = full.reshape(*v.a.shape[:2], v.b.shape[2])
    return {"c": np.einsum("bmk,bnk->bmn", full, v.b.astype(np.int64))}


_EXTENTS = sizes("M G N", (0, 2, 3), (3, 0, 3), (1, 1, 1), (5, 3, 7), (17, 2, 9))
# Positions of a group must stay a pair, whichever rows share storage.
_LAYOUTS = ("contiguous", "strided", "transposed", "flipped")

CASES = (
    Case(
        name="scaled_e2m1",
        kernel=k.scaled_e2m1,
        parameters=(
            view("a", "u8", "M G 16", BYTES),
            # Each element times its own scale would overflow f32; the products of scales are below 2**10.
            view("a_scale", "u8", "M G", one_broken(246, 254)),
            view("b", "u8", "G 16 N", BYTES),
            view("b_scale", "u8", "N G", integers(0, 10)),
            out("c", "f32", "M N"),
        ),
        oracle=_scaled(_e2m1, _e2m1),
        tolerance=Tolerance(
            rtol=2e-6,
            atol=4.0,
            reason="three f32 sums of 32 products below 36, times up to 2**10, added in f32",
        ),
        extents=_EXTENTS,
        segments=(segment("M N"),),
    ),
    Case(
        name="scaled_mixed",
        kernel=k.scaled_mixed,
        parameters=(
            view("a", "u8", "M G C", BYTES),
            view("a_scale", "u8", "M G", integers(244, 254)),
            view("b", "u8", "G 8 N", no_nan),
            view("b_scale", "u8", "N G", integers(0, 10)),
            out("c", "f64", "M N"),
        ),
        oracle=_scaled(_e2m1, _e4m3),
        tolerance=Tolerance(
            rtol=1e-13, atol=1e-6, reason="three f64 sums of 8 exact products below 2700, times up to 2**10"
        ),
        extents=sizes("M G N C", (0, 2, 3, 4), (3, 0, 3, 4), (1, 1, 1, 4), (5, 3, 7, 4), (17, 2, 9, 4)),
        segments=(segment("M N"),),
    ),
    Case(
        name="scaled_e4m3",
        kernel=k.scaled_e4m3,
        parameters=(
            view("a", "u8", "M G 4", two_broken),
            view("a_scale", "u8", "M G", integers(125, 127)),
            view("b", "u8", "G 4 N", below_two),
            view("b_scale", "u8", "N G", integers(125, 127)),
            out("c", "f16", "M N"),
        ),
        oracle=_scaled(_e4m3, _e4m3),
        tolerance=Tolerance(
            rtol=2e-3,
            atol=0.02,
            reason="sums of 12 products below 3.6, mostly of size 1, that may each be rounded to f16",
        ),
        extents=_EXTENTS,
        segments=(segment("M N"),),
    ),
    Case(
        name="sparse_two_of_four",
        kernel=k.sparse_two_of_four,
        parameters=(
            view("a", "f32", "M S", normal()),
            view("first", "i64", "M Q", _positions(0)),
            view("second", "i64", "M Q", _positions(1)),
            view("b", "f32", "K N", normal()),
            out("c", "f32", "M N"),
        ),
        oracle=_two_of_four,
        tolerance=accumulated(18, scale=2),
        extents=sizes(
            "M S Q K N",
            (0, 4, 2, 8, 3),
            (3, 0, 0, 0, 2),
            (1, 2, 1, 4, 1),
            (5, 6, 3, 12, 7),
            (7, 18, 9, 36, 5),
        ),
        variants=_LAYOUTS,
        segments=(segment("M N"),),
    ),
    Case(
        name="sparse_one_of_two",
        kernel=k.sparse_one_of_two,
        parameters=(
            view("a", "i8", "B M S", integers(-128, 127)),
            view("place", "i32", "B M S", integers(0, 1)),
            view("b", "i8", "B N K", integers(-128, 127)),
            out("c", "i32", "B M N"),
        ),
        oracle=_one_of_two,
        extents=sizes(
            "B M S K N", (0, 2, 1, 2, 3), (2, 0, 1, 2, 3), (1, 1, 1, 2, 1), (2, 3, 5, 10, 4), (3, 5, 9, 18, 2)
        ),
        segments=(segment("B M N"),),
    ),
    Case(
        name="sparse_batches",
        kernel=k.sparse_batches,
        parameters=(
            view("a", "f32", "B S M", normal()),
            view("place", "i32", "B S M", integers(0, 1)),
            view("b", "f32", "N K B", _spoiled),
            out("c", "f32", "B M N"),
        ),
        oracle=_batches,
        tolerance=accumulated(9, scale=2),
        extents=sizes(
            "B S M K N", (0, 2, 1, 4, 3), (2, 0, 1, 0, 3), (1, 1, 1, 2, 1), (2, 3, 5, 6, 4), (3, 2, 7, 4, 2)
        ),
        segments=(segment("B M N"),),
    ),
)
