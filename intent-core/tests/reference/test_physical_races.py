"""Races between instances are found whatever the order they run in."""

from __future__ import annotations

import numpy as np
import pytest

from intent import physical
from intent.diagnostics import CompilerFault
from intent.physical import Dim
from intent.reference.physical import execute
from intent.types import extent
from intent.types.dtypes import F32, I32

M = extent.symbol("M")


def run(program, **views):
    execute(program, views, {}, {"M": 6}, find_races=True)


def test_two_writers(assemble):
    b = assemble
    y = b.view("y", F32, ("M",), "out")
    program = b.program(M, lambda i: b.store(y, b.const(1.0, F32), b.pw("floordiv", i, b.const(2))))
    with pytest.raises(CompilerFault, match=r"two lanes store one element of 'y'|race on 'y'"):
        run(program, y=np.zeros(6, np.float32))


@pytest.mark.parametrize("shift", [1, -1])
def test_a_reader_and_a_writer(assemble, shift):
    b = assemble
    x = b.view("x", F32, ("M",), "inout")

    def body(i):
        there = b.pw("mod", b.pw("add", i, b.const(shift)), b.launch(M))
        b.store(x, b.load(x, there), i)

    with pytest.raises(CompilerFault, match=r"race on 'x': write by instance \d after read by"):
        run(b.program(M, body), x=np.zeros(6, np.float32))


def test_overlapping_views_are_one_memory(assemble):
    b = assemble
    x, y = b.view("x", F32, ("M",)), b.view("y", F32, ("M",), "out")
    program = b.program(M, lambda i: b.store(y, b.load(x, i), i))
    data = np.zeros(7, np.float32)
    run(program, x=data[:6], y=data[:6])  # the same elements: each is read and written by one instance
    with pytest.raises(CompilerFault, match="race on 'y'"):
        run(program, x=data[:6], y=data[1:])


def test_lanes_of_one_instance_may_not_store_one_element(assemble):
    b = assemble
    lanes = Dim("n", 4)
    y = b.view("y", I32, ("M",), "out")

    def body(i):
        value = b.op(physical.Cast, (I32, (lanes,)), value=b.lane(lanes))
        b.store(y, value, i, dims=(lanes,))

    with pytest.raises(CompilerFault, match="two lanes store one element of 'y'"):
        run(b.program(M, body), y=np.zeros(6, np.int32))


def test_atomics_meet_but_plain_reads_of_them_race(assemble):
    b = assemble
    y, z = b.view("y", I32, (1,), "inout"), b.view("z", I32, ("M",), "out")

    def count():
        b.op(
            physical.Atomic, target=y, coordinates=(b.const(0),), kind="add", operands=(b.const(1, I32),), dims=(),
            proofs=(physical.STATIC,),
        )  # fmt: skip

    program = b.program(M, lambda _: count())
    counter = np.zeros(1, np.int32)
    run(program, y=counter, z=np.zeros(6, np.int32))
    assert counter[0] == 6

    def body(i):
        count()
        b.store(z, b.load(y, b.const(0)), i)

    with pytest.raises(CompilerFault, match="race on 'y': read by instance"):
        run(b.program(M, body), y=counter, z=np.zeros(6, np.int32))
