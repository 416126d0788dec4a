"""Tile shapes and settings for the CUDA C++ that this provider writes."""

from __future__ import annotations

from typing import Final

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

_PLAIN = settings(num_warps=4, num_stages=3)
_LONG_HEAD = settings(num_warps=8, num_stages=2)

# What is kept of a row leaves room for three blocks a multiprocessor, or two, or one.
_WALKS: Final = (
    Walk(row=65536, written=False, block=8192, knobs=settings(num_warps=8)),
    Walk(written=False, block=8192, knobs=settings(num_warps=16, kept_kilobytes=96)),
    Walk(row=32768, block=8192, knobs=settings(num_warps=16, kept_kilobytes=64), online=False),
    Walk(row=65536, block=8192, knobs=settings(num_warps=16, kept_kilobytes=96), online=False),
    Walk(block=16384, knobs=settings(num_warps=32, kept_kilobytes=192)),
)

PLANS: Final = PlanTable(
    warps="num_warps",
    warp_counts=(1, 2, 4, 8, 16, 32),
    matrix=(
        # Four stages, so that the products of one pass are under way while the next begins.
        MatrixTile(columns=256, least=256, tiles=64, knobs=settings(num_warps=8, num_stages=4)),
        MatrixTile(knobs=_PLAIN),
    ),
    chains=(
        # A few heads of one token: what counts is how many reads are under way.
        ChainTile(rows=16, walked=32, most=16, knobs=_PLAIN),
        # With a third stage, 128 values a head: the shared memory of a multiprocessor holds one block instead of two.
        ChainTile(rows=64, masked=True, head=128, knobs=settings(num_warps=4, num_stages=2)),
        ChainTile(masked=False, head=128, knobs=settings(num_warps=4, num_stages=2)),
        ChainTile(rows=64, masked=True, knobs=_LONG_HEAD),
        ChainTile(knobs=_LONG_HEAD),
    ),
    exact=MatrixTile(rows=64, columns=64, summed=32, whole=32, knobs=_PLAIN),
    # 8 rows and 8 columns a thread, 128 threads: two blocks a multiprocessor, and tiles for all of them.
    large=MatrixTile(columns=128, rows=64, summed=32, whole=32, least=128, tiles=264, knobs=_PLAIN),
    # Operands are read from shared memory: linear attention took 0.74 ms by 32 (in two stages), 1.01 by 16.
    state_slice=32,
    ragged=Sized(lanes=128, knobs=settings(num_warps=1)),
    # 32 elements a thread, from 8192 elements on more threads.
    rows=(
        Sized(lanes=1024, knobs=settings(num_warps=1)),
        Sized(lanes=2048, knobs=settings(num_warps=2)),
        Sized(lanes=4096, knobs=settings(num_warps=4)),
        Sized(lanes=16384, knobs=settings(num_warps=16)),
        Sized(lanes=32768, knobs=settings(num_warps=32)),
    ),
    resident=16384,
    walks=_WALKS,
    # One block a multiprocessor reads enough at once, and the last one has few bins to add: 2^27 values in 256 bins at
    # 3990 GB/s, in two blocks of 16 warps each at 3903, in four at 3888; torch.histc at 832.
    counting=Walk(block=8192, knobs=settings(num_warps=32)),
    counting_parts=132,
    columns=settings(num_warps=4),
    pointwise=settings(num_warps=8),
    transposed=settings(num_warps=8),
)
