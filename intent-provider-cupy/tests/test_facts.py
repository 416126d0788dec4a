"""How many threads a block has, who reads a value, and which atomic additions may be made together."""

from __future__ import annotations

import pytest

from intent.physical import Atomic, Dim, Segment, View
from intent.types.dtypes import BY_NAME, F32, INDEX
from intent.types.extent import const
from intent.types.span import UNKNOWN
from intent_provider_cupy.emit.facts import added_together, fragments, threads_for, users_of
from intent_testkit.programs import Builder


def block(lanes: int, other: int = 1) -> Segment:
    dims = Dim("n", lanes), Dim("k", other)
    b = Builder(*dims)

    def body(_):
        for dim in dims:
            b.lane(dim)

    return b.segment([("one", const(1), 1)], body)


@pytest.mark.parametrize(
    ("lanes", "warps", "threads"),
    [
        (1, None, 1), (1, 4, 1), (2, None, 32), (64, None, 32), (256, None, 64), (512, None, 128), (1024, None, 256),
        (1 << 15, None, 256), (64, 4, 64), (1024, 4, 128), (1024, 1, 32), (1 << 13, 1, 32), (1 << 14, 1, 64),
        (1 << 16, None, 256), (1 << 17, None, 512), (1 << 20, 1, 1024), (1 << 20, 64, 1024),
    ],
)  # fmt: skip
def test_threads_of_a_block(lanes, warps, threads):
    knobs = {} if warps is None else {"num_warps": warps}
    assert threads_for([block(lanes)], knobs) == threads
    assert threads_for([block(1), block(1, lanes)], knobs) == threads
    assert threads_for([], knobs) == 1


def atomic(kind, order, dtype):
    view = View(name="y", dtype=BY_NAME[dtype], shape=(const(8),), mode="inout")
    return Atomic(
        id=1,
        results=(),
        span=UNKNOWN,
        kind=kind,
        target=view,
        coordinates=(),
        order=order,
        dims=(),
        proofs=(),
    )


@pytest.mark.parametrize(
    ("kind", "order", "dtype", "together"),
    [
        ("add", "relaxed", "f32", True), ("add", "relaxed", "f16", True), ("add", "relaxed", "bf16", True),
        ("add", "relaxed", "f64", False), ("add", "relaxed", "i32", False), ("max", "relaxed", "f32", False),
        ("add", "acq_rel", "f32", False), ("exchange", "relaxed", "f32", False),
    ],
)  # fmt: skip
def test_atomics_that_may_be_made_together(kind, order, dtype, together):
    assert added_together(atomic(kind, order, dtype)) == together


def test_who_reads_a_value():
    """Operations in nested regions read it, too; a region that yields it counts as one reader."""
    n = Dim("n", 4)
    b = Builder(n)
    made = {}

    def body(_):
        made["zero"], made["one"], made["end"] = b.constant(0.0, F32), b.constant(1.0, F32), b.constant(3)
        (made["total"],) = b.loop(
            b.constant(0),
            made["end"],
            b.constant(1),
            [made["zero"]],
            lambda i, t: [b.op("add", t, made["one"])],
        )
        b.op("add", made["total"], made["zero"])

    users = users_of(b.segment([("one", const(1), 1)], body).body)
    assert {name: len(users[value.id]) for name, value in made.items()} == {
        "zero": 2, "one": 1, "end": 1, "total": 1,
    }  # fmt: skip
    yields = [ids for ids in users.values() if -1 in ids]
    assert yields == [{-1}], "the sum in the loop"


def test_lanes_of_effects_and_of_nested_regions_count():
    n, k = Dim("n", 64), Dim("k", 256)
    b = Builder(n, k)
    view = View(name="y", dtype=F32, shape=(const(256),), mode="inout")

    def stores(_):
        b.store(view, [b.constant(0)], b.constant(1.0, F32), dims=(n,))

    def loops(_):
        b.loop(b.constant(0), b.constant(1), b.constant(1), [], lambda _: b.lane(k) and [])

    one, other = (b.segment([("one", const(1), 1)], fill).body for fill in (stores, loops))
    assert max(f.dims[0].size for f in fragments(one) if f.dims) == 64
    assert max(f.dims[0].size for f in fragments(other) if f.dims) == 256
    assert {f.dtype for f in fragments(one)} == {INDEX, F32}
