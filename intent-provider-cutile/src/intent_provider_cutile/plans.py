"""Tile shapes and settings for cuTile's compiler (tileiras 13.4), measured on one H200.

Products of bf16, 4096^3 and 8192^3: 128 x 256 tiles taken in turn with four steps in flight 742 and 696 TFLOP/s, with
three 724 and 668, 128 x 128 tiles twice on a multiprocessor 714 and 686, cuBLAS 753 and 680 in the same minute.
Attention over heads of 128, before its scale met the exponent: pairs of blocks 546 full and 510 causal, eight warps
in one block 490 and 458. Row softmax of bf16: 32 elements a thread at 3.7 to 3.9 TB/s; 12345 f32 in a row held at
once 2.0, walked in blocks of 4096 with eight warps 3.0. Transposes with eight warps: f32 in squares of 64 at 4.0
TB/s, f16 in squares of 128 at 3.9 where 64 gives 3.7.

Running sums of rows of 32768 f32: blocks of 2048 with four instances on a multiprocessor 3.7 TB/s; of 4096 with eight
warps the scan takes 201 registers, and one instance reaches 2.2. Softmax of rows of 131072 bf16 in one pass at
four instances 2.6, in two passes 2.0. Rows of 32 entries of a sparse matrix: eight side by side in 64 registers 14 us,
where sixteen take 27 with the registers they ask for, and one row an instance 317.

The README says why 256-wide tiles need eight warps, why rows keep away from TMA, and why fp8 sums stay exact. What
spills, ``cuobjdump --dump-resource-usage`` shows of a build: too high an occupancy does it without a word.
"""

from __future__ import annotations

from typing import Final

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

_PAIR = settings(num_ctas=2, num_worker_warps=4, occupancy=2, latency=2)
"""Two blocks share the operands that both load, twice on a multiprocessor."""

_SMS: Final = 132
_TURNS = settings(num_worker_warps=8, latency=6, persistent=1)
"""One block a multiprocessor, four steps of its loop in flight: with less latency the compiler makes room for three."""
_NARROW_TURNS = settings(num_worker_warps=4, latency=6, persistent=1)
_EXACT_TURNS = settings(num_worker_warps=8, persistent=1)

PLANS: Final = PlanTable(
    warps="num_worker_warps",
    warp_counts=(4, 8),
    matrix=(
        # Rows that begin anywhere, as tiles of a slice: four warps 171 TFLOP/s, eight 441, by 256 rows 471 to 549.
        MatrixTile(rows=256, bits=16, least=256, counted=True, knobs=settings(num_worker_warps=8)),
        MatrixTile(bits=16, counted=True, knobs=settings(num_worker_warps=8)),
        MatrixTile(columns=256, bits=16, tiles=_SMS, plain=True, at_once=_SMS, knobs=_TURNS),
        # 3072 x 3072 over 4096 in 118.6 us, by tiles 256 wide, of which the third turn is a fifth full, in 135.6.
        MatrixTile(bits=16, tiles=_SMS, plain=True, at_once=_SMS, knobs=_NARROW_TURNS),
        MatrixTile(bits=16, tiles=_SMS, counted=False, knobs=settings(occupancy=2)),
        MatrixTile(bits=16),
        # fp8 sums are exact: as many registers again hold what one step adds. 1131 TFLOP/s in turn, 1043 otherwise.
        MatrixTile(summed=128, tiles=_SMS, plain=True, at_once=_SMS, knobs=_EXACT_TURNS),
        MatrixTile(summed=128, knobs=settings(num_worker_warps=8)),
    ),
    chains=(
        # A few heads of one token, keys in pages: 3.36 TB/s, by 64 keys four times a multiprocessor 3.28, by 32 2.08.
        ChainTile(rows=16, most=16, walked=128, knobs=settings(occupancy=2)),
        ChainTile(rows=128, walked=128, head=128, least=64, knobs=_PAIR),
        ChainTile(rows=64, walked=64, least=64, knobs=settings(num_worker_warps=8)),
        ChainTile(rows=64, walked=128),
    ),
    exact=MatrixTile(rows=64, columns=64, summed=16, whole=16, knobs=settings(num_worker_warps=8)),
    large=MatrixTile(columns=64, summed=8, whole=8, tiles=_SMS),
    split=MatrixTile(whole=64, knobs=settings(num_worker_warps=8)),
    rows=(
        Sized(lanes=8192, knobs=()),
        Sized(lanes=32768, knobs=settings(num_worker_warps=8)),
    ),
    ragged=Sized(lanes=256, knobs=settings(occupancy=8)),
    transposed=settings(num_worker_warps=8),
    resident=8192,
    walks=(
        Walk(scanned=True, block=2048, knobs=settings(occupancy=4)),
        Walk(row=65536, block=4096, knobs=settings(num_worker_warps=8), online=False),
        Walk(written=True, block=4096, knobs=settings(num_worker_warps=8, occupancy=4)),
        Walk(block=4096, knobs=settings(num_worker_warps=8)),
    ),
    # Not measured: 108 registers, so that four blocks are on a multiprocessor; blocks of 2048 with 8 warps take 203.
    counting=Walk(block=4096, knobs=settings(num_worker_warps=4)),
    # A value a thread, all instances at once: 2^27 values of 256 bins in 430 us, three on a multiprocessor 436 to 499.
    planes=Walk(block=128, knobs=settings(num_worker_warps=4, occupancy=4)),
    short_rows=4096,
    narrow_square=128,
    # tileiras 13.4 dies of a signal where two loops with sums across lanes stand before an atomic that releases.
    shared_peel=False,
    pages=8,
    states=256,
    state_knobs=settings(num_worker_warps=4, occupancy=2),
)  # fmt: skip
