"""Which values show as positive and finite, and between which bounds."""

from __future__ import annotations

import math

import pytest

import intent.physical as ph
from intent.passes.building import Builder
from intent.passes.positive import fixed_extents, positive
from intent.types.dtypes import BF16, F16, F32, F64, I32, INDEX
from intent.types.extent import const, scalar, symbol

N, M = symbol("N"), symbol("M")


def program(*guards: ph.Guard) -> ph.Program:
    body = ph.Region(args=(), ops=())
    segment = ph.Segment(group=0, axes=(), length=const(1), offset=const(0), body=body)
    return ph.Program(name="p", params=(), segments=(segment,), guards=guards)


def bounds(make, *guards):
    """Bounds of the value that ``make(builder)`` gives."""
    base = program(*guards)
    b = Builder(base)
    with b.region():
        return positive(b.known, fixed_extents(base), make(b))


def function(fn, *operands, dtype=F32):
    """An operation as it stands: nothing of it is folded."""

    def made(b):
        given = [f(b) if callable(f) else b.constant(f, dtype) for f in operands]
        result = b.fragment(dtype)
        b.append(ph.Pointwise(id=b.fresh(), results=(result,), fn=fn, operands=tuple(given)))
        return result

    return made


def number(value, dtype=F32):
    return lambda b: b.constant(value, dtype)


def read(dtype=F32):
    return lambda b: b.fragment(dtype)


def cast(of, dtype):
    return lambda b: b.add(ph.Cast, dtype, value=of(b))


def launch(extent):
    return lambda b: b.add(ph.LaunchValue, INDEX, extent=extent)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (number(3.0), 3.0),
        (number(3.0, F16), 3.0),
        (number(7, I32), 7.0),
        (function("mul", 3.0, 0.5), 1.5),
        (function("div", 3.0, 0.5), 6.0),
        (function("sqrt", 16.0), 4.0),
        (function("rsqrt", 16.0), 0.25),
        (function("sqrt", 16.0, dtype=F64), 4.0),
        (cast(number(0.3, F16), F32), 0.3),
        (cast(number(5, I32), F64), 5.0),
        (lambda b: b.broadcast(b.constant(2.0, F32), ()), 2.0),
        (function("mul", function("rsqrt", 64.0), 1.4426950408889634), 0.18033688011112042),
    ],
)
def test_bounds_hold_the_value_and_little_more(make, wanted):
    low, high = bounds(make)
    assert low <= wanted <= high
    assert wanted * (1 - 1e-5) < low
    assert high < wanted * (1 + 1e-5)


@pytest.mark.parametrize(
    "make",
    [
        number(0.0),
        number(-0.0),
        number(-1.0),
        number(math.inf),
        number(math.nan),
        number(2.0**-101),
        number(2.0**101),
        read(),
        function("mul", 2.0**60, 2.0**60),
        function("div", 2.0**-60, 2.0**60),
        function("mul", 3.0, -0.5),
        function("mul", read(), 0.5),
        function("mul", 0.5, read()),
        function("sqrt", read()),
        function("add", 3.0, 0.5),
        function("sub", 3.0, 0.5),
        function("exp", 3.0),
        function("mul", 3.0, 0.5, dtype=F16),
        function("sqrt", 3.0, dtype=BF16),
        function("mul", 2**16, 2**16, dtype=I32),
        cast(number(70000.0), F16),
        cast(number(0.5), I32),
        cast(read(), F32),
        launch(N),
    ],
)
def test_what_does_not_show(make):
    assert bounds(make) is None


def equal(extent, bound=12):
    return ph.Guard(kind="equal", extent=extent, bound=bound)


def test_extents_that_guards_fix():
    assert bounds(launch(N), equal(N)) == (12, 12)
    assert bounds(launch(N * M + 1), equal(N), equal(M, 3)) == (37, 37)


@pytest.mark.parametrize(
    ("extent", "guard"),
    [
        (N, equal(M)),
        (N * M, equal(N)),
        (N - 12, equal(N)),
        (N - 13, equal(N)),
        (N, ph.Guard(kind="at_most", extent=N, bound=12)),
        (N, ph.Guard(kind="divisible", extent=N, bound=12)),
        (N, equal(N + M)),
        (N, equal(N * 2)),
        (N, equal(N + 1)),
        (N, equal(N * N)),
        (scalar("N"), equal(N)),
        (N, equal(scalar("N"))),
        (N, equal(const(12))),
    ],
)
def test_extents_that_guards_do_not_fix(extent, guard):
    assert bounds(launch(extent), guard) is None
