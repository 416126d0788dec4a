"""Exponentials that take a factor in: near misses do not, and what does stays right, of nothing as well.

A program multiplies ``exp(a - p)`` and ``exp(p - c)``, where ``p`` is the maximum of ``a`` over lanes and ``c`` is at
least ``p``, or something that is nearly that. Its rows are ordinary, of nothing, and of nothing beside something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

from intent.passes import building
from intent.passes.exponents import Exponents
from intent.physical import Dim, Fragment, Pointwise, Program
from intent.physical.verify import verify
from intent.types.dtypes import F32, F64, I32
from intent_testkit.programs.builder import Builder, view

R, L, K = Dim("r", 4), Dim("l", 8), Dim("k", 2)
X, W = view("x", "f32", "4 8"), view("w", "f32", "4 8")
OTHER, Y = view("other", "f32", "4"), view("y", "f32", "4 8", "out")
INF: Final = float("inf")


class Rows(Builder):
    """A builder with ``a``, its maximum ``p``, and ``c``, the larger of that and another value of the row."""

    def __init__(self) -> None:
        super().__init__(R, L, K)
        self.a = self.p = self.c = self.fragment(F32)

    def op(self, fn: str, *operands: Any, **flags: Any) -> Fragment:
        """The function; numbers are f32."""
        given = [f if isinstance(f, Fragment) else self.constant(f, F32) for f in operands]
        return super().op(fn, *given, **flags)

    def begin(self) -> None:
        self.a, self.w = (self.load(v, self.lane(R), self.lane(L)) for v in (X, W))
        self.other = self.load(OTHER, self.lane(R))
        self.keep = super().op("lt", self.lane(L), self.constant(5))
        self.p = self.reduce(self.a, L, kind="max")
        self.c = self.op("maximum", self.p, self.other)

    def inside(self, other: float = -INF, keep: Fragment | None = None) -> Fragment:
        return self.op("select", self.keep if keep is None else keep, self.a, other)

    def few(self) -> Fragment:
        return super().op("lt", self.lane(L), self.constant(3))

    def safe(
        self, m: Fragment, instead: Any = 0.0, *, fn: str = "eq", bound: float = -INF, of: Any = None
    ) -> Fragment:
        return self.op("select", self.op(fn, m if of is None else of, bound), instead, m)

    def gap(self, a: Fragment, b: Fragment) -> Fragment:
        return self.op("sub", a, b)


Pair = tuple[Fragment, Fragment]
Form = Callable[[Rows], Pair]


def plain(r: Rows) -> Pair:
    return r.op("exp", r.gap(r.a, r.p)), r.op("exp", r.gap(r.p, r.c))


def guarded(r: Rows, **how: Any) -> Pair:
    return r.op("exp", r.gap(r.a, r.safe(r.p, **how))), r.op("exp", r.gap(r.p, r.safe(r.c)))


def silent(r: Rows, c: Fragment | None = None, zero: float = 0.0, **how: Any) -> Pair:
    """The factor says that it is 0 where there is nothing."""
    factor = r.op("exp", r.gap(r.p, r.c if c is None else c))
    test = r.op(how.get("fn", "eq"), how.get("of", r.p), how.get("bound", -INF))
    return r.op("exp", r.gap(r.a, r.safe(r.p))), r.op("select", test, zero, factor)


def scaled(r: Rows, left: Any, right: Any, *, turned: bool = False, zero: bool = False) -> Pair:
    def times(gap: Fragment, scale: Any) -> Fragment:
        made = scale if isinstance(scale, Fragment) else r.constant(scale, F32)
        return r.op("exp", r.op("mul", made, gap) if turned else r.op("mul", gap, made))

    if not zero:
        return times(r.gap(r.a, r.p), left), times(r.gap(r.p, r.c), right)
    factor = times(r.gap(r.p, r.c), right)
    return times(r.gap(r.a, r.safe(r.p)), left), r.op("select", r.op("eq", r.p, -INF), 0.0, factor)


def of_a_part(r: Rows, other: float = -INF, mask: Fragment | None = None, of: Fragment | None = None) -> Pair:
    """The maximum and the value are of some lanes only."""
    r.p = r.reduce(r.inside(other) if of is None else of, L, kind="max")
    r.c = r.op("maximum", r.p, r.other)
    weight, factor = guarded(r)
    return r.op("select", r.keep if mask is None else mask, weight, 0.0), factor


def with_maximum(r: Rows, p: Fragment) -> Pair:
    r.p, r.c = p, r.op("maximum", p, r.other)
    return guarded(r)


def around(change: Callable[[Rows, Fragment], Fragment]) -> Form:
    def made(r: Rows) -> Pair:
        weight, factor = plain(r)
        return change(r, weight), factor

    return made


MERGED: Final[dict[str, Form]] = {
    "as it is": plain,
    "guarded": guarded,
    "guarded by 2": lambda r: guarded(r, instead=2.0),
    "guarded, and the test turned round": lambda r: (
        r.op("exp", r.gap(r.a, r.op("select", r.op("eq", -INF, r.p), 0.0, r.p))), r.op("exp", r.gap(r.p, r.safe(r.c))),
    ),
    "silent": silent,
    "silent, and guarded": lambda r: silent(r, r.safe(r.c)),
    "silent, and guarded by infinity": lambda r: silent(r, r.safe(r.c, -INF)),
    "in base 2": lambda r: (r.op("exp2", r.gap(r.a, r.p)), r.op("exp2", r.gap(r.p, r.c))),
    "approximate": lambda r: tuple(r.op("exp", f, approximate=True) for f in (r.gap(r.a, r.p), r.gap(r.p, r.c))),
    "scaled": lambda r: scaled(r, 0.5, 0.5),
    "scaled from the left": lambda r: scaled(r, 0.5, 0.5, turned=True),
    "scaled by what is read": lambda r: scaled(r, r.w, r.w),
    "scaled, silent": lambda r: scaled(r, 0.5, 0.5, zero=True),
    "cast": around(lambda r, e: r.cast(r.cast(e, F64), F32)),
    "masked": around(lambda r, e: r.op("select", r.keep, e, 0.0)),
    "of a part": of_a_part,
    "of a part of a part": lambda r: of_a_part(
        r, of=r.op("select", r.keep, r.op("select", r.keep, r.a, -INF), -INF)
    ),
}  # fmt: skip
KEPT: Final[dict[str, Form]] = {
    "no exponential": lambda r: (r.gap(r.a, r.p), plain(r)[1]),
    "no factor that is one": lambda r: (plain(r)[0], r.op("abs", r.other)),
    "a factor that is read": lambda r: (plain(r)[0], r.other),
    "two bases": lambda r: (r.op("exp", r.gap(r.a, r.p)), r.op("exp2", r.gap(r.p, r.c))),
    "two exactnesses": lambda r: (plain(r)[0], r.op("exp", r.gap(r.p, r.c), approximate=True)),
    "two of flushing": lambda r: (plain(r)[0], r.op("exp", r.gap(r.p, r.c), flush_to_zero=True)),
    "of what is read": lambda r: (r.op("exp", r.a), plain(r)[1]),
    "by that of what is read": lambda r: (plain(r)[0], r.op("exp", r.other)),
    "of a sum": lambda r: (r.op("exp", r.op("add", r.a, r.p)), plain(r)[1]),
    "of a product": lambda r: (r.op("exp", r.op("mul", r.a, r.p)), plain(r)[1]),
    "by that of a sum": lambda r: (plain(r)[0], r.op("exp", r.op("add", r.p, r.c))),
    "of sums": lambda r: (r.op("exp", r.op("add", r.a, r.p)), r.op("exp", r.op("add", r.p, r.c))),
    "of another difference": lambda r: (plain(r)[0], r.op("exp", r.gap(r.other, r.c))),
    "of a difference turned round": lambda r: (plain(r)[0], r.op("exp", r.gap(r.c, r.p))),
    "of two scales": lambda r: scaled(r, 0.5, 0.25),
    "of one scale": lambda r: (scaled(r, 0.5, 0.5)[0], plain(r)[1]),
    "scaled by two things that are read": lambda r: scaled(r, r.w, r.other),
    "silent, and falling": lambda r: scaled(r, -0.5, -0.5, zero=True),
    "silent, and scaled by what is read": lambda r: scaled(r, r.w, r.w, zero=True),
    "silent where it is 1": lambda r: silent(r, bound=1.0),
    "silent where there is something": lambda r: silent(r, fn="ne"),
    "silent where another has nothing": lambda r: silent(r, of=r.other),
    "1 where there is nothing": lambda r: silent(r, zero=1.0),
    "as an integer": around(lambda r, e: r.cast(r.cast(r.op("mul", e, 1.0), I32), F32)),
    "as an integer between": around(lambda r, e: r.cast(r.cast(e, I32), F32)),
    "a product and 0": around(lambda r, e: r.op("fma", r.w, e, 0.0)),
    "of a sum and a product": lambda r: (
        r.op("exp", r.op("add", r.gap(r.a, r.p), r.w)), r.op("exp", r.op("mul", r.gap(r.p, r.c), r.w))
    ),
    "of a product and a sum": lambda r: (
        r.op("exp", r.op("mul", r.gap(r.a, r.p), r.w)), r.op("exp", r.op("add", r.gap(r.p, r.c), r.w))
    ),
    "two roots": lambda r: (r.op("sqrt", r.gap(r.a, r.p)), r.op("sqrt", r.gap(r.p, r.c))),
    "beside 1": around(lambda r, e: r.op("select", r.keep, e, 1.0)),
    "guarded by infinity": lambda r: guarded(r, instead=-INF),
    "guarded by what is read": lambda r: guarded(r, instead=r.other),
    "guarded where it is 1": lambda r: guarded(r, bound=1.0),
    "guarded where there is something": lambda r: guarded(r, fn="ne"),
    "guarded where another has nothing": lambda r: guarded(r, of=r.other),
    "another one, guarded": lambda r: (r.op("exp", r.gap(r.a, r.safe(r.other, of=r.p))), plain(r)[1]),
    "added instead of chosen": lambda r: (r.op("exp", r.gap(r.a, r.op("add", r.p, 0.5))), plain(r)[1]),
    "of no maximum": lambda r: with_maximum(r, r.other),
    "of a minimum": lambda r: with_maximum(r, r.reduce(r.a, L, kind="min")),
    "of another's maximum": lambda r: with_maximum(r, r.reduce(r.w, L, kind="max")),
    "of the maximum of a sum": lambda r: with_maximum(r, r.reduce(r.op("add", r.a, r.w), L, kind="max")),
    "of a part's maximum": lambda r: with_maximum(r, r.reduce(r.inside(), L, kind="max")),
    "of another part": lambda r: of_a_part(r, mask=r.few()),
    "of a part and 0": lambda r: of_a_part(r, other=0.0),
    "silent, of no maximum": lambda r: (
        r.op("exp", r.gap(r.a, r.other)),
        r.op("select", r.op("eq", r.other, -INF), 0.0, r.op("exp", r.gap(r.other, r.c))),
    ),
    "silent for another": lambda r: (
        plain(r)[0], r.op("select", r.op("eq", r.other, -INF), 0.0, r.op("exp", r.gap(r.p, r.c))),
    ),
}  # fmt: skip


def program_of(form: Form) -> Program:
    r = Rows()

    def body(_: Fragment) -> None:
        r.begin()
        value, factor = form(r)
        r.store(Y, [r.lane(R), r.lane(L)], r.op("mul", value, factor))

    return r.program("product", [X, W, OTHER, Y], r.segment([("one", 1, 1)], body))


def merged(program: Program) -> Program | None:
    """The program with the factor inside of the exponential, if that can be."""
    b = building.Builder(program)
    (segment,) = program.segments
    *before, product, store = segment.body.ops
    assert isinstance(product, Pointwise)
    with b.region(), b.region() as ops:
        for op in before:
            b.keep(op)
        value = Exponents(b).times(*product.operands)
        if value is None:
            return None
        b.append(replace(store, value=b.broadcast(value, (R, L))))
    return replace(program, segments=(replace(segment, body=replace(segment.body, ops=tuple(ops))),))


@pytest.mark.parametrize("name", MERGED)
def test_what_is_merged_stays_right(name, run, rng):
    """Where the product is NaN because nothing meets nothing, the merged one may be something."""
    program = program_of(MERGED[name])
    verify(program)
    new = merged(program)
    assert new is not None
    verify(new)
    x, w = (rng.normal(size=(4, 8)).astype(np.float32) for _ in range(2))
    x[1] = x[2] = -np.inf
    x[3, :5] = -np.inf
    given = {
        "x": x,
        "w": abs(w) + 1,
        "other": np.float32([0.3, 1, -np.inf, 2]),
        "y": np.zeros((4, 8), np.float32),
    }
    with np.errstate(all="ignore"):
        before, after = run(program, given)["y"], run(new, given)["y"]
    told = ~np.isnan(before)
    assert told[0].all()
    np.testing.assert_allclose(after[told], before[told], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", KEPT)
def test_near_misses_take_nothing_in(name):
    program = program_of(KEPT[name])
    verify(program)
    assert merged(program) is None
