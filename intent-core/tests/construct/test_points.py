"""Bounds of integer values: all values that the function takes, and no others than it may take."""

from __future__ import annotations

from itertools import product

import pytest

from intent import physical as ph
from intent.construct.facts import Facts
from intent.construct.point import Point, bounded, representable
from intent.construct.pointwise import _bounds_before_cast
from intent.proof import Fact, at_least
from intent.types import dtypes
from intent.types.extent import const, maximum, minimum, symbol

Interval = tuple[int | None, int | None]
FAR = 40
"""Stands for no bound where a function is tried."""

FUNCTIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "minimum": min,
    "maximum": max,
}
INTERVALS: tuple[Interval, ...] = (
    (0, 5), (2, 3), (3, 3), (-4, 6), (-5, -2), (-3, -3), (None, 4), (None, -2), (0, None), (3, None), (-2, None),
    (None, None), (0, 0), (1, 1),
)  # fmt: skip


def point(interval: Interval, number: int, dtype=dtypes.INDEX) -> Point:
    low, high = (None if v is None else const(v) for v in interval)
    return Point(ph.Fragment(id=number, dtype=dtype, dims=()), low=low, high=high)


def values(interval: Interval) -> range:
    low, high = interval
    return range(-FAR if low is None else low, (FAR if high is None else high) + 1)


def bounds_of(fn: str, *intervals: Interval, dtype=dtypes.INDEX) -> Interval:
    points = tuple(point(i, n, dtype) for n, i in enumerate(intervals))
    made = bounded(fn, ph.Fragment(id=9, dtype=dtype, dims=()), frozenset(), points, Facts())
    return tuple(None if e is None else e.const for e in (made.low, made.high))  # type: ignore[return-value]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_every_value_is_within_the_bounds(fn: str) -> None:
    known = 0
    for a, b in product(INTERVALS, repeat=2):
        if fn in ("floordiv", "mod") and (b[0] is None or b[0] < 1):
            continue  # no divisor that is valid input
        low, high = bounds_of(fn, a, b)
        found = {FUNCTIONS[fn](x, y) for x, y in product(values(a), values(b))}
        assert low is None or low <= min(found), f"{fn} of {a} and {b}"
        assert high is None or max(found) <= high, f"{fn} of {a} and {b}"
        known += (low is not None) + (high is not None)
    assert known > 20


@pytest.mark.parametrize(
    ("fn", "a", "b", "wanted"),
    [
        ("add", (0, 5), (-4, 6), (-4, 11)),
        ("add", (0, None), (2, 3), (2, None)),
        ("add", (None, 4), (2, 3), (None, 7)),
        ("sub", (0, 5), (2, 3), (-3, 3)),
        ("sub", (0, None), (None, 4), (-4, None)),
        ("sub", (None, 4), (0, None), (None, 4)),
        ("mul", (2, 3), (3, 3), (6, 9)),
        ("mul", (2, 3), (3, None), (6, None)),
        ("mul", (3, None), (2, 3), (6, None)),
        ("mul", (2, 3), (-4, 6), (None, None)),
        ("mul", (-4, 6), (2, 3), (None, None)),
        ("mul", (None, 4), (2, 3), (None, None)),
        ("floordiv", (0, 5), (3, 3), (0, 1)),
        ("floordiv", (3, None), (3, 3), (0, None)),
        ("floordiv", (-4, 6), (3, 3), (None, 2)),
        ("floordiv", (0, 5), (2, 3), (None, None)),
        ("floordiv", (0, 5), (None, None), (None, None)),
        ("floordiv", (0, 5), (-3, -3), (None, None)),
        ("mod", (None, None), (3, 3), (0, 2)),
        ("mod", (0, 5), (2, 3), (None, None)),
        ("and", (0, 5), (None, None), (0, 5)),
        ("and", (None, None), (2, 3), (0, 3)),
        ("and", (0, None), (2, 3), (0, 3)),
        ("and", (0, None), (-2, None), (None, None)),
        ("and", (-4, 6), (None, 4), (None, None)),
        ("minimum", (0, 5), (2, 3), (0, 3)),
        ("minimum", (0, 5), (None, None), (None, 5)),
        ("minimum", (None, None), (2, 3), (None, 3)),
        ("maximum", (0, 5), (2, 3), (2, 5)),
        ("maximum", (0, 5), (None, None), (0, None)),
        ("maximum", (None, 4), (3, None), (3, None)),
    ],
)
def test_bounds_are_as_tight_as_they_can_be(fn: str, a: Interval, b: Interval, wanted: Interval) -> None:
    assert bounds_of(fn, a, b) == wanted


