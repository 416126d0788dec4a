"""Which forms of a normalisation are fused: a near miss stays as it is, and what is fused stays right.

The programs are made by hand: two rows of eight members in two blocks, a maximum, and a sum of what is like
``exp(x - m)``. What a program gives before the pass, it gives after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

from intent.passes import Permissions
from intent.passes.online import online
from intent.passes.rewriting import map_operations
from intent.physical import Dim, Fragment, Loop, Op, Program, View
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.types.dtypes import F32, F64, I32
from intent_testkit.programs.builder import Builder, view

R, L, C = Dim("r", 2), Dim("l", 4), Dim("c", 3)
X, W, V = view("x", "f32", "2 8"), view("w", "f32", "2 8"), view("v", "f32", "8 3")
FLAG, SEEN = view("flag", "i32", "1"), view("seen", "f32", "2 8", "out")
OUT: Final = {
    dims: view(f"y{number}", "f32", " ".join(str(d.size) for d in dims), "out")
    for number, dims in enumerate([(R,), (R, L), (R, C), (L,), (C,)])
}
OUT[()] = view("all", "f32", "1", "out")
SECOND, THIRD = view("second", "f32", "2", "out"), view("third", "f32", "2", "out")
INF = float("inf")
Made = Callable[["Row"], Fragment]


class Row(Builder):
    """A builder that knows the loop's index ``i``, the maximum ``m``, and the sums ``t`` so far."""

    def __init__(self) -> None:
        super().__init__(R, L, C)
        self.i = self.m = self.t = self.fragment(F32)
        self.results: list[tuple[Fragment, View]] = []

    def number(self, value: float, *dims: Dim, dtype: Any = F32) -> Fragment:
        made = self.constant(value, dtype)
        return self.broadcast(made, *dims) if dims else made

    def op(self, fn: str, *operands: Any, **flags: Any) -> Fragment:
        """The function; numbers are f32."""
        return super().op(fn, *(f if isinstance(f, Fragment) else self.number(f) for f in operands), **flags)

    def columns(self) -> Fragment:
        return super().op("add", self.i, self.lane(L))

    def x(self) -> Fragment:
        return self.load(X, self.lane(R), self.columns())

    def w(self) -> Fragment:
        return self.load(W, self.lane(R), self.columns())

    def v(self) -> Fragment:
        return self.load(V, self.columns(), self.lane(C))

    def keep(self, count: int = 5) -> Fragment:
        return super().op("lt", self.columns(), self.constant(count))

    def gap(self) -> Fragment:
        return self.op("sub", self.x(), self.m)

    def e(self, fn: str = "exp", **flags: Any) -> Fragment:
        return self.op(fn, self.gap(), **flags)

    def flag(self) -> Fragment:
        return super().op("eq", self.load(FLAG, self.constant(0)), self.constant(1, I32))

    def either(self, a: Fragment, b: Fragment) -> Fragment:
        return self.branch(self.flag(), lambda: a, lambda: b, [a])[0]

    def walk(
        self, inits: Sequence[Fragment], step: Callable[..., Any], bounds: Any = (0, 8, 4)
    ) -> list[Fragment]:
        def body(i: Fragment, *carries: Fragment) -> Any:
            self.i = i
            return step(self, *carries)

        return self.loop(
            *(bounds if isinstance(bounds[0], Fragment) else map(self.constant, bounds)), inits, body
        )

    def sum(self, added: Made, bounds: Any) -> Fragment:
        """One more sum over the same walk."""
        (lanes,) = self.walk([self.number(0.0, R, L)], lambda r, t: r.op("add", t, added(r)), bounds)
        return self.reduce(lanes, L)

    def write(self, value: Fragment, target: View) -> None:
        places = [self.lane(d) for d in value.dims] or [self.constant(0)]
        self.store(target, places, self.cast(value, F32))


def largest(r: Row, m: Fragment) -> Fragment:
    return r.op("maximum", m, r.x())


def over_lanes(r: Row, m: Fragment) -> Fragment:
    return r.reduce(m, L, kind="max")


def added(r: Row, t: Fragment) -> Fragment:
    return r.op("add", t, r.e())


