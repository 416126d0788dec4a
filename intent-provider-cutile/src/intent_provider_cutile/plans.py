"""Tile shapes and settings for cuTile's compiler."""

from __future__ import annotations

from typing import Final

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

PLANS: Final = PlanTable(
    warps="num_worker_warps",
    warp_counts=(4, 8),
    matrix=(
        MatrixTile(tiles=132, knobs=settings(occupancy=2)),
        MatrixTile(),
    ),
    chains=(
        ChainTile(rows=64, walked=64, head=64, knobs=settings(num_worker_warps=4, occupancy=3)),
        ChainTile(
            rows=128, walked=128, head=128, masked=True,
            knobs=settings(num_ctas=2, num_worker_warps=4, occupancy=2, latency=2),
        ),
        ChainTile(rows=128, walked=128, head=128, knobs=settings(num_worker_warps=8, latency=2)),
        ChainTile(rows=64, walked=64, knobs=settings(num_worker_warps=8)),
    ),
    rows=(
        Sized(lanes=8192, knobs=()),
        Sized(lanes=32768, knobs=settings(num_worker_warps=8)),
    ),
    transposed=settings(num_worker_warps=8),
    resident=8192,
    walks=(Walk(block=4096, knobs=settings(num_worker_warps=8)),),
    short_rows=4096,
    narrow_square=128,
)  # fmt: skip