def test_other_functions() -> None:
    assert bounds_of("neg", (-4, 6)) == (-6, 4)
    assert bounds_of("neg", (0, None)) == (None, 0)
    assert bounds_of("select", (0, 1), (-4, 6), (2, 9)) == (-4, 9)
    assert bounds_of("select", (0, 1), (-4, 6), (None, 9)) == (None, 9)
    assert bounds_of("abs", (-4, 6)) == (None, None)
    assert bounds_of("xor", (0, 5), (0, 5)) == (None, None)


def test_where_neither_bound_is_the_lesser_one() -> None:
    n, m = symbol("N"), symbol("M")
    a, b = (
        Point(ph.Fragment(id=k, dtype=dtypes.INDEX, dims=()), low=e, high=e) for k, e in enumerate((n, m))
    )
    made = ph.Fragment(id=9, dtype=dtypes.INDEX, dims=())
    found = {fn: bounded(fn, made, frozenset(), (a, b), Facts()) for fn in ("minimum", "maximum")}
    assert (found["minimum"].low, found["minimum"].high) == (minimum(n, m),) * 2
    assert (found["maximum"].low, found["maximum"].high) == (maximum(n, m),) * 2
    fact = Fact(claim=at_least(n, m), because="it is checked")
    facts = Facts((fact,))
    known = bounded("minimum", made, frozenset(), (a, b), facts)
    assert (known.low, known.high, known.rests) == (m, m, {fact})
    assert bounded("add", made, frozenset(), (known, a), facts).rests == {fact}


def test_a_narrow_value_that_may_wrap_has_no_bounds() -> None:
    assert bounds_of("add", (0, 200), (0, 50), dtype=dtypes.U8) == (0, 250)
    assert bounds_of("add", (0, 200), (0, 60), dtype=dtypes.U8) == (None, None)
    assert bounds_of("sub", (0, 5), (0, 6), dtype=dtypes.U8) == (None, None)
    assert bounds_of("maximum", (0, 5), (None, None), dtype=dtypes.U64) == (None, None)
    assert bounds_of("maximum", (0, 5), (None, None), dtype=dtypes.I64) == (0, None)
    low, high = const(-(2**31)), const(2**31 - 1)
    assert representable(dtypes.I32, low, high, Facts())
    assert not representable(dtypes.I32, low - 1, high, Facts())
    assert not representable(dtypes.I32, low, high + 1, Facts())
    assert not representable(dtypes.I32, None, high, Facts())
    assert not representable(dtypes.I32, low, None, Facts())


@pytest.mark.parametrize(
    ("dtype", "interval", "wanted"),
    [
        (dtypes.BOOL, (None, None), (0, 1)),
        (dtypes.U8, (None, None), (0, 255)),
        (dtypes.I8, (None, None), (-128, 127)),
        (dtypes.U16, (3, None), (3, 65535)),
        (dtypes.I16, (None, 7), (-32768, 7)),
        (dtypes.I16, (1, 7), (1, 7)),
        (dtypes.U32, (None, None), (0, None)),
        (dtypes.U32, (2, 9), (2, 9)),
        (dtypes.I32, (None, None), (None, None)),
        (dtypes.I32, (None, 9), (None, 9)),
        (dtypes.I32, (2, None), (2, None)),
        (dtypes.U64, (None, None), (None, None)),
        (dtypes.F32, (None, None), (None, None)),
    ],
)
def test_a_narrow_dtype_bounds_what_is_cast(dtype, interval: Interval, wanted: Interval) -> None:
    found = _bounds_before_cast(point(interval, 1), dtype)
    assert tuple(None if e is None else e.const for e in found) == wanted


def test_what_is_known_of_a_value() -> None:
    assert point((3, 3), 1).known is const(3)
    assert point((3, 4), 1).known is None
    assert point((None, None), 1).known is None
