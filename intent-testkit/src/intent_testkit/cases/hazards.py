"""Cases of the kinds of fault that broke other kernel languages (docs/cases.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, Sampler, among, coordinates, integers, normal, uniform
from intent_testkit.cases.selection import hard_rows
from intent_testkit.cases.tolerance import EXACT, Tolerance, ulps
from intent_testkit.kernels import hazards as k

NAN, INF = float("nan"), float("inf")
LINE = sizes("N", 0, 1, 2, 33, 130)
PLANE = sizes("M N", (0, 3), (1, 1), (5, 7), (7, 33), (9, 130))
SCATTER = sizes("N K", (0, 3), (1, 1), (33, 5), (130, 7))
# Beside the smallest normal numbers, so that sums, products and quotients are subnormal, zero or special.
TINY = (2.0**-126, -(2.0**-126), 2.0**-149, -(2.0**-149), 1e-40, -1e-41, 2.0**-100, 0.0, -0.0, 0.5, -3.0)
SPECIAL = (INF, -INF, 0.0, -0.0, NAN, 0.0, INF, -(2.0**-149), 1e-45, 2.0**-130, 1.0)
# A view whose elements must keep their places: layouts that do not repeat elements.
PLAIN = ("contiguous", "strided")


def _halves(v: Values) -> dict[str, object]:
    x = v.x
    return {"high": x.max(axis=1), "low": x.min(axis=1), "first": x.argmax(axis=1), "last": x.argmin(axis=1)}


def _padding(v: Values) -> dict[str, object]:
    x = v.x
    return {
        "high": x.max(axis=1),
        "low": (-x).min(axis=1),
        "product": x.prod(axis=1),
        "every": (x < 0).all(axis=1),
        "peak": x.max(axis=1),
        "where": x.argmax(axis=1),
    }


def _nearest(v: Values) -> dict[str, object]:
    return {"y": v.x[np.arange(v.x.shape[0]), np.abs(v.x - 10.0).argmin(axis=1)]}


def _distinct(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Members at least 12 away from ten, no two equally far, so that the nearest is one value."""
    away = 12.0 + rng.permutation(int(np.prod(shape)))
    return (10.0 + np.where(rng.random(away.size) < 0.5, away, -away - 0.5)).reshape(shape)


def _guarded(v: Values) -> dict[str, object]:
    on = v.ok > 0
    y = v.y.copy()
    y[on] = v.x[v.at[on]] + 1.0
    return {"y": y}