def form(
    *,
    least: float = -INF,
    peak: Any = largest,
    peaks: tuple[Dim, ...] = (R, L),
    top: Callable[[Row, Fragment], Fragment] = over_lanes,
    guard: Callable[[Row, Fragment], Fragment] = lambda _, m: m,
    zero: float = 0.0,
    dtype: Any = F32,
    add: Any = added,
    sums: tuple[Dim, ...] = (R, L),
    total: Callable[[Row, Fragment], Fragment] = lambda r, t: r.reduce(t, L),
    bounds: tuple[int, int, int] | None = None,
    between: Callable[[Row, Any], None] = lambda r, walked: None,
    behind: Callable[[Row, Any], None] = lambda r, walked: None,
) -> Program:
    """A normalisation with other parts in place of some."""
    r = Row()

    def body(_: Fragment) -> None:
        walked = tuple(map(r.constant, (0, 8, 4)))
        (lanes,) = r.walk([r.number(least, *peaks)], peak, walked)
        r.m = guard(r, top(r, lanes))
        between(r, walked)
        own = (
            walked
            if bounds is None
            else tuple(
                w if r0 == b else r.constant(b) for w, r0, b in zip(walked, (0, 8, 4), bounds, strict=True)
            )
        )
        (lanes,) = r.walk([r.number(zero, *sums, dtype=dtype)], add, own)
        r.t = total(r, lanes)
        behind(r, walked)
        for value, target in ((r.t, OUT[r.t.dims]), *r.results):
            r.write(value, target)

    params = [X, W, V, FLAG, SEEN, *OUT.values(), SECOND, THIRD]
    return r.program("form", params, r.segment([("one", 1, 1)], body))


def adding(term: Made) -> Any:
    return lambda r, t: r.op("add", t, term(r))


def guarded(
    instead: Any = 0.0, bound: float = -INF, *, fn: str = "eq", other: bool = False, turned: bool = False
) -> Any:
    """``select(m == -inf, 0, m)``, or nearly."""

    def made(r: Row, m: Fragment) -> Fragment:
        compared = r.op("mul", m, 2.0) if other else m
        test = r.op(fn, bound, compared) if turned else r.op(fn, compared, bound)
        return r.op("select", test, instead if isinstance(instead, float) else instead(r), m)

    return made


def seen(r: Row, value: Fragment) -> Fragment:
    """The value, which is written, too."""
    r.store(SEEN, [r.lane(R), r.columns()], value)
    return value


def chosen(test: Made, value: Made, other: float = 0.0) -> Any:
    return lambda r: r.op("select", test(r), value(r), other)


def largest_of(what: Made) -> Any:
    return lambda r, m: r.op("maximum", m, what(r))


def accumulated(lhs: Made, rhs: Made = Row.v, *dims: Dim) -> Any:
    return lambda r, t: r.contract(lhs(r), rhs(r), *(dims or (L,)), dtype=F32, accumulator=t)


def second(term: Made) -> Any:
    """Behind the first sum another one, which may use the first one's total."""
    return lambda r, walked: r.results.append((r.sum(term, walked), SECOND))


def written(r: Row, walked: Any) -> None:
    r.write(r.m, THIRD)


def logarithm_between(r: Row, walked: Any) -> None:
    """Something that needs the first total stands in front of the second sum, which does not need it."""
    log = r.op("log", r.t)
    r.results += [(r.sum(lambda r: r.op("mul", r.e(), r.w()), walked), SECOND), (log, THIRD)]


def shifted_between(r: Row, walked: Any) -> None:
    """A branch hands the maximum on: what uses its result has to wait for the walk."""
    shifted = r.either(r.m, r.number(0.25, R))
    r.results += [
        (r.sum(lambda r: r.op("exp", r.op("sub", r.x(), shifted)), walked), SECOND),
        (r.sum(lambda r: r.op("mul", r.e(), r.w()), walked), THIRD),
    ]


def reciprocal_between(r: Row, walked: Any) -> None:
    inverse = r.op("div", 1.0, r.t)
    r.results += [(r.sum(lambda r: r.op("mul", r.e(), inverse), walked), SECOND)]


def smallest_too(r: Row, m: Fragment) -> Fragment:
    r.results += [(r.reduce(m, L, kind="min"), THIRD)]
    return over_lanes(r, m)


def part(r: Row) -> Fragment:
    return r.keep()


