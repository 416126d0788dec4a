"""Targets that plans are written down for, and the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from intent.construct import Analysis
from intent.provider import Capabilities, ChainTile, MatrixTile, PlanTable, Sized, Walk, settings
from intent.types.extent import Scalar, Symbol

FLOATS: Final = frozenset({"f16", "bf16", "f32", "f64"})
NATIVE: Final = Capabilities(
    dtypes=FLOATS,
    dot_dtypes=frozenset({("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f32", "f32")}),
    histogram=256,
    atomics=frozenset({("add", "f32"), ("add", "i32"), ("compare_exchange", "f32")}),
    plans=PlanTable(
        warps="warps",
        warp_counts=(1, 2, 4, 8, 16),
        matrix=(
            MatrixTile(columns=256, least=256, tiles=64, bits=16, knobs=settings(warps=8)),
            MatrixTile(rows=64, columns=256, counted=True, least=64, knobs=settings(warps=4, stages=2)),
            MatrixTile(bits=16, knobs=settings(warps=4, stages=3)),
            MatrixTile(rows=64, summed=128, whole=128, knobs=settings(warps=4)),
        ),
        chains=(
            ChainTile(rows=16, walked=32, most=16, knobs=settings(warps=4, stages=4)),
            ChainTile(rows=64, walked=128, masked=True, head=128, knobs=settings(warps=4, stages=2)),
            ChainTile(masked=False, head=128, knobs=settings(warps=8, stages=2)),
            ChainTile(knobs=settings(warps=8)),
        ),
        exact=MatrixTile(rows=64, columns=32, summed=32, whole=32, knobs=settings(warps=2)),
        large=MatrixTile(
            rows=128, columns=64, summed=16, whole=16, tiles=512, least=64, knobs=settings(warps=8)
        ),
        rows=(
            Sized(lanes=1024, knobs=settings(warps=1)),
            Sized(lanes=4096, knobs=settings(warps=4)),
            Sized(lanes=16384, knobs=settings(warps=16)),
        ),
        ragged=Sized(lanes=64, knobs=settings(warps=2)),
        columns=settings(warps=4, stages=1),
        pointwise=settings(warps=8, stages=1),
        transposed=settings(warps=4, stages=5),
        resident=16384,
        masked=8192,
        walks=(
            Walk(row=16384, block=2048, knobs=settings(warps=8), online=False),
            Walk(written=False, block=8192, knobs=settings(warps=8, stages=2)),
            Walk(scanned=True, block=512),
            Walk(block=4096, knobs=settings(warps=16)),
        ),
        counting=Walk(block=2048, knobs=settings(warps=2, stages=1)),
        narrow_square=32,
        short_rows=1024,
    ),
)
PLAIN: Final = Capabilities(dtypes=FLOATS)
TARGETS: Final = {"native": NATIVE, "plain": PLAIN}
IN_PARTS: Final = replace(
    NATIVE,
    plans=replace(NATIVE.plans, split=MatrixTile(summed=32, whole=64, knobs=settings(warps=8))).splitting(),
)
PAGED: Final = Capabilities(
    dtypes=FLOATS,
    dot_dtypes=frozenset({("bf16", "f32"), ("f16", "f32"), ("f32", "f32"), ("f64", "f64")}),
    power_of_two=True,
    plans=PlanTable(
        warps="warps",
        warp_counts=(2, 4, 8),
        matrix=(
            MatrixTile(rows=256, columns=256, summed=32, least=2048, knobs=settings(warps=8)),
            MatrixTile(rows=128, columns=256, summed=128, plain=True, knobs=settings(warps=8, stages=2)),
            MatrixTile(rows=32, columns=256, summed=256, whole=256, tiles=16, knobs=settings(warps=4)),
            MatrixTile(rows=64, columns=64, summed=32, whole=32, knobs=settings(warps=2)),
        ),
        chains=(
            ChainTile(rows=32, walked=16, head=64, knobs=settings(warps=2)),
            ChainTile(rows=64, walked=32),
        ),
        exact=MatrixTile(rows=32, columns=128, summed=16, whole=64, knobs=settings(warps=4)),
        resident=2048,
        walks=(Walk(block=1024),),
        sharing=256,
        counting_parts=64,
        shared_peel=False,
        pages=16,
        states=64,
        state_slice=8,
        pointwise_bytes=1024,
        square=32,
    ),
)
"""Another table: other tiles first, operations on f64, products of f32 as multiply-adds, pages that are known."""


def sizes(analysis: Analysis) -> Iterator[Mapping[str, int] | None]:
    """No call; and calls of few, of odd and of many members, each extent another."""
    extents = [e for v in analysis.kernel.views for e in v.shape] + [
        a.extent for a in analysis.inner.values()
    ]
    names = sorted({a.name for e in extents for a in e.atoms() if isinstance(a, Symbol | Scalar)})
    yield None
    yield dict.fromkeys(names, 16)
    yield {name: 1000 + 7 * k for k, name in enumerate(names)}
    yield {name: 4096 << (2 * k % 6) for k, name in enumerate(names)}
