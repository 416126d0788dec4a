"""Loops as construction seldom makes them: steps that only a launch knows, sizes below zero, odd carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intent.passes import Permissions, building
from intent.passes.narrowing import narrowing, own_lengths, running_sums
from intent.passes.parts import COUNT, LEAST, Parts
from intent.passes.peeling import peeled
from intent.physical import Dim, Fragment, Loop, Program, ScalarParam
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.dtypes import F32, I32, INDEX
from intent.types.extent import const, floordiv, maximum, minimum, scalar, symbol
from intent_testkit.programs.builder import Builder, view

R, L, C = Dim("r", 2), Dim("l", 4), Dim("c", 2)
X, Y, V = view("x", "f32", "N"), view("y", "f32", "1", "out"), view("v", "f32", "2 2")
N, STEP = symbol("N"), scalar("step")


def loops(program: Program) -> list[Loop]:
    return [op for s in program.segments for op in walk(s.body) if isinstance(op, Loop)]


def summed(begin: Any, end: Any, step: Any, test: tuple[str, Any], *, bounded: bool = True) -> Program:
    """The sum of ``x`` where a test of the place holds, and, if it is bounded, the place is one of x."""
    b = Builder(L)

    def body(_: Fragment) -> None:
        lane, size = b.lane(L), b.launch(N)
        fn, limit = test[0], number(b, test[1])

        def add(i: Fragment, total: Fragment) -> Fragment:
            at = b.op("add", i, lane)
            held = b.op(fn, at, limit)
            if bounded:
                inside = b.op("and", b.op("ge", at, b.constant(0)), b.op("lt", at, size))
                held = b.op("and", held, inside)
            return b.op("add", total, b.load(X, at, valid=held))

        bounds = [number(b, k) for k in (begin, end, step)]
        (total,) = b.loop(*bounds, [b.broadcast(b.constant(0.0, F32), L)], add)
        b.store(Y, [b.constant(0)], b.reduce(total, L))

    params = [X, Y, ScalarParam(name="step", dtype=INDEX), ScalarParam(name="w", dtype=INDEX)]
    return b.program("summed", params, b.segment([("one", 1, 1)], body))


def number(b: Builder, value: Extent | int) -> Fragment:
    return b.constant(value) if isinstance(value, int) else b.launch(value)


def below(extent: Extent | int) -> tuple[str, Any]:
    return "lt", extent


def from_on(extent: Extent | int) -> tuple[str, Any]:
    return "ge", extent


W = scalar("w")
PROGRAMS = {
    "to the end": summed(0, N, 4, below(N)),
    "to three before the end": summed(0, N - 3, 4, below(N - 3), bounded=False),
    "to half of nine less": summed(0, N, 4, below(floordiv(N - 9, const(2))), bounded=False),
    "to the end, less what it has more than 8": summed(0, N, 4, below(minimum(N, const(8))), bounded=False),
    "to a number": summed(0, W, 4, below(W)),
    "to the larger of two": summed(0, maximum(N - 5, W), 4, below(maximum(N - 5, W))),
    "to twice a number less": summed(0, N * 2 - 9, 4, below(N * 2 - 9)),
    "from a number on": summed(0, N, 4, from_on(W)),
    "from 3 on, from a number on": summed(3, N, 4, from_on(W)),
    "from 3 on, to a number": summed(3, N, 4, below(W)),
    "in steps of a number": summed(0, N, STEP, from_on(W)),
    "from 3 on, in steps of a number": summed(3, N, STEP, from_on(W)),
    "in steps of a number, to a number": summed(0, N, STEP, below(W)),
    "one by one": summed(0, N, 1, from_on(W)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [1, 8, 11])
@pytest.mark.parametrize("w", [-9, 3, 40])
def test_short_and_split_loops_stay_right(name, size, w, run, rng):
    program = PROGRAMS[name]
    verify(program)
    short = narrowing(program, Permissions())
    parts = peeled(short, wide=1)
    given = {
        "x": rng.integers(-4, 5, size).astype(np.float32),
        "y": np.zeros(1, np.float32),
        "step": 4,
        "w": w,
    }
    wanted = run(program, given)["y"]
    for made in (short, parts):
        verify(made)
        np.testing.assert_array_equal(run(made, given)["y"], wanted, err_msg=f"{program}\n{made}")


def test_loops_in_steps_that_a_launch_gives_begin_where_they_did():
    for name, moved in (("in steps of a number", False), ("from a number on", True), ("one by one", True)):
        (before,), (after,) = loops(PROGRAMS[name]), loops(narrowing(PROGRAMS[name], Permissions()))
        assert (after.begin != before.begin) is moved


@pytest.mark.parametrize(
    ("begin", "end", "step", "most", "split"),
    [
        (0, 3, 4, 3, False), (0, 4, 4, 4, True), (0, 10, 4, 10, True), (4, 10, 4, 10, True), (8, 10, 4, 10, False),
        (12, 14, 4, 10, False), (W, 10, 4, 10, True), (0, 10, 1, 10, False), (0, 10, STEP, 10, False),
    ],
)  # fmt: skip
def test_which_loops_have_full_blocks(begin, end, step, most, split):
    program = summed(begin, end, step, below(most), bounded=False)
    made = peeled(program, wide=1)
    assert (made is not program) is split
    assert len(loops(made)) == 1 + split


Update = Callable[[Builder, Fragment], Fragment]


def carried(init: Any, update: Update) -> Program:
    """A loop with one carry of rows and columns."""
    b = Builder(R, C)

    def body(_: Fragment) -> None:
        start = b.constant(*init) if init is not None else b.load(V, b.constant(0), b.constant(0))
        square = b.broadcast(start, R, C)
        bounds = [b.constant(k) for k in (0, 8, 4)]
        b.loop(*bounds, [square], lambda _, carry: update(b, carry))

    return b.program("carried", [V], b.segment([("one", 1, 1)], body))


def read(b: Builder) -> Fragment:
    return b.load(V, b.lane(R), b.lane(C))


ADDED: Update = lambda b, carry: b.op("add", carry, read(b))  # noqa: E731


@pytest.mark.parametrize(
    ("init", "update", "wanted"),
    [
        ((0.0, F32), ADDED, True),
        ((0.0, F32), lambda b, carry: b.op("add", read(b), carry), True),
        ((0.0, F32), lambda b, carry: b.contract(read(b), read(b), dtype=F32, accumulator=carry), True),
        ((-0.0, F32), ADDED, False),
        ((1.0, F32), ADDED, False),
        ((0, I32), lambda b, carry: b.op("add", carry, b.cast(read(b), I32)), False),
        (None, ADDED, False),
        ((0.0, F32), lambda b, carry: b.op("sub", carry, read(b)), False),
        ((0.0, F32), lambda b, carry: b.op("add", read(b), b.op("neg", carry)), False),
        ((0.0, F32), lambda b, carry: b.contract(carry, read(b), dtype=F32), False),
        ((0.0, F32), lambda b, carry: read(b), False),
    ],
)
def test_carries_that_are_never_minus_zero(init, update, wanted):
    program = carried(init, update)
    (loop,) = loops(program)
    assert running_sums(building.Builder(program), loop) == (
        frozenset({loop.body.args[1].id}) if wanted else frozenset()
    )


LENGTHS, OTHER = view("lengths", "i32", "4"), view("other", "i32", "4")


@pytest.mark.parametrize(
    ("kind", "fn", "bound", "wanted"),
    [
        ("max", "lt", "own", True), ("max", "lt", "chosen", True), ("max", "lt", "inside", True),
        ("min", "lt", "own", False), ("max", "le", "own", False), ("max", "lt", "other", False),
        ("", "lt", "own", False), ("max", "lt", "added", False), ("max", "", "own", False),
    ],
)  # fmt: skip
def test_which_tests_tell_the_lengths_of_lanes(kind, fn, bound, wanted):
    """A loop ends with the longest of its lanes; the test asks whether a lane still has a member."""
    b = Builder(L)
    found = []

    def body(_: Fragment) -> None:
        own, other = (b.cast(b.load(v, b.lane(L)), INDEX) for v in (LENGTHS, OTHER))
        inside = b.op("lt", b.lane(L), b.constant(3))
        chosen, added = b.op("select", inside, own, b.constant(0)), b.op("add", own, other)
        given = {"own": own, "chosen": chosen, "other": other, "inside": own, "added": own}[bound]
        whole = {"chosen": chosen, "inside": chosen, "added": added}.get(bound, own)
        end = b.reduce(whole, L, kind=kind) if kind else b.constant(9)

        def step(i: Fragment) -> None:
            found.append(b.op(fn, i, given) if fn else b.broadcast(b.op("lt", i, end), L))

        b.loop(b.constant(0), end, b.constant(1), [], step)

    program = b.program("lengths", [LENGTHS, OTHER], b.segment([("one", 1, 1)], body))
    (loop,) = loops(program)
    assert own_lengths(building.Builder(program), loop, found[0]) is wanted


# -- parts -------------------------------------------------------------------------------------------------------------


LONG = view("long", "f32", "16384")


def walked(size: int, what: Callable[[Builder, Dim, Fragment], Any]) -> tuple[Program, Dim]:
    whole = Dim("w", size)
    b = Builder(R, whole)

    def body(_: Fragment) -> None:
        lane, bounds = b.lane(whole), [b.constant(k) for k in (0, 16384, size)]
        spread = b.op("mul", lane, b.constant(2))

        def step(i: Fragment) -> None:
            what(b, whole, b.op("add", i, spread if what is by_another else lane))

        b.loop(*bounds, [], step)

    return b.program("walked", [LONG], b.segment([("one", 1, 1)], body)), whole


def by_another(b: Builder, whole: Dim, at: Fragment) -> Fragment:
    """What is read is known by something else of the lanes than their index."""
    return b.load(LONG, at)


@pytest.mark.parametrize(
    ("size", "what", "wanted"),
    [
        (COUNT * LEAST, lambda b, w, at: b.load(LONG, at), True),
        (COUNT * LEAST, lambda b, w, at: b.reduce(b.broadcast(b.load(LONG, at), R), R), True),
        (COUNT * LEAST - COUNT, lambda b, w, at: b.load(LONG, at), False),
        (COUNT * LEAST + 1, lambda b, w, at: b.load(LONG, at), False),
        (COUNT * LEAST, lambda b, w, at: b.reduce(b.load(LONG, at), w), False),
        (COUNT * LEAST, lambda b, w, at: b.scan(b.load(LONG, at), w), False),
        (COUNT * LEAST, lambda b, w, at: b.op("add", at, b.lane(w)), False),
        (COUNT * LEAST, by_another, False),
    ],
)
def test_which_blocks_have_parts(size, what, wanted):
    program, whole = walked(size, what)
    b = building.Builder(program)
    with b.region():
        parts = Parts.of(b, whole, loops(program))
    assert (parts is not None) is wanted
    if parts is not None:
        assert [parts.part.size, len(parts.places)] == [size // COUNT, COUNT]