SLICES: Final = {
    "peak": lambda r, m: r.op("maximum", m, r.reduce(r.x(), L, kind="max")), "peaks": (R,), "top": lambda _, m: m,
}  # fmt: skip
PRODUCT: Final = {"sums": (R, C), "total": lambda _, t: t, "add": accumulated(Row.e)}
IN_PART: Final = {"peak": largest_of(chosen(part, Row.x, -INF)), "add": adding(chosen(part, Row.e))}

FUSED: Final[dict[str, dict[str, Any]]] = {
    "as it is": {},
    "base 2": {"add": adding(lambda r: r.e("exp2"))},
    "turned round": {
        "peak": lambda r, m: r.op("maximum", r.x(), m),
        "add": lambda r, t: r.op("add", r.e(), t),
        "guard": guarded(turned=True),
    },
    "guarded": {"guard": guarded()},
    "guarded by 3": {"guard": guarded(3.0)},
    "both in slices": {
        **SLICES,
        "add": adding(lambda r: r.reduce(r.e(), L)),
        "sums": (R,),
        "total": lambda _, t: t,
    },
    "maximum in slices": SLICES,
    "sum in slices": {"add": adding(lambda r: r.reduce(r.e(), L)), "sums": (R,), "total": lambda _, t: t},
    "lanes are kept": {"total": lambda _, t: t},
    "scaled": {"add": adding(lambda r: r.op("exp", r.op("mul", r.gap(), 0.25)))},
    "scaled from the left": {"add": adding(lambda r: r.op("exp", r.op("mul", 0.25, r.gap())))},
    "weighed": {"add": adding(lambda r: r.op("mul", r.w(), r.e()))},
    "divided": {"add": adding(lambda r: r.op("div", r.e(), r.op("add", r.w(), 9.0)))},
    "two of a kind": {"add": adding(lambda r: r.op("sub", r.e(), r.op("mul", r.e(), r.w())))},
    "wider": {"add": adding(lambda r: r.cast(r.cast(r.e(), F64), F32))},
    "of a place": {"add": adding(lambda r: r.op("mul", r.e(), r.cast(r.columns(), F32)))},
    "of a difference from another": {
        "add": adding(lambda r: r.op("mul", r.e(), r.op("exp", r.op("sub", r.x(), r.w()))))
    },
    "reduced by a maximum": {"total": lambda r, t: r.reduce(t, L, kind="max")},
    "in part": IN_PART,
    "in part of what is at least 0": {**IN_PART, "peak": largest_of(chosen(part, Row.x, 0.0))},
    "a part of the sum": {"add": adding(chosen(part, Row.e))},
    "product": PRODUCT,
    "product in slices": {**SLICES, **PRODUCT},
    "product, added": {**PRODUCT, "add": adding(lambda r: r.contract(r.e(), r.v(), L, dtype=F32))},
    "shares": {"behind": second(lambda r: r.op("div", r.op("mul", r.e(), r.w()), r.t))},
    "by a factor of the total": {"behind": second(lambda r: r.op("mul", r.t, r.e()))},
    "a logarithm between": {"behind": logarithm_between},
    "a reciprocal between": {"behind": reciprocal_between},
    "a branch between": {"behind": shifted_between},
}
LEFT: Final[dict[str, dict[str, Any]]] = {
    "from 0 on": {"least": 0.0},
    "minimum": {"peak": lambda r, m: r.op("minimum", m, r.x()), "least": INF},
    "minimum from -inf on": {"peak": lambda r, m: r.op("minimum", m, r.x())},
    "minimum over lanes": {"top": lambda r, m: r.reduce(m, L, kind="min")},
    "minimum in slices": {**SLICES, "peak": lambda r, m: r.op("maximum", m, r.reduce(r.x(), L, kind="min"))},
    "maxima that others use": {"top": smallest_too},
    "maximum read twice": {"peak": lambda r, m: r.op("maximum", m, r.op("sub", r.x(), r.op("minimum", m, 0.0)))},
    "maximum through a branch": {
        "peak": lambda r, m: r.op("maximum", m, r.op("minimum", r.x(), r.either(m, r.number(0.5, R, L))))
    },
    "maximum of another axis": {
        "top": lambda r, m: r.reduce(m, R, kind="max"), "total": lambda r, t: r.reduce(t, L),
    },
    "maximum is seen on the way": {"peak": largest_of(lambda r: seen(r, r.x()))},
    "written in front of the sum": {"between": written},
    "guard by infinity": {"guard": guarded(-INF)},
    "guard by what is read": {"guard": guarded(lambda r: r.load(W, r.lane(R), r.constant(0)))},
    "guard where it is not nothing": {"guard": guarded(fn="ne")},
    "guard where it is 1": {"guard": guarded(bound=1.0)},
    "guard where another is nothing": {"guard": guarded(other=True)},
    "from 1 on": {"zero": 1.0},
    "shorter": {"bounds": (0, 4, 4)},
    "later": {"bounds": (4, 8, 4)},
    "in longer steps": {"bounds": (0, 8, 8)},
    "seen on the way": {"add": adding(lambda r: seen(r, r.e()))},
    "subtracted": {"add": lambda r, t: r.op("sub", t, r.e())},
    "the larger": {"add": lambda r, t: r.op("maximum", t, r.e())},
    "doubled on the way": {"add": lambda r, t: r.op("add", r.e(), r.op("mul", t, 2.0))},
    "read twice": {"add": lambda r, t: r.op("add", t, r.op("mul", r.e(), r.op("add", t, 1.0)))},
    "product with the sum": {
        "add": lambda r, t: r.op("add", r.e(), r.op("mul", t, r.w())),
    },
    "of another": {"add": adding(lambda r: r.op("exp", r.op("sub", r.w(), r.m)))},
    "of a sum with the maximum": {"add": adding(lambda r: r.op("exp", r.op("add", r.op("neg", r.x()), r.m)))},
    "of the difference turned round": {"add": adding(lambda r: r.op("exp", r.op("sub", r.m, r.x())))},
    "of a multiple of the maximum": {"add": adding(lambda r: r.op("exp", r.op("sub", r.op("mul", r.x(), r.m), r.m)))},
    "falling": {"add": adding(lambda r: r.op("exp", r.op("mul", r.gap(), -0.5)))},
    "scaled by what is read": {"add": adding(lambda r: r.op("exp", r.op("mul", r.gap(), r.op("abs", r.w()))))},
    "of two bases": {"add": adding(lambda r: r.op("add", r.e(), r.e("exp2")))},
    "of two scales": {"add": adding(lambda r: r.op("add", r.e(), r.op("exp", r.op("mul", r.gap(), 0.5))))},
    "of two exactnesses": {"add": adding(lambda r: r.op("add", r.e(), r.e(approximate=True)))},
    "the product of a slice": {
        "add": adding(lambda r: r.reduce(r.e(), L, kind="prod")), "sums": (R,), "total": lambda _, t: t,
    },
    "moved by a constant": {"add": adding(lambda r: r.op("exp", r.op("add", r.gap(), 0.25)))},
    "of a sum": {"add": adding(lambda r: r.op("exp", r.op("add", r.x(), r.m)))},
    "a product and 0": {"add": adding(lambda r: r.op("fma", r.w(), r.e(), 0.0))},
    "a root": {"add": adding(lambda r: r.op("sqrt", r.op("abs", r.gap())))},
    "of a root": {"add": adding(lambda r: r.op("sqrt", r.gap()))},
    "squared": {"add": adding(lambda r: r.op("mul", r.e(), r.e()))},
    "and one": {"add": adding(lambda r: r.op("add", r.e(), 1.0))},
    "times the maximum": {"add": adding(lambda r: r.op("mul", r.e(), r.m))},
    "below the line": {"add": adding(lambda r: r.op("div", r.w(), r.e()))},
    "beside another than 0": {"add": adding(chosen(part, Row.e, 1.0))},
    "where it is large": {"add": adding(chosen(lambda r: r.op("gt", r.e(), 0.5), Row.e))},
    "of what a branch gives": {"add": adding(lambda r: r.op("mul", r.e(), r.either(r.m, r.number(2.0, R))))},
    "in a branch": {"add": adding(lambda r: r.either(r.e(), r.number(0.0, R, L)))},
    "as integers": {
        "add": adding(lambda r: r.cast(r.op("mul", r.e(), 9.0), I32)), "dtype": I32, "zero": 0,
    },
    "of another part": {**IN_PART, "add": adding(chosen(lambda r: r.keep(7), Row.e))},
    "all of it, with the maximum of a part": {**IN_PART, "add": added},
    "rows, too, in lanes": {"add": adding(lambda r: r.reduce(r.e(), R)), "sums": (L,)},
    "rows, too": {"add": adding(lambda r: r.reduce(r.e(), R)), "sums": (L,), "total": lambda _, t: t},
    "product over rows": {
        "add": accumulated(Row.e, lambda r: r.load(W, r.lane(R), r.lane(C)), R), "sums": (L, C),
        "total": lambda r, t: r.reduce(t, L),
    },
    "product with a start": {
        **PRODUCT, "add": adding(lambda r: r.contract(r.e(), r.v(), L, dtype=F32, accumulator=r.number(1.0, R, C))),
    },
    "a total below the line": {"behind": second(lambda r: r.op("div", r.t, r.e()))},
    "a total that is added to": {"behind": second(lambda r: r.op("div", r.e(), r.op("add", r.t, r.w())))},
    "a total of weights": {
        "behind": second(lambda r: r.op("add", r.op("mul", r.e(), r.t), r.op("mul", r.w(), r.t)))
    },
}  # fmt: skip


