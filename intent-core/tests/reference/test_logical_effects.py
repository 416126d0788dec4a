"""Colliding effects: scatter-reduction, atomics, histograms; control with carries; parallel order."""

from __future__ import annotations

import numpy as np
import pytest

from intent import kir
from intent.reference.logical import Adversary
from intent.types import extent
from intent.types.dtypes import BF16, BOOL, F16, F32, I32, INDEX, U32


def one_axis(index):
    return kir.Relation(coordinates=(index,), axes=((0,),))


def adversary(seed):
    return None if seed is None else Adversary(np.random.default_rng(seed))


SEEDS = [None, 0, 1, 2]


def scatter(build, kind, dtype, combine=None):
    v, i, y = (
        build.view("v", dtype, ("K",)),
        build.view("i", I32, ("K",)),
        build.view("y", dtype, ("N",), "inout"),
    )
    index = build.op(kir.Cast, (INDEX, i.shape), value=build.load(i))
    build.op(
        kir.ScatterReduce, target=y, relation=one_axis(index), value=build.load(v), kind=kind, combine=combine
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "fn"), [("sum", np.add), ("max", np.maximum), ("min", np.minimum)])
@pytest.mark.parametrize("dtype", [F32, I32, F16, BF16], ids=str)
def test_scatter_reduce(build, seed, kind, fn, dtype):
    rng = np.random.default_rng(0)
    values = rng.integers(-8, 9, size=200).astype(dtype.numpy)  # sums of these are exact in every format
    index = rng.integers(-3, 13, size=200).astype(np.int32)
    target = rng.integers(-8, 9, size=10).astype(dtype.numpy)
    expected = target.astype(np.float64)
    for i, v in zip(index, values.astype(np.float64), strict=True):
        if 0 <= i < 10:
            expected[i] = fn(expected[i], v)
    scatter(build, kind, dtype)
    build.run(values, index, target, adversary=adversary(seed))
    assert target.astype(np.float64).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_scatter_reduce_with_a_combine(build, seed):
    combine = build.region([(I32, ())] * 2, lambda old, new: build.pw("xor", old, new))
    scatter(build, None, I32, combine)
    rng = np.random.default_rng(1)
    values, index = (rng.integers(0, high, size=50).astype(np.int32) for high in (1 << 20, 4))
    target = np.array([1, 2, 3, 4], np.int32)
    expected = target.copy()
    np.bitwise_xor.at(expected, index, values)
    build.run(values, index, target, adversary=adversary(seed))
    assert target.tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_scatter_over_a_slice_of_rows(build, seed):
    """``y[i[k], :] += v[k, :]`` on a transposed target, with the columns a basic slice."""
    v, i = build.view("v", F32, ("K", "C")), build.view("i", I32, ("K",))
    y = build.view("y", F32, ("N", "C"), "inout")
    index = build.op(kir.Cast, (INDEX, i.shape), value=build.load(i))
    relation = kir.Relation(coordinates=(index, build.iota(y.shape[1])), axes=((0,), (1,)))
    build.op(kir.ScatterReduce, target=y, relation=relation, value=build.load(v), kind="sum")
    values, index = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([1, 0, 1, 1], np.int32)
    target = np.zeros((3, 2), np.float32).T
    expected = np.zeros((2, 3))
    np.add.at(expected, index, values)
    build.run(values, index, target, adversary=adversary(seed))
    assert (target == expected).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_scatter_over_basic_slices_only(build, seed):
    v, y = build.view("v", F32, ("N", "M")), build.view("y", F32, ("M", "N"), "inout")
    relation = kir.Relation(coordinates=(build.iota(y.shape[0]), build.iota(y.shape[1])), axes=((1,), (0,)))
    build.op(kir.ScatterReduce, target=y, relation=relation, value=build.load(v), kind="sum")
    values, target = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
    build.run(values, target, adversary=adversary(seed))
    assert (target == 1 + values.T).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_atomic_add_hands_out_every_ticket_once(build, seed):
    y, out = build.view("y", I32, (1,), "inout"), build.view("out", I32, ("K",), "out")
    zeros = build.op(kir.Broadcast, (INDEX, out.shape), value=build.const(0), axes=())
    ones = build.op(kir.Broadcast, (I32, out.shape), value=build.const(1, I32), axes=())
    old = build.op(
        kir.Atomic, (I32, out.shape), target=y, relation=one_axis(zeros), kind="add", operands=(ones,)
    )
    build.store(out, old)
    counter, tickets = np.array([5], np.int32), np.zeros(9, np.int32)
    build.run(counter, tickets, adversary=adversary(seed))
    assert counter[0] == 14
    assert sorted(tickets.tolist()) == list(range(5, 14))
    assert seed != 0 or tickets.tolist() != list(range(5, 14))


@pytest.mark.parametrize(
    ("kind", "operand", "expected"),
    [
        ("load", None, 12), ("store", 10, 10), ("exchange", 10, 10), ("add", 10, 22), ("max", 10, 12),
        ("min", 10, 10), ("and", 10, 8), ("or", 3, 15), ("xor", 10, 6),
    ],
)  # fmt: skip
def test_atomic_kinds(build, kind, operand, expected):
    y, out = build.view("y", U32, (1,), "inout"), build.view("out", U32, (), "out")
    operands = () if operand is None else (build.const(operand, U32),)
    point = kir.Relation(coordinates=(build.const(0),), axes=((),))
    old = build.op(kir.Atomic, (U32, ()), target=y, relation=point, kind=kind, operands=operands)
    build.store(out, old)
    memory, seen = np.array([12], np.uint32), np.zeros((), np.uint32)
    build.run(memory, seen)
    assert memory.tolist() == [expected]
    assert seen == 12


