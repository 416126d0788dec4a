"""A buffer between two loops of one range goes away; every guard is the loop's that keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, construct, resident, serial
from intent.frontend import lower
from intent.passes import Permissions
from intent.passes.fusion import fusion
from intent.physical import Buffer, Dim, Fence, Fragment, Loop, Program, Store
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.types.dtypes import F32
from intent.types.extent import const
from intent_testkit.programs.builder import Builder, view

BLOCKS = {"axis_N": 64}


def f32(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@intent.kernel
def sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1) * 2.0


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300])
def test_a_scan_is_stored_where_it_is_made(stages, rng, n):
    x = f32(rng, 2, n)
    wanted = {"y": np.cumsum(x, axis=1, dtype=np.float64) * 2}
    made = stages(sums, BLOCKS, {"x": x, "y": np.full((2, n), 7, np.float32)}, wanted, tolerance=1e-4)
    assert made.programs["constructed"].workspace
    assert not made.programs["fusion"].workspace
    assert len(made.loops("fusion")) == 1
    assert not made.ops(Fence, "fusion")


@intent.kernel
def shares(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    total = I.cumsum(x[...], axis=1)
    y[...] = total / I.reduce.max(total, axis=1)[:, None]


def test_what_needs_the_last_element_keeps_the_buffer(stages, rng):
    x = np.abs(f32(rng, 2, 200))
    total = np.cumsum(x, axis=1, dtype=np.float64)
    given = {"x": x, "y": np.zeros((2, 200), np.float32)}
    made = stages(shares, BLOCKS, given, {"y": total / total.max(1, keepdims=True)}, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def backwards(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    n = x.shape[0]
    total = I.cumsum(x[...], axis=0)
    y[...] = I.gather(total, index=n - 1 - I.indices(I.domain(0, n)))


def test_elements_that_other_lanes_made_keep_the_buffer(stages, rng):
    x = f32(rng, 200)
    wanted = {"y": np.cumsum(x, dtype=np.float64)[::-1]}
    made = stages(backwards, BLOCKS, {"x": x, "y": np.zeros(200, np.float32)}, wanted, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def in_place(x: I.InOut[I.f32, ("M", "N")]):
    x[...] = I.cumsum(x[...], axis=1)


def test_what_the_first_loop_reads_is_not_written_in_it(stages, rng):
    x = f32(rng, 2, 200)
    wanted = {"x": np.cumsum(x, axis=1, dtype=np.float64)}
    made = stages(in_place, BLOCKS, {"x": x.copy()}, wanted, tolerance=1e-4)
    assert made.programs["fusion"].workspace


@intent.kernel
def two_outputs(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    total = I.cumsum(x[...], axis=1)
    y[...] = total
    z[...] = I.cast(total > 0, I.i32)


def test_every_reader_joins(stages, rng):
    x = f32(rng, 2, 200)
    total = np.cumsum(x, axis=1, dtype=np.float32)
    given = {"x": x, "y": np.zeros((2, 200), np.float32), "z": np.zeros((2, 200), np.int32)}
    made = stages(two_outputs, BLOCKS, given, {"y": total}, tolerance=1e-4)
    assert not made.programs["fusion"].workspace
    assert len(made.loops("fusion")) == 1


@intent.kernel
def restarted(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for _ in range(2):
        if y[0] > 0.0:
            y[...] = I.cumsum(x[...], axis=0)


@pytest.mark.parametrize("first", [-1.0, 1.0])
def test_fences_of_what_is_written_come_before_it(stages, rng, first):
    x, y = np.abs(f32(rng, 200)), f32(rng, 200)
    y[0] = first
    wanted = {"y": np.cumsum(x, dtype=np.float64) if first > 0 else y}
    made = stages(restarted, BLOCKS, {"x": x, "y": y.copy()}, wanted, tolerance=1e-4)
    assert made.programs["constructed"].workspace
    assert not made.programs["fusion"].workspace
    assert made.ops(Fence, "fusion")


@intent.fn
def outer_of(part):
    return I.matmul(part.k, part.v, transpose_lhs=True)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def emitted(part, state):
    causal = I.select(part.at[None, :] <= part.at[:, None], I.matmul(part.q, part.k, transpose_rhs=True), 0.0)
    return I.matmul(part.q, state) + I.matmul(causal, part.v)


@intent.kernel
def linear(
    q: I.In[I.f32, ("T", "D")],
    k: I.In[I.f32, ("T", "D")],
    v: I.In[I.f32, ("T", "E")],
    y: I.Out[I.f32, ("T", "E")],
):
    axis = I.domain(0, q.shape[0])
    zero = I.zeros((q.shape[1], v.shape[1]), I.f32)
    outputs, _ = I.region_scan(
        source=I.record(q=q[axis, :], k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0, summarize=outer_of, combine=plus, identity=zero, initial_state=zero, apply=plus, emit=emitted,
    )  # fmt: skip
    y[...] = outputs


def test_linear_attention_is_one_loop_without_workspace():
    kernel = lower(linear, {})
    inner = (("axis_D", resident(16)), ("axis_E", resident(16)), ("axis_T", serial(16)))
    program = construct(kernel, Plan(groups=(GroupPlan(instance=(), inner=inner),)))
    assert program.workspace
    made = fusion(program, Permissions())
    verify(made, kernel)
    assert not made.workspace
    (loop,) = [op for op in made.segments[0].body.ops if type(op).__name__ == "Loop"]
    assert [op.target.name for op in loop.body.ops if isinstance(op, Store)] == ["y"]


LANES = Dim("l", 4)
X, Y, Z = view("x", "f32", "8"), view("y", "f32", "8", "inout"), view("z", "f32", "8", "inout")
HELD = Buffer(id=900, name="held", dtype=F32, shape=(const(8),))


class Walks(Builder):
    """A builder of loops over eight elements in two blocks."""

    def op(self, fn: str, *operands: Any, **flags: Any) -> Fragment:
        """The function; numbers are f32."""
        given = [self.constant(f, F32) if isinstance(f, float) else f for f in operands]
        return super().op(fn, *given, **flags)

    def at(self, i: Fragment) -> Fragment:
        if i.id not in self.places:
            self.places[i.id] = self.op("add", i, self.lanes)
        return self.places[i.id]

    def below(self, i: Fragment, most: int) -> Fragment:
        return self.op("lt", self.at(i), self.constant(most))

    def begin(self) -> None:
        self.places: dict[int, Fragment] = {}
        self.bounds, self.lanes = [self.constant(k) for k in (0, 8, 4)], self.lane(LANES)
        self.alloc(HELD)

    def walk(self, step: Callable[[Fragment], None]) -> None:
        self.loop(*self.bounds, [], step)


Step = Callable[[Walks, Fragment], None]


def put(target: Any, what: Callable[[Walks, Fragment], Fragment], most: int | None = None) -> Step:
    def step(b: Walks, i: Fragment) -> None:
        b.store(target, [b.at(i)], what(b, i), None if most is None else b.below(i, most))

    return step


def taken(
    source: Any, most: int | None = None, fill: float | None = None
) -> Callable[[Walks, Fragment], Fragment]:
    def what(b: Walks, i: Fragment) -> Fragment:
        valid = None if most is None else b.below(i, most)
        return b.load(source, b.at(i), valid=valid, fill=None if fill is None else b.constant(fill, F32))

    return what


def both(*steps: Step) -> Step:
    def step(b: Walks, i: Fragment) -> None:
        for one in steps:
            one(b, i)

    return step


def summed(*whats: Callable[[Walks, Fragment], Fragment]) -> Callable[[Walks, Fragment], Fragment]:
    return lambda b, i: b.op("add", whats[0](b, i), whats[1](b, i))


def handed_over(
    first: Step, second: Step, between: Callable[[Walks], None] = lambda b: None, more: Step | None = None
) -> Program:
    b = Walks(LANES)

    def body(_: Fragment) -> None:
        b.begin()
        b.walk(lambda i: first(b, i))
        between(b)
        b.fence(HELD)
        b.walk(lambda i: second(b, i))
        if more is not None:
            b.fence(HELD)
            b.walk(lambda i: more(b, i))

    return b.program("walks", [X, Y, Z], b.segment([("one", 1, 1)], body), workspace=[HELD])


def at_one_place(b: Walks, i: Fragment) -> None:
    b.store(HELD, [b.lane(LANES)], taken(X)(b, i))


def from_one_place(b: Walks, i: Fragment) -> None:
    b.store(Y, [b.at(i)], b.load(HELD, b.lane(LANES)))


def fenced(b: Walks, _: Fragment) -> None:
    b.fence(HELD)


FILLED: Final = put(HELD, taken(X))
FUSED: Final[dict[str, Program]] = {
    "as it is": handed_over(FILLED, put(Y, taken(HELD))),
    "beside a read": handed_over(FILLED, put(Y, summed(taken(HELD), taken(X)))),
    "in part": handed_over(put(HELD, taken(X), 6), put(Y, taken(HELD, 6), 6)),
    "a part of all": handed_over(FILLED, put(Y, taken(HELD, 6), 6)),
    "with what fills the rest": handed_over(FILLED, put(Y, taken(HELD, 6, 3.0))),
    "with zeros for the rest": handed_over(FILLED, put(Y, taken(HELD, 6))),
    "beside more that is written": handed_over(
        FILLED, both(put(Y, taken(HELD, 6), 6), put(Z, taken(HELD, 6)))
    ),
    "beside a read of all": handed_over(FILLED, put(Y, summed(taken(HELD, 6), taken(X)), 6)),
    "beside a write elsewhere": handed_over(both(FILLED, put(Z, taken(X))), put(Y, taken(HELD))),
    "fenced within": handed_over(FILLED, both(lambda b, _: b.fence(Y), put(Y, taken(HELD)))),
    "with a fence of other memory between": handed_over(FILLED, put(Y, taken(HELD)), lambda b: b.fence(Z)),
    "with a value between": handed_over(FILLED, put(Y, taken(HELD)), lambda b: b.fence(X)),
}
APART: Final[dict[str, Program]] = {
    "in another part": handed_over(put(HELD, taken(X), 7), put(Y, taken(HELD, 6), 6)),
    "a part of a part": handed_over(put(HELD, taken(X), 6), put(Y, taken(HELD, 5), 5)),
    "at one place": handed_over(at_one_place, from_one_place),
    "written twice": handed_over(
        both(FILLED, fenced, put(HELD, summed(taken(X), taken(X))), fenced), put(Y, taken(HELD))
    ),
    "read again behind": handed_over(FILLED, put(Y, taken(HELD)), more=put(HELD, taken(X))),
    "a view": handed_over(both(FILLED, put(Z, taken(X))), put(Y, taken(Z)), lambda b: b.fence(Z)),
    "reads what the first one writes": handed_over(
        both(FILLED, put(Z, taken(X))), put(Y, summed(taken(HELD), taken(Z))), lambda b: b.fence(Z)
    ),
    "writes what the first one reads": handed_over(
        put(HELD, taken(Y)), put(Y, taken(HELD)), lambda b: b.fence(Y)
    ),
}


def with_a_total() -> Program:
    """The first loop sums up, too, and something of the sum stands between the loops."""
    b = Walks(LANES)

    def first(i: Fragment, total: Fragment) -> Fragment:
        FILLED(b, i)
        return b.op("add", total, b.reduce(taken(X)(b, i), LANES))

    def body(_: Fragment) -> None:
        b.begin()
        (total,) = b.loop(*b.bounds, [b.constant(0.0, F32)], first)
        size = b.op("abs", total)
        b.fence(HELD)
        b.walk(lambda i: put(Y, taken(HELD))(b, i))
        b.store(Z, [b.constant(0)], size)

    return b.program("total", [X, Y, Z], b.segment([("one", 1, 1)], body), workspace=[HELD])


FUSED["with a total"] = with_a_total()


def loops(program: Program) -> int:
    return sum(isinstance(op, Loop) for s in program.segments for op in walk(s.body))


def checked(program: Program, run: Any, rng: np.random.Generator) -> Program:
    """After the pass, with results as before."""
    verify(program)
    new = fusion(program, Permissions())
    verify(new)
    given = {name: f32(rng, 8) for name in "xyz"}
    before, after = run(program, given), run(new, given)
    for name in "yz":
        np.testing.assert_array_equal(after[name], before[name])
    return new


@pytest.mark.parametrize("name", FUSED)
def test_what_is_fused_stays_right(name, run, rng):
    assert loops(checked(FUSED[name], run, rng)) == 1


@pytest.mark.parametrize("name", APART)
def test_near_misses_stay_apart(name, run, rng):
    assert loops(checked(APART[name], run, rng)) == loops(APART[name])
