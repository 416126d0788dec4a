"""Where products put rows and columns: every thread has work, none twice, and tiles are those that read least."""

from __future__ import annotations

from itertools import product
from math import log2

import pytest

from intent.physical import Contract, Dim, Fragment
from intent.types.dtypes import BY_NAME
from intent.types.span import UNKNOWN
from intent_provider_cupy.emit.layout import LANE_BITS, Table
from intent_provider_cupy.emit.products import (
    _COLUMNS,
    _ROWS,
    GROUP_ROWS,
    _blocked,
    _placed,
    in_groups,
    product_of,
    row_step,
)

SIZES = list(product((16, 32, 64, 128, 256), (8, 16, 32, 128, 256), range(6)))


def placed(m, n, warps, *, apart=False, grouped=True, places=None):
    rows, columns = Dim("m", m), Dim("n", n)
    places = {} if places is None else places
    found = _placed(rows, columns, places, LANE_BITS + warps, {columns} if apart else set(), grouped=grouped)
    return found, places, rows, columns


def used(*bits):
    return [b for some in bits for b in some if b is not None]


def tile(dim, places):
    """Lanes of one warp, which four warps of a group have together."""
    return dim.size >> sum(b is not None and b >= LANE_BITS for b in places[dim])


def read(height, width, grouped):
    """Elements of both operands that a warp reads, or a group for each strip of its rows."""
    return height // GROUP_ROWS * (GROUP_ROWS + width) if grouped else height + width


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_all_warps_have_tiles_of_their_own(apart, grouped):
    for m, n, warps in SIZES:
        found, places, rows, columns = placed(m, n, warps, apart=apart, grouped=grouped)
        assert found
        bits = used(places[rows], places[columns])
        assert len(bits) == len(set(bits))
        assert [2 ** len(places[d]) for d in (rows, columns)] == [m, n]
        assert places[rows][:4] == _ROWS
        assert places[columns][:3] == _COLUMNS
        assert in_groups(places[rows]) == (m >= GROUP_ROWS and warps >= 2)
        assert row_step(Table(index=0, thread_bits=9, places=places), rows) == (
            64 if m >= 64 and warps >= 2 else 16
        )
        room = int(log2(m // 16)) + max(0, int(log2(n // 8)) - 1)
        assert len(bits) == LANE_BITS + min(warps, room)
        assert set(bits) == set(range(len(bits)))


@pytest.mark.parametrize("grouped", [False, True])
def test_tiles_are_those_that_read_least(grouped):
    for m, n, warps in SIZES:
        _, places, rows, columns = placed(m, n, warps, grouped=grouped)
        groups = in_groups(places[rows])
        height, width = tile(rows, places) * (4 if groups else 1), tile(columns, places)
        count, least = m * n // (height * width), GROUP_ROWS if groups else 16
        others = [
            read(m >> a, n >> b, grouped and groups)
            for a, b in product(range(9), range(9))
            if 1 << a + b == count and m >> a >= least and n >> b >= min(n, 16)
        ]
        assert read(height, width, grouped and groups) == min(others)


def test_rows_along_which_something_is_combined_have_a_warp_of_their_own():
    for m, n, warps in SIZES:
        _, places, rows, columns = placed(m, n, warps, apart=True)
        if any(b >= LANE_BITS for b in used(places[columns])):
            assert tile(rows, places) == 16


def test_a_second_product_takes_the_places_of_the_first_and_what_is_left():
    for m, n, warps in SIZES:
        _, places, rows, columns = placed(m, n, warps)
        for again in ((rows, Dim("k", 64)), (Dim("k", 64), columns)):
            before = dict(places)
            assert _placed(*again, before, LANE_BITS + warps, set(), grouped=True)
            assert {d: before[d] for d in places} == places
            bits = used(*(before[d] for d in again))
            assert len(bits) == len(set(bits))
            room = max(0, warps - len(used(places[rows], places[columns])) + LANE_BITS)
            assert len(bits) >= LANE_BITS + min(room, 2)
        assert _placed(rows, columns, places, LANE_BITS + warps, set(), grouped=True)


def test_dims_that_share_threads_are_no_rows_and_columns_of_one_product():
    rows, columns = Dim("m", 32), Dim("n", 32)
    places = {rows: (*_ROWS, 5), columns: (*_COLUMNS, None, 5)}
    assert not _placed(rows, columns, places, 7, set())
    places = {rows: (*_ROWS, 5), columns: (*_COLUMNS, None, 6)}
    assert _placed(rows, columns, places, 7, set())


@pytest.mark.parametrize(
    "bits", [(2, 3, 4, None, 1), (0, 1, 2, 3, 4), (None, 0, 1, 2, 3), (3, 2, 4, None, 5)]
)
def test_dims_with_other_places_are_neither(bits):
    known, other = Dim("m", 32), Dim("n", 32)
    assert not _placed(known, other, {known: bits}, 7, set())
    assert not _placed(other, known, {known: bits}, 7, set())


def test_blocks_of_threads():
    """All threads, as square a block for each as there can be, and four neighbours of each side."""
    for m, n, bits in product((4, 16, 64, 128), (4, 16, 64, 256), (5, 7, 10)):
        places, rows, columns = {}, Dim("m", m), Dim("n", n)
        _blocked(rows, columns, places, bits)
        threads = used(places[columns], places[rows])
        total = int(log2(m * n))
        assert threads == list(range(min(bits, total)))
        assert [2 ** len(places[d]) for d in (rows, columns)] == [m, n]
        high, wide = (sum(b is None for b in places[d]) for d in (rows, columns))
        assert high + wide == max(0, total - bits)
        assert 0 <= wide - high <= 1 or 1 << wide == n or 1 << high == m
        for dim, held in ((rows, high), (columns, wide)):
            low = min(2, held)
            assert places[dim][:low] == (None,) * low
            assert places[dim][low : low + 1] != (None,) or held == len(places[dim])


def test_blocks_leave_dims_where_they_are():
    for known in (Dim("m", 32), Dim("n", 32)):
        places = {known: (0, 1, 2, 3, 4)}
        _blocked(Dim("m", 32), Dim("n", 32), places, 7)
        assert list(places) == [known]


def contract(m, n, k, dtype, out, *, batch=()):
    a = Fragment(id=1, dtype=BY_NAME[dtype], dims=(*batch, *m, *k))
    b = Fragment(id=2, dtype=BY_NAME[dtype], dims=(*batch, *k, *n))
    result = Fragment(id=3, dtype=BY_NAME[out], dims=(*batch, *m, *n))
    return Contract(id=4, results=(result,), span=UNKNOWN, lhs=a, rhs=b, dims=tuple(k), accumulator=None)


def dims(text):
    return tuple(Dim(t[0], int(t[1:])) for t in text.split())


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "out", "bits", "kind", "turned"),
    [
        ("m16", "n8", "k16", "f16", "f32", 5, "tensor", False),
        ("m8", "n16", "k16", "f16", "f32", 5, "tensor", True),
        ("m8", "n8", "k16", "f16", "f32", 5, "tiles", False),
        ("m16", "n4", "k16", "f16", "f32", 5, "tiles", False),
        ("m16", "n8", "k8", "f16", "f32", 5, "tiles", False),
        ("m16", "n8", "k16", "bf16", "bf16", 5, "tensor", False),
        ("m16", "n8", "k16", "f16", "f64", 5, "tiles", False),
        ("m16", "n8", "k16", "f16", "f32", 4, "tiles", False),
        ("m16", "n8", "k16", "f8e4m3fn", "f32", 5, "tensor", False),
        ("m16", "n8", "k32", "i8", "i32", 5, "tensor", False),
        ("m16", "n8", "k16", "i8", "i32", 5, "tiles", False),
        ("m16", "n8", "k32", "u8", "i64", 5, "tiles", False),
        ("m16", "n8", "k32", "i16", "i32", 5, "tiles", False),
        ("m16", "n8", "k16", "f32", "f32", 5, "tiles", False),
        ("m16", "", "k16", "f16", "f32", 5, "products", False),
        ("m16", "n1", "k16", "f16", "f32", 5, "products", False),
        ("", "n16", "k16", "f16", "f32", 5, "products", False),
        ("m16 p2", "n8", "k16", "f16", "f32", 5, "tiles", False),
        ("m16", "n8 p2", "k16", "f16", "f32", 5, "tiles", False),
        ("m16", "n8", "k16 p2", "f16", "f32", 5, "tiles", False),
    ],
)
def test_how_a_product_is_computed(m, n, k, dtype, out, bits, kind, turned):
    op, places = contract(dims(m), dims(n), dims(k), dtype, out), {}
    found = product_of(op, places, bits)
    assert (found.kind, found.rows == op.rhs) == (kind, turned)
    assert {found.rows, found.columns} == {op.lhs, op.rhs}
    if kind == "tensor":
        eight = op.lhs.dtype.bits == 8
        assert found.depth == (32 if eight and not op.lhs.dtype.is_float else 16)
        assert found.fed == (BY_NAME["f16"] if eight and op.lhs.dtype.is_float else op.lhs.dtype)
        assert set(places) == {found.row_dim, found.column_dim}
    one_each = len(dims(m)) == len(dims(n)) == 1
    assert bool(places) == (one_each and kind != "products")
    assert found.simple == (one_each and len(dims(k)) == 1)


def test_products_of_batches_and_products_without_places():
    batch = dims("b4")
    op = contract(dims("m16"), dims("n16"), dims("k16"), "f16", "f32", batch=batch)
    places = {}
    assert product_of(op, places, 7).kind == "tiles"
    assert not places
    assert product_of(contract(batch, (), dims("k16"), "f16", "f32", batch=()), {}, 7).kind == "products"
    plain = contract(dims("m16"), dims("n16"), dims("k16"), "f16", "f32")
    found = product_of(plain, None, 7)
    assert (found.kind, found.rows, found.columns) == ("tiles", plain.lhs, plain.rhs)
    only_batch = contract((), (), dims("k16"), "f16", "f32", batch=dims("b16"))
    assert product_of(only_batch, {}, 7).kind == "products"
