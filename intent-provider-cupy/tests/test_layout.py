"""Tables: where the bits of lane numbers live, and the text of a lane number."""

from __future__ import annotations

import random

import pytest

from intent.physical import Dim
from intent_provider_cupy.emit.layout import Table, TableBuilder, Want, bit_count, moved
from intent_provider_cupy.emit.products import _COLUMNS, _ROWS, _placed

M, N, K = Dim("m", 16), Dim("n", 64), Dim("k", 8)


def lane_of(table: Table, dim: Dim, thread: int, register: int) -> int:
    """The lane that the emitted text names for a thread and a register."""
    parts = [table.thread_part(dim, "thread"), table.register_part(dim, "register")]
    text = " + ".join(p for p in parts if p) or "0"
    return eval(text, {"thread": thread, "register": register})  # noqa: S307 - text of ours


def lanes(table: Table, dim: Dim) -> list[set[int]]:
    return [
        {lane_of(table, dim, thread, register) for register in range(table.registers(dim))}
        for thread in range(1 << table.thread_bits)
    ]


def build(wants, thread_bits=5, **places):
    return TableBuilder(index=0, thread_bits=thread_bits, **places).build(wants)


def test_every_lane_lives_somewhere_and_once_per_replica():
    table = build([Want(dims=(M, N, K), weight=1, first=N, vector=2)])
    everything = set()
    for thread in range(32):
        for m in range(table.registers(M)):
            for n in range(table.registers(N)):
                for k in range(table.registers(K)):
                    everything.add(tuple(lane_of(table, d, thread, r) for d, r in ((M, m), (N, n), (K, k))))
    assert len(everything) == 16 * 64 * 8
    assert table.spare((M, N, K)) == 0


def test_dims_that_occur_together_share_no_thread_bit_and_others_may():
    table = build([Want(dims=(M,), weight=2), Want(dims=(N,), weight=1)], thread_bits=6)
    assert table.mask((M,)) & table.mask((N,))
    table = build([Want(dims=(M, N), weight=2)], thread_bits=6)
    assert not table.mask((M,)) & table.mask((N,))


def test_lanes_with_accesses_of_their_own_lie_side_by_side():
    loaded = Want(dims=(M, N), weight=2, first=N, vector=2)
    assert build([loaded]).bits(N)[:2] == (None, None)
    added = Want(dims=(M, N), weight=1, first=N, apart=True)
    assert build([loaded, added]).bits(N)[:2] == (0, 1)


def test_a_missing_dim_is_replication():
    table = build([Want(dims=(M, N), weight=1, first=N, vector=2)], thread_bits=8)
    spare = table.spare((M,))
    assert spare == table.mask((N,))
    found = lanes(table, M)
    assert all(found[t] == found[t ^ (spare & -spare)] for t in range(256))


def test_vectors_take_the_lowest_bits_but_leave_no_thread_idle():
    table = build([Want(dims=(N,), weight=1, first=N, vector=2)], thread_bits=4)
    assert table.bits(N)[:2] == (None, None)
    table = build([Want(dims=(N,), weight=1, first=N, vector=2)], thread_bits=6)
    assert table.bits(N) == (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize("seed", range(20))
def test_text_of_any_placement_counts_every_lane(seed):
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    bits = [None] * rng.randint(0, 3) + list(range(rng.randint(0, 5)))
    rng.shuffle(bits)
    dim = Dim("d", 1 << len(bits))
    table = Table(index=0, thread_bits=5, places={dim: tuple(bits)})
    found = sorted({lane for held in lanes(table, dim) for lane in held})
    assert found == list(range(dim.size))


PLACES = [
    (None, None, 0, 1, 2),
    (None, 1, 2, None, None),
    (0, 1, 2, 3, 4),
    (None, 2, 3, 4, 5),
    (None, None, None),
]


@pytest.mark.parametrize("bits", PLACES)
def test_runs_of_any_length_count_every_lane(bits):
    """Where lanes may be moved, a thread holds runs of them, or lanes as far apart as can be: all once either way."""
    dim = Dim("d", 1 << len(bits))
    table = Table(index=0, thread_bits=6, places={dim: bits}, runs={dim: "run"})
    for run in {1, table.movable(dim)} if any(b is not None for b in bits) else ():
        text = f"{table.thread_part(dim, 'thread')} + {table.register_part(dim, 'r')}".replace("/", "//")
        registers = range(table.registers(dim))
        held = [
            [eval(text, {"thread": t, "r": r, "run": run}) for r in registers]  # noqa: S307 - text of ours
            for t in range(64)
        ]
        assert sorted({lane for lanes in held for lane in lanes}) == list(range(dim.size))
        if run == table.movable(dim):
            assert held == [
                [lane_of(Table(index=0, thread_bits=6, places={dim: bits}), dim, t, r) for r in registers]
                for t in range(64)
            ]


@pytest.mark.parametrize(
    ("bits", "run"),
    [
        ((None, None, 0, 1, 2), 4), ((None, 2, 3, None), 2), ((0, 1, 2), 1), ((None, 0, 2), 1), ((None, 1, 0), 1),
        ((None, 0, None, 1), 1), ((None, None), 1),
    ],
)  # fmt: skip
def test_lanes_that_may_be_moved(bits, run):
    dim = Dim("d", 1 << len(bits))
    assert Table(index=0, thread_bits=5, places={dim: bits}).movable(dim) == run


def test_dims_of_which_a_thread_holds_several_lanes():
    table = Table(index=0, thread_bits=5, places={M: (0, 1, 2, 3), N: (None, 4, None, None, None, None)})
    assert (table.looped((M, N)), table.registers(M), table.registers(N)) == ((N,), 1, 32)


@pytest.mark.parametrize("bits", [(None, 0, 5, 6), (2, 3, 4, None, 5, 6, None), (1, None), (7, 5)])
@pytest.mark.parametrize("first", [5, 7])
def test_the_part_of_the_warp(bits, first):
    dim = Dim("d", 1 << len(bits))
    table = Table(index=0, thread_bits=8, places={dim: bits})
    for thread in range(256):
        part = eval(table.warp_part(dim, "thread", first), {"thread": thread})  # noqa: S307 - text of ours
        assert part == lane_of(table, dim, thread >> first << first, 0)


def test_moved_bits():
    assert eval(moved("x", 1, 3, 2, 5), {"x": 0b10110}) == 0b11000  # noqa: S307
    assert moved("x", 0, 0, 3, 3) == "x"


def test_sizes_are_powers_of_two():
    with pytest.raises(ValueError, match="48"):
        bit_count(48)


@pytest.mark.parametrize(("m", "n", "warps"), [(128, 256, 3), (16, 8, 2), (64, 64, 2), (128, 16, 5)])
def test_tensor_cores_get_their_places(m, n, warps):
    rows, columns, places = Dim("m", m), Dim("n", n), {}
    assert _placed(rows, columns, places, 5 + warps, frozenset())
    assert places[rows][:4] == _ROWS
    assert places[columns][:3] == _COLUMNS
    used = [b for d in (rows, columns) for b in places[d] if b is not None]
    assert len(used) == len(set(used))


def test_a_dim_keeps_the_places_of_its_first_product():
    rows, columns, other = Dim("m", 64), Dim("n", 64), Dim("d", 32)
    places = {}
    assert _placed(rows, columns, places, 7, frozenset())
    before = places[rows]
    assert _placed(rows, other, places, 7, frozenset())
    assert places[rows] == before
    assert not _placed(columns, other, places, 7, frozenset()), "columns cannot be rows of another product"