def given(rng: np.random.Generator, flag: int) -> dict[str, Any]:
    drawn = {
        name: rng.normal(size=shape).astype(np.float32) * 3
        for name, shape in (("x", (2, 8)), ("w", (2, 8)), ("v", (8, 3)))
    }
    outputs = {
        v.name: np.full([e.const for e in v.shape], 7, np.float32)
        for v in (SEEN, SECOND, THIRD, *OUT.values())
    }
    return {**drawn, **outputs, "flag": np.array([flag], np.int32)}


def checked(program: Program, run: Any, rng: np.random.Generator, relaxed: Permissions) -> bool:
    """Whether the pass changes the program, whose results it keeps."""
    verify(program)
    new = online(program, relaxed)
    verify(new)
    for flag in (0, 1) if new is not program else ():
        arguments = given(rng, flag)
        before, after = run(program, arguments), run(new, arguments)
        for name, value in before.items():
            np.testing.assert_allclose(
                after[name], value, rtol=2e-5, atol=2e-5, err_msg=f"{name}\n{program}\n{new}"
            )
    return new is not program


@pytest.mark.parametrize("name", FUSED)
def test_what_is_fused_stays_right(name, run, rng, relaxed):
    assert checked(form(**FUSED[name]), run, rng, relaxed)


@pytest.mark.parametrize("name", LEFT)
def test_near_misses_stay_as_they_are(name, run, rng, relaxed):
    assert not checked(form(**LEFT[name]), run, rng, relaxed)


