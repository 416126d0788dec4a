"""Every barrier of a text is needed: without it, emulation finds threads that race, whatever order they run in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from intent.passes.expand import expand
from intent.physical import Dim, ScalarParam
from intent.types.dtypes import BOOL, I32, I64, INDEX
from intent.types.extent import const
from intent_provider_cupy.emulate.faults import RacingAccess
from intent_provider_cupy.plugin import plugin
from intent_testkit.programs import Builder, invocation, view, whole

PROVIDER = plugin.intent_provider()
BARRIER = "__syncthreads();"


def values(*shape, dtype=np.float32):
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def in_place(square):
    """Undeclared views may be the very same: what is written meets what other threads have read."""
    return {"a": square, "b": values(16, 16), "c": square}


def running_sum(size=256):
    """Prefixes along a line that several warps hold, and the sum of all in every lane."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y, z = (view(name, "f32", str(size), mode) for name, mode in (("x", "in"), ("y", "out"), ("z", "out")))

    def body(_):
        i = b.lane(lane)
        value = b.load(x, i)
        prefixes = b.scan(value, lane)
        b.store(y, [i], prefixes)
        b.store(z, [i], b.op("sub", prefixes, b.reduce(value, lane)))

    return b.program("running_sum", [x, y, z], b.segment([("one", const(1), 1)], body))


def counted(size=1024):
    """How many positive values ``x`` begins with, and a sum over all warps in each pass, into ``y[0]``."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y = view("x", "i32", str(size)), view("y", "i32", str(size), "out")

    def body(_):
        one, zero = b.constant(1), b.constant(0, I32)
        ones = b.broadcast(b.constant(1, I32), lane)

        def step(n, total):
            return b.op("add", n, one), b.op(
                "add", total, b.reduce(b.op("mul", ones, b.cast(b.lane(lane), I32)), lane)
            )

        n, total = b.while_loop([b.constant(0), zero], lambda n, _: b.op("gt", b.load(x, n), zero), step)
        b.store(y, [b.constant(0)], b.op("add", b.cast(n, I32), total))

    return b.program("counted", [x, y], b.segment([("one", const(1), 1)], body))


def replicated(form, size=8):
    """Eight lanes in 32 threads: ``y`` may be ``x``, whose elements every replica of a lane reads.

    ``form``: the write comes last, first, in a loop, or on one side of a branch.
    """
    lane = Dim("n", size)
    b = Builder(lane)
    x, y, z = (
        view("x", "i32", str(size)),
        view("y", "i32", str(size), "out"),
        view("z", "i64", str(size), "out"),
    )
    flag = ScalarParam(name="flag", dtype=BOOL)

    def body(_):
        i, one = b.lane(lane), b.constant(1, I32)

        def write(*_):
            b.store(y, [i], b.op("add", b.load(x, i), one))

        if form == "loop":
            b.loop(b.constant(0), b.constant(3), b.constant(1), [], write)
        elif form == "branch":
            b.branch(b.argument("flag", BOOL), write, lambda: None)
        else:
            write()
        if form != "last":
            b.store(z, [i], b.cast(b.load(x, i), I64))

    return b.program("replicated", [x, y, z, flag], b.segment([("one", const(1), 1)], body))


def gathered(size=64):
    """Every instance leaves a row, and the last to count itself in sums them all."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y, count = (
        view("x", "i32", f"4 {size}", "inout"),
        view("y", "i32", str(size), "out"),
        view("count", "i32", "1", "inout"),
    )

    def body(pid):
        i, one = b.lane(lane), b.constant(1, I32)
        b.store(x, [pid, i], b.op("add", b.cast(i, I32), b.cast(pid, I32)))
        (old,) = b.atomic(count, [b.constant(0)], one, order="acq_rel")

        def last():
            turned = b.op("sub", b.constant(size - 1), i)
            rows = [b.load(x, b.constant(k), turned) for k in range(4)]
            b.store(y, [i], b.op("add", b.op("add", rows[0], rows[1]), b.op("add", rows[2], rows[3])))

        b.branch(b.op("eq", old, b.constant(3, I32)), last, lambda: None)

    return b.program("gathered", [x, y, count], b.segment([("row", const(4), 1)], body))


