"""Batches whose instances diverge, memory bounds, storage, atomics."""

from __future__ import annotations

import numpy as np
import pytest

from intent import physical
from intent.diagnostics import CompilerFault
from intent.physical import Dim
from intent.reference.physical import execute
from intent.types import extent
from intent.types.dtypes import BOOL, F32, I32, INDEX

M, N = extent.symbol("M"), extent.symbol("N")
ORDERS = [None, 0, 1, 2]


def order(seed):
    return None if seed is None else np.random.default_rng(seed)


@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize("count", [0, 1, 13])
def test_loops_of_different_length(assemble, seed, count):
    """Instance i adds 1 + 2 + ... + i, and loops over nothing when i is zero."""
    b = assemble
    y = b.view("y", I32, ("M",), "out")

    def body(i):
        step = b.region(
            [(INDEX, ()), (I32, ())],
            lambda k, total: b.pw(
                "add", total, b.op(physical.Cast, (I32, ()), value=b.pw("add", k, b.const(1)))
            ),
        )
        total = b.op(
            physical.Loop,
            (I32, ()),
            begin=b.const(0),
            end=i,
            step=b.const(1),
            inits=(b.const(0, I32),),
            body=step,
        )
        b.store(y, total, i)

    out = np.full(count, -1, np.int32)
    execute(b.program(M, body), {"y": out}, {}, {"M": count}, order=order(seed))
    assert out.tolist() == [i * (i + 1) // 2 for i in range(count)]


@pytest.mark.parametrize("seed", ORDERS)
def test_effects_in_diverging_branches_and_loops(assemble, seed):
    """Odd instances write k at [i, k] for k < i; even ones write -1 at [i, 0]. Everything else stays."""
    b = assemble
    y = b.view("y", I32, ("M", "N"), "out")

    def body(i):
        odd = b.pw("eq", b.pw("mod", i, b.const(2)), b.const(1), dtype=BOOL)

        def each(k):
            b.store(y, b.op(physical.Cast, (I32, ()), value=k), i, k)

        def then():
            loop = b.region([(INDEX, ())], each)
            b.op(physical.Loop, begin=b.const(0), end=i, step=b.const(1), body=loop)

        def orelse():
            b.store(y, b.const(-1, I32), i, b.const(0))

        b.op(physical.If, condition=odd, then=b.region([], then), orelse=b.region([], orelse))

    out = np.full((8, 8), 9, np.int32)
    execute(b.program(M, body), {"y": out}, {}, {"M": 8, "N": 8}, order=order(seed))
    expected = np.full((8, 8), 9)
    for i in range(8):
        expected[i, : i if i % 2 else 1] = range(i) if i % 2 else -1
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("seed", ORDERS)
def test_while_with_lane_carries(assemble, seed):
    """Double a row until its maximum reaches a bound: another trip count per instance."""
    b = assemble
    lanes = Dim("n", 4)
    x, y = b.view("x", F32, ("M", 4)), b.view("y", F32, ("M", 4), "out")

    def body(i):
        lane = b.lane(lanes)
        row = b.load(x, i, lane)

        def below(v):
            top = b.op(physical.Reduce, (F32, ()), operands=(v,), dims=(lanes,), kind="max")
            return b.pw("lt", top, b.const(100.0, F32), dtype=BOOL)

        types = [(F32, (lanes,))]
        condition = b.region(types, below)
        double = b.region(types, lambda v: b.pw("add", v, v))
        done = b.op(physical.While, *types, inits=(row,), condition=condition, body=double)
        b.store(y, done, i, lane)

    data = np.random.default_rng(3).uniform(0.1, 300, size=(9, 4)).astype(np.float32)
    out = np.zeros_like(data)
    execute(b.program(M, body), {"x": data, "y": out}, {}, {"M": 9}, order=order(seed))
    expected = data.copy()
    while (low := expected.max(axis=1) < 100).any():
        expected[low] *= 2
    assert (out == expected).all()


@pytest.mark.parametrize("seed", ORDERS)
def test_if_yields_per_instance(assemble, seed):
    b = assemble
    y = b.view("y", I32, ("M",), "out")

    def body(i):
        high = b.pw("ge", i, b.const(3), dtype=BOOL)
        cast = b.op(physical.Cast, (I32, ()), value=i)
        then, orelse = b.region([], lambda: cast), b.region([], lambda: b.const(-5, I32))
        b.store(y, b.op(physical.If, (I32, ()), condition=high, then=then, orelse=orelse), i)

    out = np.zeros(6, np.int32)
    execute(b.program(M, body), {"y": out}, {}, {"M": 6}, order=order(seed))
    assert out.tolist() == [-5, -5, -5, 3, 4, 5]


def shifted_load(b, masked):
    x, y = b.view("x", F32, ("M",)), b.view("y", F32, ("M",), "out")

    def body(i):
        before = b.pw("sub", i, b.const(1))
        valid = b.pw("ge", before, b.const(0), dtype=BOOL) if masked else None
        b.store(y, b.load(x, before, valid=valid, fill=b.const(-7.0, F32) if masked else None), i)

    return b.program(M, body)


def test_masked_lanes_do_not_touch_memory(assemble):
    out = np.zeros(4, np.float32)
    execute(
        shifted_load(assemble, masked=True), {"x": np.arange(4, dtype=np.float32), "y": out}, {}, {"M": 4}
    )
    assert out.tolist() == [-7, 0, 1, 2]


def test_an_active_lane_outside_is_a_fault_that_names_the_access(assemble):
    out = np.zeros(4, np.float32)
    with pytest.raises(
        CompilerFault, match=r"load from 'x' at coordinate -1 of axis 0, whose extent is 4 .*guard"
    ):
        execute(shifted_load(assemble, masked=False), {"x": out, "y": out.copy()}, {}, {"M": 4})


def test_a_store_outside_is_a_fault(assemble):
    b = assemble
    y = b.view("y", F32, ("M", 3), "out")
    program = b.program(M, lambda i: b.store(y, b.const(0.0, F32), i, b.pw("add", i, b.const(1))))
    execute(program, {"y": np.ones((2, 3), np.float32)}, {}, {"M": 2})
    with pytest.raises(CompilerFault, match="store to 'y' at coordinate 3 of axis 1"):
        execute(program, {"y": np.ones((5, 3), np.float32)}, {}, {"M": 5})


@pytest.mark.parametrize("name", ["flipped", "transposed", "strided", "offset"])
def test_stores_reach_the_callers_memory_whatever_its_strides(assemble, name):
    b = assemble
    x, y = b.view("x", F32, ("M", "N")), b.view("y", F32, ("M", "N"), "out")
    cols = Dim("n", 8)

    def body(i):
        lane = b.lane(cols)
        valid = b.pw("lt", lane, b.launch(N), dtype=BOOL)
        b.store(y, b.load(x, i, lane, valid=valid), i, lane, valid=valid)

    layouts = {
        "flipped": lambda a: a[::-1, ::-1],
        "transposed": lambda a: np.zeros(a.shape[::-1], a.dtype).T,
        "strided": lambda a: np.zeros((2 * a.shape[0], 3 * a.shape[1]), a.dtype)[::2, ::-3],
        "offset": lambda a: np.zeros((a.shape[0] + 2, a.shape[1] + 3), a.dtype)[1:-1, 2:-1],
    }
    data = np.arange(30, dtype=np.float32).reshape(5, 6)
    out, source = (layouts[name](np.zeros((5, 6), np.float32)) for _ in range(2))
    source[...] = data
    execute(b.program(M, body), {"x": source, "y": out}, {}, {"M": 5, "N": 6})
    assert (out == data).all()


@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize("scope", ["program", "iteration"])
def test_private_buffers_hold_what_their_instance_wrote(assemble, seed, scope):
    """Reverse a row through a private buffer."""
    b = assemble
    lanes = Dim("n", 8)
    x, y = b.view("x", F32, ("M", 8)), b.view("y", F32, ("M", 8), "out")
    buffer = physical.Buffer(id=1, name="row", dtype=F32, shape=(extent.const(8),), scope=scope)

    def body(i):
        lane = b.lane(lanes)
        b.op(physical.BufferAlloc, buffer=buffer)
        b.store(buffer, b.load(x, i, lane), lane)
        b.op(physical.Fence, target=buffer)
        b.store(y, b.load(buffer, b.pw("sub", b.const(7), lane)), i, lane)

    data = np.random.default_rng(0).normal(size=(11, 8)).astype(np.float32)
    out = np.zeros_like(data)
    execute(b.program(M, body), {"x": data, "y": out}, {}, {"M": 11}, order=order(seed))
    assert (out == data[:, ::-1]).all()


def test_unwritten_storage_is_not_zero(assemble):
    b = assemble
    y = b.view("y", F32, ("M",), "out")
    buffer = physical.Buffer(id=1, name="b", dtype=F32, shape=(extent.const(1),))

    def body(i):
        b.op(physical.BufferAlloc, buffer=buffer)
        b.store(y, b.load(buffer, b.const(0)), i)

    out = np.zeros(3, np.float32)
    execute(b.program(M, body), {"y": out}, {}, {"M": 3})
    assert np.isnan(out).all()


@pytest.mark.parametrize("seed", ORDERS)
def test_atomics_run_once_per_lane_and_return_old_values(assemble, seed):
    b = assemble
    lanes = Dim("n", 4)
    y, t = b.view("y", I32, (2,), "inout"), b.view("t", I32, ("M", 4), "out")

    def body(i):
        lane = b.lane(lanes)
        valid = b.pw("ne", lane, b.const(2), dtype=BOOL)
        old = b.op(
            physical.Atomic, (I32, (lanes,)), target=y, coordinates=(b.const(1),), kind="add",
            operands=(b.const(1, I32),), valid=valid, dims=(lanes,), proofs=(physical.STATIC,),
        )  # fmt: skip
        b.store(t, old, i, lane, valid=valid)

    counters, tickets = np.array([3, 5], np.int32), np.full((6, 4), -1, np.int32)
    execute(b.program(M, body), {"y": counters, "t": tickets}, {}, {"M": 6}, order=order(seed))
    assert counters.tolist() == [3, 5 + 18]
    assert sorted(tickets[:, [0, 1, 3]].reshape(-1).tolist()) == list(range(5, 23))
    assert (tickets[:, 2] == -1).all()


def test_compare_exchange(assemble):
    b = assemble
    y, w = b.view("y", I32, (1,), "inout"), b.view("w", BOOL, ("M",), "out")

    def body(i):
        me = b.op(physical.Cast, (I32, ()), value=i)
        _, success = b.op(
            physical.Atomic, (I32, ()), (BOOL, ()), target=y, coordinates=(b.const(0),), kind="compare_exchange",
            operands=(b.const(-1, I32), me), dims=(), proofs=(physical.STATIC,),
        )  # fmt: skip
        b.store(w, success, i)

    lock, won = np.array([-1], np.int32), np.zeros(5, bool)
    execute(b.program(M, body), {"y": lock, "w": won}, {}, {"M": 5}, order=order(4))
    assert won.sum() == 1
    assert won[lock[0]]


def test_arguments_and_launch_values(assemble):
    b = assemble
    y = b.view("y", F32, ("M",), "out")

    def body(i):
        scale = b.op(physical.Argument, (F32, ()), parameter="scale")
        count = b.op(physical.Cast, (F32, ()), value=b.launch(M * 2 + 1))
        b.store(y, b.pw("mul", scale, count), i)

    program = b.program(M, body)
    out = np.zeros(3, np.float32)
    execute(program, {"y": out}, {"scale": 0.5}, {"M": 3})
    assert out.tolist() == [3.5] * 3