def test_a_plan_that_does_not_want_it_does_not_get_it():
    program = form()
    assert online(program, Permissions(relaxed=True, online=False)) is program


def test_inside_of_a_walk_that_adds_up_what_comes_out(run, rng, relaxed):
    r = Row()

    def once(r: Row, total: Fragment) -> Fragment:
        walked = tuple(map(r.constant, (0, 8, 4)))
        (lanes,) = r.walk([r.number(-INF, R, L)], largest, walked)
        r.m = over_lanes(r, lanes)
        return r.op("add", total, r.sum(Row.e, walked))

    def body(_: Fragment) -> None:
        (total,) = r.walk([r.number(0.0, R)], once, (0, 3, 1))
        r.write(total, OUT[R,])

    params = [X, W, V, FLAG, SEEN, *OUT.values(), SECOND, THIRD]
    program = r.program("nested", params, r.segment([("one", 1, 1)], body))
    assert checked(program, run, rng, relaxed)


@pytest.mark.parametrize("depth", [0, 1])
def test_folds_are_no_parts_of_a_normalisation(depth, run, rng, relaxed):
    """What a fold's loop carries is its author's business."""
    program = form()
    loops = [op for segment in program.segments for op in walk(segment.body) if isinstance(op, Loop)]

    def change(op: Op) -> Op:
        return (
            replace(op, summary=op.body.yields) if isinstance(op, Loop) and op.id == loops[depth].id else op
        )

    assert online(map_operations(program, change), relaxed) == map_operations(program, change)
