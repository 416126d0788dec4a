"""Accumulations that start from what is added to them, and what keeps others from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.rewriting import map_operations
from intent.passes.starting import starting
from intent.physical import Contract, Dim, Fragment, Loop, Op, Pointwise, Program
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.types.dtypes import F32
from intent_testkit.programs.builder import Builder, view

BLOCKS = {"axis_M": 4, "axis_N": 4, "axis_K": 4}
EXTENTS = ((1, 1, 1), (5, 3, 0), (4, 4, 8), (5, 7, 9))


@intent.kernel
def summed_products(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
    ROUNDS: I.Constexpr[int],
):
    total = I.full((a.shape[0], b.shape[1]), 1.0, I.f32)
    for r in range(ROUNDS):
        total = total + I.matmul(a[...] * I.cast(r + 1, I.f32), b[...])
    y[...] = total


@intent.kernel
def products_used_twice(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
    ROUNDS: I.Constexpr[int],
):
    total = I.full((a.shape[0], b.shape[1]), 1.0, I.f32)
    for r in range(ROUNDS):
        product = I.matmul(a[...] * I.cast(r + 1, I.f32), b[...])
        total = total + product
        total = total + product
    y[...] = total


@intent.kernel
def sums_of_rows(x: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ("M",)], ROUNDS: I.Constexpr[int]):
    """No contraction: to add before the terms are summed rounds otherwise than the author wrote."""
    total = I.full((x.shape[0],), 1.0, I.f32)
    for r in range(ROUNDS):
        total = total + I.reduce.sum(x[...] * I.cast(r + 1, I.f32), axis=1)
    y[...] = total


def _drawn(rng, m, n, k):
    a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))
    return {"a": a, "b": b, "y": np.full((m, n), 7, np.float32)}, a.astype(np.float64) @ b


def _additions(made):
    return [op for op in made.ops(Pointwise) if op.fn == "add" and op.result.dtype.name == "f32"]


@pytest.mark.parametrize("extents", EXTENTS)
@pytest.mark.parametrize("block", [4, 16])
def test_rounds_share_one_accumulator(stages, rng, extents, block):
    given, product = _drawn(rng, *extents)
    blocks = BLOCKS if block == 4 else {"axis_M": 4, "axis_N": 4}  # K in blocks, and at once
    made = stages(summed_products, blocks, given, {"y": 1 + 6 * product}, ROUNDS=3)
    assert made.changed("starting")
    assert not _additions(made)
    assert all(op.accumulator is not None for op in made.ops(Contract))


@pytest.mark.parametrize("extents", EXTENTS)
def test_a_product_with_two_uses_stays_apart(stages, rng, extents):
    given, product = _drawn(rng, *extents)
    made = stages(products_used_twice, BLOCKS, given, {"y": 1 + 12 * product}, ROUNDS=3)
    assert not made.changed("starting")
    assert len(_additions(made)) >= 2


def test_a_sum_that_is_no_contraction_stays_apart(stages, rng):
    x = rng.integers(-4, 5, (5, 9)).astype(np.float32)
    given = {"x": x, "y": np.full(5, 7, np.float32)}
    made = stages(sums_of_rows, BLOCKS, given, {"y": 1 + 6 * x.sum(1)}, ROUNDS=3)
    assert not made.changed("starting")


@intent.kernel
def started_already(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    start = c[...]
    y[...] = (start + I.matmul(a[...], b[...])) + start


@intent.kernel
def doubled_between(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    start = c[...]
    total = I.zeros((a.shape[0], b.shape[1]), I.f32)
    for _ in range(3):
        total = total * 2.0 + I.matmul(a[...], b[...])
    y[...] = start + total


@intent.kernel
def powers(a: I.In[I.f32, ("M", "M")], c: I.In[I.f32, ("M", "M")], y: I.Out[I.f32, ("M", "M")]):
    start = c[...]
    total = I.zeros((a.shape[0], a.shape[0]), I.f32)
    for _ in range(3):
        total = I.matmul(a[...], total)
    y[...] = start + total


@pytest.mark.parametrize("blocks", [BLOCKS, {"axis_M": 4, "axis_N": 4}], ids=["K in blocks", "K at once"])
def test_what_starts_from_something_keeps_it(stages, rng, blocks):
    given, product = _drawn(rng, 5, 7, 9)
    given["c"] = rng.integers(-4, 5, (5, 7)).astype(np.float32)
    stages(started_already, blocks, given, {"y": product + 2 * given["c"]})
    stages(doubled_between, blocks, given, {"y": 7 * product + given["c"]})


def test_a_carry_that_is_multiplied_is_no_accumulator(stages, rng):
    a, c = (rng.integers(-4, 5, (5, 5)).astype(np.float32) for _ in range(2))
    stages(powers, {}, {"a": a, "c": c, "y": np.zeros((5, 5), np.float32)}, {"y": c})


R, C, K = Dim("r", 2), Dim("c", 2), Dim("k", 4)
A, V, S, Y = (
    view("a", "f32", "2 8"),
    view("v", "f32", "8 2"),
    view("s", "f32", "2 2"),
    view("y", "f32", "2 2", "out"),
)


class Products(Builder):
    """A builder of sums of products over two blocks, added to something."""

    def __init__(self) -> None:
        super().__init__(R, C, K)

    def op(self, fn: str, *operands: Any, **flags: Any) -> Fragment:
        """The function; numbers are f32."""
        given = [self.constant(f, F32) if isinstance(f, float) else f for f in operands]
        return super().op(fn, *given, **flags)

    def start(self) -> Fragment:
        return self.load(S, self.lane(R), self.lane(C))

    def zero(self) -> Fragment:
        return self.broadcast(self.constant(0.0, F32), R, C)

    def product(self, i: Fragment, accumulator: Fragment | None = None) -> Fragment:
        k = self.op("add", i, self.lane(K))
        lhs, rhs = self.load(A, self.lane(R), k), self.load(V, k, self.lane(C))
        return self.contract(lhs, rhs, K, dtype=F32, accumulator=accumulator)

    def walk(self, init: Fragment, step: Callable[..., Fragment]) -> Fragment:
        return self.loop(*map(self.constant, (0, 8, 4)), [init], step)[0]

    def accumulated(self, init: Fragment | None = None) -> Fragment:
        return self.walk(self.zero() if init is None else init, self.product)

    def twice(self, step: Callable[[Fragment], Fragment]) -> Fragment:
        return self.walk(self.zero(), lambda _, carry: step(carry))


def program_of(
    make: Callable[[Products, Fragment], Fragment], *, late: bool = False, fn: str = "add"
) -> Program:
    """What ``make`` gives and something that is read before it, or behind it, are added."""
    b = Products()

    def body(_: Fragment) -> None:
        early = b.start()
        made = make(b, early)
        total = b.op(fn, made, b.op("abs", early)) if late else b.op(fn, early, made)
        b.store(Y, [b.lane(R), b.lane(C)], total)

    return b.program("products", [A, V, S, Y], b.segment([("one", 1, 1)], body))


def folded(program: Program, depth: int) -> Program:
    """The program with its outer or its inner loop as one of a fold."""
    loops = [op for segment in program.segments for op in walk(segment.body) if isinstance(op, Loop)]
    fold = loops[depth]

    def change(op: Op) -> Op:
        return replace(op, summary=op.body.yields) if isinstance(op, Loop) and op.id == fold.id else op

    return map_operations(program, change)


STARTED = {
    "in a walk": program_of(lambda b, _: b.accumulated()),
    "in a walk of walks": program_of(lambda b, _: b.twice(b.accumulated)),
    "at once": program_of(lambda b, _: b.product(b.constant(0))),
    "at once, and late": program_of(lambda b, _: b.product(b.constant(0)), late=True),
}
KEPT = {
    "late": program_of(lambda b, _: b.accumulated(), late=True),
    "from something on": program_of(lambda b, s: b.accumulated(s)),
    "at once, from something": program_of(lambda b, s: b.product(b.constant(0), s)),
    "the last of two": program_of(lambda b, _: b.twice(lambda carry: b.accumulated())),
    "from twice as much": program_of(
        lambda b, _: b.twice(lambda carry: b.accumulated(b.op("mul", carry, 2.0)))
    ),
    "doubled on the way": program_of(
        lambda b, _: b.twice(
            lambda carry: b.walk(carry, lambda i, inner: b.product(i, b.op("mul", inner, 2.0)))
        )
    ),
    "multiplied": program_of(lambda b, _: b.accumulated(), fn="mul"),
    "subtracted": program_of(lambda b, _: b.product(b.constant(0)), fn="sub"),
    "squared": program_of(lambda b, _: b.op("mul", *[b.accumulated()] * 2)),
    "no product": program_of(lambda b, _: b.op("abs", b.product(b.constant(0)))),
    "a fold": folded(program_of(lambda b, _: b.accumulated()), 0),
    "a fold of walks": folded(program_of(lambda b, _: b.twice(b.accumulated)), 0),
    "a walk of folds": folded(program_of(lambda b, _: b.twice(b.accumulated)), 1),
}


@pytest.mark.parametrize("name", STARTED)
def test_forms_that_start(name, run, rng):
    program = STARTED[name]
    verify(program)
    new = starting(program, Permissions())
    assert new is not program
    verify(new)
    assert not [
        op
        for s in new.segments
        for op in walk(s.body)
        if isinstance(op, Pointwise) and len(op.result.dims) == 2 and op.fn == "add"
    ]
    given = {v.name: rng.integers(-4, 5, [e.const for e in v.shape]).astype(np.float32) for v in (A, V, S, Y)}
    np.testing.assert_array_equal(run(new, given)["y"], run(program, given)["y"])


@pytest.mark.parametrize("name", KEPT)
def test_near_misses_stay(name):
    assert starting(KEPT[name], Permissions()) is KEPT[name]
