"""Searching a provider's table of tiles and settings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intent.provider import ChainTile, MatrixTile, PlanTable, Sized, Walk, settings

LARGE = MatrixTile(rows=256, columns=256, least=1024, tiles=256, knobs=settings(gangs=8))
SMALL = MatrixTile(knobs=settings(gangs=4))
TABLE = PlanTable(
    warps="gangs",
    warp_counts=(4, 8),
    matrix=(LARGE, SMALL),
    chains=(
        ChainTile(rows=64, head=64, least=16),
        ChainTile(masked=True, knobs=settings(gangs=4)),
        ChainTile(knobs=settings(gangs=8)),
    ),
    rows=(Sized(lanes=8192, knobs=settings(gangs=4)), Sized(lanes=16384, knobs=settings(gangs=8))),
)


@pytest.mark.parametrize(
    ("rows", "columns", "products", "wanted"),
    [
        (4096, 4096, 1, LARGE),
        (4096, 4095, 1, LARGE),  # the last tile is not full, but there are as many
        (4096, 3840, 1, SMALL),  # too few tiles
        (512, 1 << 20, 1, SMALL),  # too few rows
        (4096, 4096, 2, SMALL),  # two results would not fit where one of the largest does
        (16, 16, 1, SMALL),
    ],
)
def test_a_matrix_tile_is_the_first_that_fits(rows, columns, products, wanted):
    assert TABLE.matrix_tile((1, rows, columns), products=products) == wanted


def test_tiles_of_a_batch_are_counted_together():
    assert TABLE.matrix_tile((15, 1024, 1024)) == SMALL
    assert TABLE.matrix_tile((16, 1024, 1024)) == LARGE


def test_narrow_operands_may_have_a_tile_of_their_own():
    wide, narrow = MatrixTile(bits=16, knobs=settings(gangs=4)), MatrixTile(summed=128)
    table = replace(TABLE, matrix=(wide, narrow))
    assert [table.matrix_tile((1, 4096, 4096), bits) for bits in (16, 8)] == [wide, narrow]


def test_where_no_tile_fits_the_last_one_is_taken():
    assert TABLE.matrix_tile((1, 4096, 4096), products=100) == SMALL


@pytest.mark.parametrize(
    ("head", "rows", "masked", "wanted"),
    [
        (64, 99, True, 0),
        (65, 99, True, 1),
        (64, 99, False, 0),
        (256, 99, False, 2),
        (64, 4, True, 1),
        (64, 4, False, 2),
    ],
)
def test_a_chain_is_chosen_by_head_rows_and_mask(head, rows, masked, wanted):
    assert TABLE.chain_tile(head, rows, masked=masked) == TABLE.chains[wanted]


def test_rows_longer_than_any_step_take_the_last_one():
    assert [TABLE.row_knobs(n) for n in (1, 8192, 8193, 1 << 20)] == [settings(gangs=n) for n in (4, 4, 8, 8)]


@pytest.mark.parametrize(
    ("row", "written", "block", "knobs"),
    [
        (40000, False, 4096, settings(gangs=8, depth=3)),
        (1 << 20, False, 4096, settings(gangs=8, depth=3)),
        (40000, True, 8192, settings(gangs=4)),  # those of a row program of one block
        (65537, True, 32768, ()),
    ],
)
def test_a_walk_is_the_first_for_the_row(row, written, block, knobs):
    walks = (
        Walk(written=False, block=4096, knobs=settings(gangs=8, depth=3)),
        Walk(row=65536, block=8192),
        Walk(block=32768, knobs=()),
    )
    assert replace(TABLE, walks=walks).walk(row, written=written) == replace(
        next(w for w in walks if w.block == block), knobs=knobs
    )


@pytest.mark.parametrize(
    ("row", "held"), [(0, True), (5000, True), (8192, True), (12345, False), (16384, True), (16385, False)]
)
def test_rows_that_fill_their_lanes_may_be_longer_to_be_held(row, held):
    assert replace(TABLE, resident=16384, masked=8192).holds(row) == held
    assert replace(TABLE, resident=16384).holds(row) == (row <= 16384)


def test_warps_grow_to_a_count_that_there_is():
    assert TABLE.with_warps((), 4) == ()
    assert TABLE.with_warps((), 5) == settings(gangs=8)
    assert TABLE.with_warps(settings(gangs=4, depth=2), 64) == settings(depth=2, gangs=8)
    assert TABLE.with_warps(settings(gangs=8), 4) == settings(gangs=8)


def test_a_target_without_warps_gets_no_setting():
    assert PlanTable().with_warps((), 32) == ()
    assert PlanTable().warps_of(settings(gangs=8)) == 1


def test_large_products_of_32_bits_have_a_tile_of_their_own():
    wide = MatrixTile(rows=64, columns=128, tiles=8, least=128)
    table = PlanTable(large=wide)
    assert table.exact_tile((1, 256, 256), 32) is wide
    assert table.exact_tile((4, 128, 128), 32) is wide
    assert table.exact_tile((1, 256, 256), 64) is table.exact
    assert table.exact_tile((1, 256, 256), 32, products=2) is table.exact
    assert table.exact_tile((1, 128, 128), 32) is table.exact, "too few tiles"
    assert table.exact_tile((64, 64, 256), 32) is table.exact, "too narrow"
    assert replace(table, split=MatrixTile()).splitting().large is None
    assert PlanTable().exact_tile((1, 4096, 4096), 32) == PlanTable().exact


def test_a_few_rows_may_have_a_chain_of_their_own():
    few = ChainTile(rows=16, walked=32, most=16)
    table = replace(TABLE, chains=(few, *TABLE.chains))
    assert [table.chain_tile(64, rows, masked=True) for rows in (1, 16, 17)] == [few, few, table.chains[1]]


def test_a_tile_may_be_for_rows_that_data_counts_or_for_the_others():
    plain, masked = MatrixTile(counted=False, rows=256), MatrixTile()
    table = PlanTable(matrix=(plain, masked))
    assert table.matrix_tile((1, 4096, 4096)) == plain
    assert table.matrix_tile((1, 4096, 4096), counted=True) == masked


def test_where_no_tile_is_for_counted_rows_it_is_the_last_one():
    tile = MatrixTile(rows=64, columns=64, counted=False)
    assert PlanTable(matrix=(tile,)).matrix_tile((1, 64, 64), counted=True) == tile


def test_a_tile_may_be_for_whole_tiles_of_arrays_as_they_lie():
    whole, any_product = MatrixTile(columns=256, plain=True), MatrixTile()
    table = PlanTable(matrix=(whole, any_product))
    assert table.matrix_tile((1, 128, 256), plain=64) == whole
    for rows, columns, summed in ((128, 256, 0), (129, 256, 64), (128, 128, 64), (128, 256, 96)):
        assert table.matrix_tile((1, rows, columns), plain=summed) == any_product
    assert table.matrix_tile((1, 256, 256), products=2, plain=64) == any_product, (
        "the largest is the usual one"
    )


def test_of_tiles_taken_in_turn_the_one_that_leaves_the_least_of_the_device_idle():
    wide, narrow, other = MatrixTile(columns=256, at_once=8), MatrixTile(at_once=8), MatrixTile(rows=64)
    table = PlanTable(matrix=(wide, narrow, other))
    assert table.matrix_tile((1, 1024, 256 * 4)) == wide, "all turns are full"
    assert table.matrix_tile((1, 128, 256 * 4)) == narrow, "half of the only turn would be idle"
    assert table.matrix_tile((1, 128, 256 * 10)) == narrow, (
        "the second turn is a quarter full, of three all but half"
    )
    assert table.matrix_tile((10, 128, 256)) == narrow, "a batch's tiles are counted together"
    first = replace(table, matrix=(other, wide, narrow))
    assert first.matrix_tile((1, 128, 256 * 10)) == other, (
        "which comes first decides whether turns are compared"
    )
