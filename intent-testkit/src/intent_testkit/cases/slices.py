"""Cases of subregions, shifts and stencils."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import slices as k


def _primes(v: Values) -> dict[str, object]:
    n = np.arange(v.extents["N"])
    composite = (n[:, None] % np.maximum(n, 1) == 0) & (n > 1) & (n[:, None] > n)
    return {"prime": (n > 1) & ~composite.any(axis=1)}


def _tree(v: Values) -> dict[str, object]:
    x, half = v.x, 1
    while 2 * half <= x.shape[1]:
        x[:, 2 * half - 1 :: 2 * half] += x[:, half - 1 :: 2 * half][:, : x.shape[1] // (2 * half)]
        half *= 2
    return {"x": x}


def _windows(v: Values) -> dict[str, object]:
    x = v.x
    for at, (begin, end) in enumerate(zip(v.begin, v.end, strict=True)):
        x[begin:end] = x[begin:end] * 3 + x[at]
    return {"x": x}


FEW = Tolerance(
    rtol=2.0**-22, atol=2.0**-21, reason="up to five f32 roundings of unit-sized values, fused or not"
)


def _halves(v: Values) -> dict[str, object]:
    return {"y": np.concatenate((v.x[:, 5:], v.x[:, :5]), axis=1)}


def _crop(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[:, v.begin : v.end] = v.x[:, v.begin : v.end] * 2
    return {"y": y}


def _window(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[v.begin : v.end] = np.arange(v.begin, v.end) * 3
    return {"y": y}


def _every_other(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[::2] = v.x[::2] * 10
    return {"y": y}


def _blur(v: Values) -> dict[str, object]:
    y = v.y.copy()
    y[1:-1] = 0.25 * v.x[:-2] + 0.5 * v.x[1:-1] + 0.25 * v.x[2:]
    return {"y": y}


def _laplacian(v: Values) -> dict[str, object]:
    y, x = v.y.copy(), v.x
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    return {"y": y}


def _convolve(v: Values) -> dict[str, object]:
    n, taps = v.extents["L"], v.extents["K"]
    return {"y": sum((v.x[i : i + n] * v.taps[i] for i in range(taps)), start=np.zeros(n))}


CASES = (
    Case(
        name="differences",
        kernel=k.differences,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "K")),
        oracle=lambda v: {"y": np.diff(v.x)},
        extents=sizes("N K", (1, 0), (2, 1), (8, 7), (129, 128), (1030, 1029)),
        segments=(segment("K"),),
    ),
    Case(
        name="swap_halves",
        kernel=k.swap_halves,
        parameters=(view("x", "f32", "M 10", normal()), out("y", "f32", "M 10")),
        oracle=_halves,
        extents=sizes("M", 0, 1, 7, 33),
        segments=(segment("M 5", "5*M"),),
    ),
    Case(
        name="crop",
        kernel=k.crop,
        parameters=(
            scalar("begin", "i64", lambda e: e["N"] // 3),
            scalar("end", "i64", lambda e: e["N"] - e["N"] // 4),
            view("x", "i32", "M N", integers(-100, 100)),
            inout("y", "i32", "M N", integers(-100, 100)),
        ),
        oracle=_crop,
        extents=sizes("M N", (0, 4), (3, 0), (1, 1), (5, 13), (9, 131)),
        segments=(segment("M -$begin+$end", "-$begin*M + $end*M"),),
    ),
    Case(
        name="crop_coordinates",
        kernel=k.crop_coordinates,
        parameters=(
            scalar("begin", "i32", lambda e: e["N"] // 3),
            scalar("end", "i32", lambda e: e["N"] - e["N"] // 4),
            inout("y", "i64", "N", integers(-100, 100)),
        ),
        oracle=_window,
        extents=sizes("N", 0, 1, 13, 131, 1030),
        segments=(segment("-$begin+$end", "-$begin + $end"),),
    ),
    Case(
        name="every_other",
        kernel=k.every_other,
        parameters=(view("x", "f32", "N", normal()), inout("y", "f32", "N", normal())),
        oracle=_every_other,
        extents=sizes("N", 0, 1, 2, 7, 64, 257),
        segments=(segment("ceildiv(N,2)", "ceildiv(N, 2)"),),
    ),
    Case(
        name="blur",
        kernel=k.blur,
        parameters=(view("x", "f32", "N", normal()), inout("y", "f32", "N", normal())),
        oracle=_blur,
        tolerance=FEW,
        extents=sizes("N", 2, 3, 8, 65, 257),
        segments=(segment("max(0,N-2)", "max(0, N - 2)"),),
    ),
    Case(
        name="laplacian",
        kernel=k.laplacian,
        parameters=(view("x", "f32", "M N", normal()), inout("y", "f32", "M N", normal())),
        oracle=_laplacian,
        tolerance=Tolerance(rtol=2.0**-22, atol=2.0**-19, reason="f32 sums of five values of size up to 16"),
        extents=sizes("M N", (2, 2), (2, 5), (3, 3), (7, 9), (18, 67)),
        segments=(segment("M-2 N-2", "M*N - 2*M - 2*N + 4"),),
    ),
    Case(
        name="convolve",
        kernel=k.convolve,
        parameters=(
            view("x", "f32", "N", normal()),
            view("taps", "f32", "K", normal()),
            out("y", "f32", "L"),
        ),
        oracle=_convolve,
        tolerance=accumulated(7, scale=3),
        extents=sizes("N K L", (4, 0, 3), (1, 1, 1), (9, 3, 7), (135, 7, 129)),
        segments=(segment("L"),),
    ),
    Case(
        name="sum_window",
        kernel=k.sum_window,
        parameters=(
            scalar("begin", "i64", lambda e: e["N"] // 3),
            scalar("end", "i64", lambda e: e["N"] - e["N"] // 4),
            view("x", "f32", "M N", normal()),
            out("y", "f32", "M"),
        ),
        oracle=lambda v: {"y": v.x[:, v.begin : v.end].sum(axis=1)},
        tolerance=accumulated(131, scale=2),
        extents=sizes("M N", (0, 4), (3, 0), (1, 1), (5, 13), (9, 131)),
        segments=(segment("M"),),
    ),
    Case(
        name="triangle_rows",
        kernel=k.triangle_rows,
        parameters=(view("x", "f32", "N N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": np.tril(v.x).sum(axis=1)},
        tolerance=accumulated(67, scale=2),
        extents=sizes("N", 0, 1, 7, 16, 67),
        segments=(segment("N"),),
    ),
    Case(
        name="reverse",
        kernel=k.reverse,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x[::-1]},
        extents=sizes("N", 0, 1, 2, 63, 64, 1031),
        segments=(segment("N"),),
    ),
    Case(
        name="sieve_by_domains",
        # Strided domains whose bounds and step are a loop variable; only the condition reads what they write.
        kernel=k.sieve_by_domains,
        parameters=(out("prime", "bool", "N"),),
        oracle=_primes,
        extents=sizes("N", 0, 2, 5, 121, 131),
        segments=(segment(""),),
    ),
    Case(
        name="windows_in_place",
        # Domains from device data that are read and written: as many members as the axis has, at most.
        kernel=k.windows_in_place,
        parameters=(
            view("begin", "i32", "K", integers(0, 3)),
            view("end", "i32", "K", integers(3, 7)),
            inout("x", "i64", "N", integers(-50, 50)),
        ),
        oracle=_windows,
        extents=sizes("K N", (0, 7), (1, 7), (5, 67)),
        segments=(segment(""),),
    ),
    Case(
        name="sums_up_a_tree",
        # As many pairs as a quotient by what a loop carries; they move apart from step to step, in place.
        kernel=k.sums_up_a_tree,
        parameters=(inout("x", "i32", "B N", integers(-50, 50)),),
        oracle=_tree,
        extents=sizes("B N", (0, 8), (3, 1), (1, 2), (2, 11), (3, 32)),
        segments=(segment("B"),),
    ),
)
