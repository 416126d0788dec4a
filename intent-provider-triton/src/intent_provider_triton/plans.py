"""Tile shapes and settings for Triton's compiler, measured on one H200.

Row softmax of bf16 at 4096 columns runs at 3.87 TB/s with 4 warps; at 32768 columns in blocks of 8192 with 16 warps at
3.5, held at once with 32 warps at 3.0; 128 x 256 x 64 matrix tiles reach 757 TFLOP/s where cuBLAS has 793. A masked
chain at 168 registers a thread keeps three instances on a multiprocessor.
"""

from __future__ import annotations

from typing import Final

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

_PLAIN = settings(num_warps=4, num_stages=3)
_LONG_HEAD = settings(num_warps=8, num_stages=2)

_WALKS: Final = (
    Walk(row=16384, block=2048, knobs=settings(num_warps=8), online=False),
    Walk(written=False, block=8192, knobs=settings(num_warps=8)),
    Walk(row=65536, block=8192, knobs=settings(num_warps=16)),
    Walk(block=32768, knobs=settings(num_warps=32)),
)

PLANS: Final = PlanTable(
    warps="num_warps",
    warp_counts=(1, 2, 4, 8, 16, 32),
    matrix=(
        MatrixTile(columns=256, least=256, tiles=64, bits=16, knobs=settings(num_warps=8, num_stages=3)),
        MatrixTile(bits=16, knobs=_PLAIN),
        # Sums of 8-bit products are kept twice, of 128 and of all, and the second ones wait for the first: 961 TFLOP/s
        # with two small instances on a multiprocessor, 846 with one of 128 x 128 and 8 warps.
        MatrixTile(rows=64, summed=128, least=128, knobs=settings(num_warps=4, num_stages=4)),
        MatrixTile(knobs=_PLAIN),
    ),
    chains=(
        # A few heads of one token: what counts is how many reads are under way.
        ChainTile(rows=16, walked=32, most=16, knobs=settings(num_warps=4, num_stages=4)),
        ChainTile(rows=64, masked=True, head=128, knobs=settings(num_warps=4, num_stages=3, maxnreg=168)),
        ChainTile(masked=False, head=128, knobs=settings(num_warps=4, num_stages=2)),
        ChainTile(rows=64, masked=True, knobs=_LONG_HEAD),
        ChainTile(knobs=_LONG_HEAD),
    ),
    exact=MatrixTile(rows=64, columns=64, summed=32, whole=32, knobs=_PLAIN),
    split=MatrixTile(summed=32, whole=64, knobs=settings(num_warps=8, num_stages=3)),
    # 32 elements a thread, from 8192 elements on more threads.
    rows=(
        Sized(lanes=1024, knobs=settings(num_warps=1)),
        Sized(lanes=2048, knobs=settings(num_warps=2)),
        Sized(lanes=4096, knobs=settings(num_warps=4)),
        Sized(lanes=8192, knobs=settings(num_warps=8)),
        Sized(lanes=32768, knobs=settings(num_warps=32)),
    ),
    # Keys in pages: with a length that is known their places are shifts, in 64 bits, and not divisions that floor.
    pages=8,
    ragged=Sized(lanes=128, knobs=settings(num_warps=1)),
    resident=16384,
    # Masks of 16 elements a thread take more registers than there are: f32 rows of 12345 at 2.3 TB/s, walked at 3.0.
    masked=8192,
    # Held at once, 32768 lanes fill the registers of a multiprocessor, and nothing is read while it computes. Walked
    # rows that are read again stay in the second-level cache if few instances share a multiprocessor.
    walks=_WALKS,
    # tl.histogram costs the less the more values it gets: 2^27 in 256 bins at 1179 GB/s, in blocks of 8192 at 1092.
    counting=Walk(block=16384, knobs=settings(num_warps=16)),
    columns=settings(num_warps=4),
    pointwise=settings(num_warps=8),
    transposed=settings(num_warps=8),
)