def _garbage_or_valid(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Valid coordinates at even places, garbage at odd ones: ``ok`` is drawn to match."""
    wild = np.asarray([2**62, -(2**62), -1, 2**31, 2**40, extents["K"]])[rng.integers(0, 6, shape)]
    return np.where(np.arange(shape[0]) % 2 == 0, rng.integers(0, extents["K"], shape), wild)


def _even(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return np.where(np.arange(shape[0]) % 2 == 0, 1, -1)


def _shifted_rows(v: Values) -> dict[str, object]:
    m, n = v.x.shape
    r = v.rows[:, None]
    c = np.arange(n)[None, :] + r
    inside = (r >= 0) & (r < m) & (c >= 0) & (c < n)
    if not v.x.size:
        return {"y": np.full(inside.shape, -5)}
    return {"y": np.where(inside, v.x[np.where(inside, r, 0), np.where(inside, c, 0)], -5)}


def _beyond(v: Values) -> dict[str, object]:
    n = np.arange(v.raw("y").shape[0], dtype=np.int64)
    return {"y": (v.begin + n) * 3, "z": v.base[:, None] + n[None, :] * 1073741827}


def _floors(v: Values) -> dict[str, object]:
    x = v.x
    scalars = [7 // -3, -7 % 3, 7 // -3, -7 % 3, 7 % -3, -7 // 3, -7 // -3, 7 % -3]
    return {"y": np.array(scalars), "z": np.stack([x // 7, x % -7, x // -7, x % 7], axis=1)}


def _helpers(v: Values) -> dict[str, object]:
    return {
        "s_shift": v.s >> 1, "u_shift": v.u >> 1, "s_half": v.s // 2, "u_half": v.u // 2,
        "s_wide": v.s.astype(np.float64), "u_wide": v.u.astype(np.float64), "s_less": v.s < 2, "u_less": v.u < 2,
    }  # fmt: skip


def _fine(bits: int) -> Sampler:
    """Numbers ``1 + j / 2**bits``, which a format of fewer mantissa bits rounds to one."""
    return lambda rng, shape, _: 1.0 + rng.integers(0, 16, shape) * 2.0**-bits


def _specials(v: Values) -> dict[str, object]:
    a, b = v.raw("x"), v.raw("y")
    p = a * b
    return {
        "total": a + b, "product": p, "quotient": a / b, "root": np.sqrt(np.abs(a)), "higher": np.maximum(a, b),
        "sign": np.where(np.isnan(p), 2, np.signbit(p)),
    }  # fmt: skip


def _added(v: Values) -> dict[str, object]:
    y = v.y.copy()
    np.add.at(y, v.at, v.x)
    return {"y": y}


def _raised(v: Values) -> dict[str, object]:
    y = v.y.copy()
    np.maximum.at(y, v.at, v.x)
    return {"y": y}


def _counted(v: Values) -> dict[str, object]:
    counts = np.bincount(v.x[v.ok], minlength=v.raw("y").shape[0])
    return {"y": counts, "total": np.cumsum(counts)}


def _bins_and_garbage(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Bins at even places, values outside at odd ones."""
    wild = np.asarray([-1, -(2**31), 2**31 - 1, extents["K"]])[rng.integers(0, 4, shape)]
    return np.where(np.arange(shape[0]) % 2 == 0, rng.integers(0, extents["K"], shape), wild)


def _ones(v: Values) -> dict[str, object]:
    x = v.x + v.row
    return {"y": x, "most": x.max(axis=1, initial=-INF), "total": x.sum(axis=0)}


def _overwritten(v: Values) -> dict[str, object]:
    x = v.x
    below = x.copy()
    below[1:] = x[1:] - x.sum(axis=1)[:-1, None] / x.shape[1]
    return {"x": below}


def _counts_of_points(v: Values) -> dict[str, object]:
    points = np.arange(0, v.n, v.step, dtype=object)
    y = v.y.copy()
    np.add.at(y, np.array([int(p) % len(y) for p in points], np.int64), 1)
    return {"y": y}


def _small(name: str, kernel: Any, dtype: str, least: float) -> Case:
    tiny = (least, -least, least / 4, -least / 4, 3 * least, 0.0, -0.0, 1.0, -2.0)
    special = (INF, -INF, 0.0, -0.0, NAN, least, 0.25, 0.5, -least)
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("x", dtype, "N", among(tiny, normal(least * 8))),
            view("y", dtype, "N", among(special, normal(least * 8))),
            out("total", dtype, "N"),
            out("product", dtype, "N"),
        ),
        oracle=lambda v: {"total": v.x + v.y, "product": v.x * v.y},
        extents=LINE,
        segments=(segment("N"),),
    )


def _atomic(
    name: str, kernel: Any, dtype: str, *, oracle: Any = _added, most: int = 3, extents: Any = SCATTER
) -> Case:
    """Whole numbers whose sums are exact in ``dtype`` in any order."""
    return Case(
        name=name,
        kernel=kernel,
        parameters=(
            view("x", dtype, "N", integers(-most, most)),
            view("at", "i32", "N", coordinates("K")),
            inout("y", dtype, "K", integers(-9, 9)),
        ),
        oracle=oracle,
        extents=extents,
        variants=PLAIN,
        segments=(segment("N"),),
    )


