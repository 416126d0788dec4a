"""Tile shapes and settings for cuTile's compiler."""

from __future__ import annotations

from typing import Final

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

_PAIR = settings(num_ctas=2, num_worker_warps=4, occupancy=2, latency=2)
"""Two blocks share the operands that both load, twice on a multiprocessor."""

PLANS: Final = PlanTable(
    warps="num_worker_warps",
    warp_counts=(4, 8),
    matrix=(
        MatrixTile(bits=16, tiles=132, knobs=settings(occupancy=2)),
        MatrixTile(bits=16),
        # fp8 sums are exact: as many registers again hold what one step adds.
        MatrixTile(summed=128, knobs=settings(num_worker_warps=8)),
    ),
    chains=(
        ChainTile(rows=128, walked=128, head=128, least=64, knobs=_PAIR),
        ChainTile(rows=64, walked=64, least=64, knobs=settings(num_worker_warps=8)),
        ChainTile(rows=64, walked=128),
    ),
    exact=MatrixTile(rows=64, columns=64, summed=16, whole=16, knobs=settings(num_worker_warps=8)),
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