@pytest.mark.parametrize("seed", SEEDS)
def test_compare_exchange_succeeds_once(build, seed):
    y = build.view("y", I32, (1,), "inout")
    won = build.view("won", BOOL, ("K",), "out")
    zeros = build.op(kir.Broadcast, (INDEX, won.shape), value=build.const(0), axes=())
    free = build.op(kir.Broadcast, (I32, won.shape), value=build.const(-1, I32), axes=())
    me = build.op(kir.Cast, (I32, won.shape), value=build.iota(won.shape[0]))
    _, success = build.op(
        kir.Atomic, (I32, won.shape), (BOOL, won.shape), target=y, relation=one_axis(zeros),
        kind="compare_exchange", operands=(free, me),
    )  # fmt: skip
    build.store(won, success)
    lock, winners = np.array([-1], np.int32), np.zeros(7, bool)
    build.run(lock, winners, adversary=adversary(seed))
    assert winners.sum() == 1
    assert winners[lock[0]]


def test_inactive_atomics_do_nothing(build):
    y, m = build.view("y", I32, (3,), "inout"), build.view("m", BOOL, (4,))
    index = build.iota(4)
    ones = build.op(kir.Broadcast, (I32, (4,)), value=build.const(1, I32), axes=())
    build.op(
        kir.Atomic, target=y, relation=one_axis(index), kind="add", operands=(ones,), valid=build.load(m)
    )
    memory = np.zeros(3, np.int32)
    build.run(memory, np.array([1, 0, 1, 1], bool))  # point 3 is out of range as well
    assert memory.tolist() == [1, 0, 1]


def test_histogram(apply_op):
    values = np.array([[0, 4, 4, -1], [5, 2, 100, 4]], np.int32)
    valid = np.array([[1, 1, 0, 1], [1, 1, 1, 1]], bool)

    def make(b, v, m):
        return b.op(kir.Histogram, (I32, (5,)), values=v, valid=m)

    assert apply_op(make, [(I32, (5,))], values, valid).tolist() == [1, 0, 1, 0, 2]


def test_ordered_loop_with_carries(build):
    n, y = build.scalar("n", INDEX), build.view("y", I32, (2,), "out")
    zero, one = build.const(0), build.const(1)
    body = build.region([(INDEX, ()), (I32, ()), (I32, ())], lambda _, a, b: (b, build.pw("add", a, b)))
    a, b = build.op(
        kir.For, (I32, ()), (I32, ()), begin=zero, end=n, step=one, body=body, domain=kir.DomainID(1),
        inits=(build.const(0, I32), build.const(1, I32)),
    )  # fmt: skip
    for k, value in enumerate((a, b)):
        build.store(y, value, kir.Relation(coordinates=(build.const(k),), axes=((),)))
    for count, expected in ((0, [0, 1]), (1, [1, 1]), (10, [55, 89])):
        out = np.zeros(2, np.int32)
        build.run(count, out)
        assert out.tolist() == expected


def test_while_and_if(build):
    """Steps of the Collatz sequence."""
    n, y = build.scalar("n", INDEX), build.view("y", INDEX, (), "out")
    types = [(INDEX, ()), (INDEX, ())]

    def step(v, count):
        two = build.const(2)
        even = build.pw("eq", build.pw("mod", v, two), build.const(0), dtype=BOOL)
        then = build.region([], lambda: build.pw("floordiv", v, two))
        orelse = build.region([], lambda: build.pw("add", build.pw("mul", v, build.const(3)), build.const(1)))
        following = build.op(kir.If, (INDEX, ()), condition=even, then=then, orelse=orelse)
        return following, build.pw("add", count, build.const(1))

    condition = build.region(types, lambda v, _: build.pw("ne", v, build.const(1), dtype=BOOL))
    _, count = build.op(
        kir.While, *types, inits=(n, build.const(0)), condition=condition, body=build.region(types, step)
    )
    build.store(y, count)
    for start, expected in ((1, 0), (6, 8), (27, 111)):
        out = np.zeros((), np.int64)
        build.run(start, out)
        assert out == expected


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parallel_points_run_in_any_order(build, seed):
    """Each point takes a ticket: a legal kernel whose result shows the order."""
    y, counter = build.view("y", I32, ("N",), "out"), build.view("c", I32, (1,), "inout")

    def point(i):
        where = kir.Relation(coordinates=(build.const(0),), axes=((),))
        old = build.op(
            kir.Atomic, (I32, ()), target=counter, relation=where, kind="add", operands=(build.const(1, I32),)
        )
        build.store(y, old, kir.Relation(coordinates=(i,), axes=((),)))

    body = build.region([(INDEX, ())], point)
    end = build.op(kir.ExtentValue, (INDEX, ()), extent=extent.symbol("N"))
    build.op(
        kir.For, begin=build.const(0), end=end, step=build.const(1), body=body, parallel=True,
        domain=kir.DomainID(1),
    )  # fmt: skip
    out, count = np.full(20, -1, np.int32), np.zeros(1, np.int32)
    build.run(out, count, adversary=adversary(seed))
    assert sorted(out.tolist()) == list(range(20))
    assert out.tolist() != list(range(20))
    plain = np.full(20, -1, np.int32)
    build.run(plain, np.zeros(1, np.int32))
    assert plain.tolist() == list(range(20))