VALUES = (
    Case(
        name="extremes_of_halves",
        kernel=k.extremes_of_halves,
        parameters=(
            view("x", "bf16", "M N", hard_rows),
            out("high", "bf16", "M"),
            out("low", "bf16", "M"),
            out("first", "i64", "M"),
            out("last", "i64", "M"),
        ),
        oracle=_halves,
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (16, 33), (6, 130)),
        segments=(segment("M"),),
    ),
    Case(
        name="padding_lanes",
        kernel=k.padding_lanes,
        parameters=(
            view("x", "f32", "M N", lambda rng, shape, _: -(2.0 ** rng.integers(-1, 2, shape))),
            *(out(name, "f32", "M") for name in ("high", "low", "product")),
            out("every", "bool", "M"),
            out("peak", "f32", "M"),
            out("where", "i64", "M"),
        ),
        oracle=_padding,
        tolerance=Tolerance(rtol=0.0, atol=0.0, ulps=0.0, reason="powers of two multiply exactly"),
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="padding_lanes_generic",
        kernel=k.padding_lanes_generic,
        parameters=(view("x", "f32", "M N", _distinct), out("y", "f32", "M")),
        oracle=_nearest,
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="floor_pairs",
        kernel=k.floor_pairs,
        parameters=(
            scalar("p", "i64", 7),
            scalar("n", "i64", -7),
            view("x", "i64", "N", among((0, 1, -1, 6, -6, 7, -7, 8, -8), integers(-(2**60), 2**60))),
            out("y", "i64", "8"),
            out("z", "i64", "N 4"),
        ),
        oracle=_floors,
        extents=LINE,
        segments=(segment("", "1"), segment("N")),
    ),
    Case(
        name="signed_and_unsigned_helper",
        kernel=k.signed_and_unsigned_helper,
        parameters=(
            view("s", "i32", "N", among((-1, -2, -(2**31), 3, 1), integers(-(2**31), 2**31 - 1))),
            view("u", "u32", "N", among((2**32 - 1, 2**31, 3, 1), integers(0, 2**32 - 1))),
            *(
                out(f"{side}_{name}", dtype or {"s": "i32", "u": "u32"}[side], "N")
                for name, dtype in (("shift", ""), ("half", ""), ("wide", "f64"), ("less", "bool"))
                for side in ("s", "u")
            ),
        ),
        oracle=_helpers,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="matmul_beyond_tf32",
        kernel=k.matmul_beyond_tf32,
        # Every partial sum fits 24 bits: exact in f32 in any order, wrong by 2**-12 a term in tf32 or bf16.
        parameters=(
            view("a", "f32", "M K", _fine(12)),
            view("b", "f32", "K N", integers(-3, 3)),
            out("c", "f32", "M N"),
        ),
        oracle=lambda v: {"c": v.a @ v.b},
        extents=sizes("M N K", (2, 3, 0), (1, 1, 1), (5, 7, 3), (17, 16, 15), (33, 18, 65)),
        segments=(segment("M N"),),
    ),
    Case(
        name="small_and_special_f32",
        kernel=k.small_and_special_f32,
        parameters=(
            view("x", "f32", "N", among(TINY, normal(1e-38))),
            view("y", "f32", "N", among(SPECIAL, normal(1e-38))),
            *(out(name, "f32", "N") for name in ("total", "product", "quotient", "root", "higher")),
            out("sign", "u32", "N"),
        ),
        oracle=_specials,
        tolerance=EXACT,
        extents=LINE,
        segments=(segment("N"),),
    ),
    _small("small_and_special_f16", k.small_and_special_f16, "f16", 2.0**-14),
    _small("small_and_special_bf16", k.small_and_special_bf16, "bf16", 2.0**-126),
    Case(
        name="sums_of_bf16",
        kernel=k.sums_of_bf16,
        parameters=(
            view("x", "bf16", "M N", integers(1, 8)),
            out("wide", "f32", "M"),
            out("narrow", "bf16", "N"),
        ),
        oracle=lambda v: {"wide": v.x.sum(axis=1), "narrow": v.x.sum(axis=0)},
        tolerance={"wide": EXACT, "narrow": ulps(0.5, "a whole f32 sum, rounded once to bf16")},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (1025, 3), (3, 1025)),
        segments=(segment("M"), segment("N")),
    ),
)