def taken(size=8):
    """Eight lanes in 32 threads take what two arrays hold; each old value passes to the other replicas of its lane."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y = view("x", "i32", str(size), "inout"), view("y", "i64", str(size), "inout")

    def body(_):
        i = b.lane(lane)
        (first,) = b.atomic(x, [i], b.cast(i, I32), kind="exchange")
        (second,) = b.atomic(y, [i], b.cast(first, I64), kind="exchange")
        turned = b.op("add", b.cast(second, I32), b.reduce(b.op("add", first, b.cast(second, I32)), lane))
        (third,) = b.atomic(x, [i], turned, kind="add")
        b.store(y, [i], b.cast(third, I64))

    return b.program("taken", [x, y], b.segment([("one", const(1), 1)], body))


def same_twice():
    """``x`` and ``y`` are one array."""
    x = np.arange(8, dtype=np.int32)
    return {"x": x, "y": x, "z": np.zeros(8, np.int64)}


PROGRAMS = {
    **{
        f"in place, {form}": lambda form=form: (replicated(form), same_twice())
        for form in ("last", "first", "loop", "branch")
    },
    "gathered": lambda: (
        gathered(),
        {"x": np.zeros((4, 64), np.int32), "y": np.zeros(64, np.int32), "count": np.zeros(1, np.int32)},
    ),
    "taken": lambda: (taken(), {"x": np.arange(8, dtype=np.int32), "y": np.arange(8)}),
    "softmax": lambda: (whole.softmax(1024), {"x": values(2, 900), "y": values(2, 900)}),
    "matmul f32 in place": lambda: (whole.matmul(16, 16, 8, "f32"), in_place(values(16, 16))),
    "matmul f16": lambda: (
        whole.matmul(32, 32, 32, "f16"),
        {"a": values(20, 70, dtype=np.float16), "b": values(70, 20, dtype=np.float16), "c": values(20, 20)},
    ),
    "workspace": lambda: (whole.workspace(64), {"x": values(2, 50), "y": values(2, 50)}),
    "scan and reduction": lambda: (running_sum(), {name: values(256) for name in "xyz"}),
}


def without(text, number):
    """The text without its barrier of this number."""
    before, after = text.split(BARRIER, number + 1)[: number + 1], text.split(BARRIER, number + 1)[number + 1]
    return BARRIER.join(before) + after


@pytest.mark.parametrize("seed", ["0", "3"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_barrier_can_be_left_out(name, seed, monkeypatch):
    monkeypatch.setenv("INTENT_CUPY_SEED", seed)
    program, arrays = PROGRAMS[name]()
    source = PROVIDER.serialize(expand(program, PROVIDER.capabilities.functions))
    call = invocation(program, arrays, {"flag": True})
    PROVIDER.emulate(source)(call)
    barriers = source.text.count(BARRIER)
    assert barriers
    for number in range(barriers):
        for array in arrays.values():  # the last to arrive is told by a count
            array[...] = 0 if array.dtype == np.int32 else array
        with pytest.raises(RacingAccess):
            PROVIDER.emulate(replace(source, text=without(source.text, number)))(call)


@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
@pytest.mark.parametrize("positive", [0, 1, 3])
def test_what_a_condition_reads_last_comes_before_what_follows_the_loop(positive, seed, monkeypatch):
    monkeypatch.setenv("INTENT_CUPY_SEED", seed)
    x = np.zeros(1024, np.int32)
    x[:positive] = 1
    program = counted()
    source = PROVIDER.serialize(program)
    passes, after = source.text.split("if (!(x_value > 0)) break;")[1].split("\n    }\n", 1)
    assert BARRIER in passes, "what the body reads is over when the loop ends"
    assert BARRIER in after
    PROVIDER.emulate(source)(invocation(program, {"x": x, "y": x}))
    assert x[0] == positive * (1 + sum(range(1024)))


def sums_around(form, size=512):
    """Sums over several warps in a branch, or in a loop whose passes end behind a barrier, and again after it."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y, z = (view(name, "i32", str(size), "inout") for name in "xyz")
    flag, count = ScalarParam(name="flag", dtype=BOOL), ScalarParam(name="count", dtype=INDEX)

    def body(_):
        i = b.lane(lane)
        value = b.load(x, i)

        def step(*_):
            b.store(y, [i], b.op("sub", value, b.reduce(value, lane)))
            turn()

        def turn():
            b.fence(y)
            b.store(z, [i], b.load(y, b.op("sub", b.constant(size - 1), i)))
            b.fence(y)

        if form == "loop":
            b.store(z, [i], b.reduce(b.op("add", value, value), lane), dims=[lane])
            b.loop(b.constant(0), b.argument("count", INDEX), b.constant(1), [], step)
        elif form == "passes":
            b.loop(
                b.constant(0), b.argument("count", INDEX), b.constant(1), [],
                lambda *_: b.store(z, [i], b.reduce(value, lane), dims=[lane]),
            )  # fmt: skip
        elif form == "either":
            b.store(z, [i], b.reduce(b.op("add", value, value), lane), dims=[lane])
            b.store(y, [i], value)
            b.branch(b.argument("flag", BOOL), turn, lambda: b.store(y, [i], b.reduce(value, lane)))
        elif form == "then":
            b.branch(b.argument("flag", BOOL), lambda: b.store(y, [i], b.reduce(value, lane)), lambda: None)
        else:
            b.branch(b.argument("flag", BOOL), lambda: None, lambda: b.store(y, [i], b.reduce(value, lane)))
        b.store(x, [i], b.op("add", value, b.reduce(b.op("mul", value, value), lane)))

    return b.program("sums_around", [x, y, z, flag, count], b.segment([("one", const(1), 1)], body))


@pytest.mark.parametrize("seed", ["0", "3"])
@pytest.mark.parametrize(
    ("form", "flag", "count"),
    [("then", True, 0), ("then", False, 0), ("else", False, 0), ("else", True, 0),
     ("loop", True, 0), ("loop", True, 2), ("passes", True, 3), ("either", False, 0)],
)  # fmt: skip
def test_sums_after_sums_that_there_may_not_have_been(form, flag, count, seed, monkeypatch):
    monkeypatch.setenv("INTENT_CUPY_SEED", seed)
    x = np.arange(512, dtype=np.int32)
    arrays = {"x": x, "y": np.zeros(512, np.int32), "z": np.zeros(512, np.int32)}
    program = sums_around(form)
    PROVIDER.emulate(PROVIDER.serialize(program))(invocation(program, arrays, {"flag": flag, "count": count}))
    wanted = np.arange(512)
    np.testing.assert_array_equal(x, wanted + (wanted**2).sum())