PLACES = (
    Case(
        name="guarded_garbage",
        kernel=k.guarded_garbage,
        parameters=(
            view("ok", "i32", "N", _even),
            view("at", "i64", "N", _garbage_or_valid),
            view("x", "f32", "K", normal()),
            inout("y", "f32", "N", normal()),
        ),
        oracle=_guarded,
        extents=sizes("N K", (0, 3), (1, 1), (9, 5), (33, 7), (130, 40)),
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("N"),),
    ),
    Case(
        name="guarded_row_offsets",
        kernel=k.guarded_row_offsets,
        parameters=(
            view(
                "rows",
                "i64",
                "R",
                among((0, 1, -1, 2**62, -(2**62), 2**40), lambda r, s, e: r.integers(-3, 9, s)),
            ),
            view("x", "i32", "M N", integers(-99, 99)),
            out("y", "i32", "R N"),
        ),
        oracle=_shifted_rows,
        extents=sizes("R M N", (3, 0, 2), (0, 2, 3), (1, 1, 1), (9, 5, 7), (20, 6, 33)),
        segments=(segment("R N", "N*R"),),
    ),
    Case(
        name="coordinates_beyond_32_bits",
        kernel=k.coordinates_beyond_32_bits,
        parameters=(
            scalar("begin", "i64", 2**31 - 3),
            view("base", "i64", "M", integers(-(2**40), 2**40)),
            out("y", "i64", "N"),
            out("z", "i64", "M N"),
        ),
        oracle=_beyond,
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (2, 7), (3, 33)),
        segments=(segment("N"), segment("M N")),
    ),
    Case(
        name="wide_domain",
        kernel=k.wide_domain,
        parameters=(
            scalar("n", "i64", 2**40 + 1),
            scalar("step", "i64", 2**34),
            inout("y", "i64", "K", integers(-9, 9)),
        ),
        oracle=_counts_of_points,
        extents=sizes("K", 1, 3, 7),
        segments=(segment("max(0,ceildiv($n,$step))", "max(0, ceildiv($n, $step))"),),
    ),
    Case(
        name="histogram_of_valid",
        kernel=k.histogram_of_valid,
        parameters=(
            view("x", "i32", "N", _bins_and_garbage),
            view("ok", "bool", "N", lambda rng, shape, _: np.arange(shape[0]) % 2 == 0),
            out("y", "i32", "K"),
            out("total", "i32", "K"),
        ),
        oracle=_counted,
        extents=sizes("N K", (0, 3), (1, 1), (9, 5), (33, 7), (130, 40)),
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("", "1"),),
    ),
    Case(
        name="size_one_and_empty",
        kernel=k.size_one_and_empty,
        parameters=(
            view("x", "f32", "M N", integers(-99, 99)),
            view("row", "f32", "P N", integers(-99, 99)),
            out("y", "f32", "M N"),
            out("most", "f32", "M"),
            out("total", "f32", "N"),
        ),
        oracle=_ones,
        extents=sizes(
            "M P N", (0, 1, 3), (0, 0, 3), (3, 1, 0), (3, 3, 0), (1, 1, 1), (5, 1, 7), (5, 5, 7), (9, 1, 33)
        ),
        segments=(segment("", "1"),),
    ),
    Case(
        name="overwrite_what_is_needed",
        kernel=k.overwrite_what_is_needed,
        parameters=(inout("x", "f32", "M N", uniform(-2, 2)),),
        oracle=_overwritten,
        tolerance=Tolerance(
            rtol=1e-6, atol=4e-6, reason="a f32 mean of up to 33 terms of size 2 and a difference"
        ),
        extents=sizes("M N", (1, 1), (2, 3), (5, 7), (9, 33)),
        segments=(segment("", "1"),),
    ),
    Case(
        name="alias_group_apart",
        kernel=k.alias_group,
        parameters=(view("x", "i32", "N", integers(-99, 99)), inout("y", "i32", "N", integers(-99, 99))),
        oracle=lambda v: {"y": v.x * 2 + 1},
        extents=LINE,
        segments=(segment("", "1"),),
    ),
)

ATOMICS = (
    _atomic("atomic_sums_f16", k.atomic_sums_f16, "f16"),
    _atomic("atomic_sums_bf16", k.atomic_sums_bf16, "bf16", most=1),
    _atomic("atomic_extremes_f16", k.atomic_extremes_f16, "f16", oracle=_raised, extents=SCATTER[1:]),
    _atomic("scatter_sums_f16", k.scatter_sums_f16, "f16"),
    _atomic("scatter_sums_bf16", k.scatter_sums_bf16, "bf16", most=1),
)

CASES = (*VALUES, *PLACES, *ATOMICS)
