"""Bounds of index values: sound for every binding, exact for numbers, and what a launch must find for 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Final

import pytest

from intent.physical import Fragment, Pointwise, Region
from intent.provider.emission import Bounds, Interval, Width
from intent.provider.emission.bounds import INT32_MAX, INT32_MIN, never_negative, of_dtype, pointwise
from intent.types.dtypes import BY_NAME, INDEX
from intent.types.extent import Atom, Extent, Scalar, Symbol, const, maximum, minimum, scalar, symbol

FUNCTIONS: Final[dict[str, Callable[..., int | None]]] = {
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": min,
    "maximum": max,
    "select": lambda a, b: a,
    "floordiv": lambda a, b: a // b if b else None,
    "mod": lambda a, b: a % b if b else None,
}
"""None: not a valid input."""
ARITY: Final = {fn: 1 if fn == "neg" else 2 for fn in FUNCTIONS}


def _extent(rng: Random, depth: int = 2) -> Extent:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([const(rng.randint(-5, 5)), symbol("N"), symbol("M"), scalar("s"), const(0)])
    a, b = _extent(rng, depth - 1), _extent(rng, depth - 1)
    return rng.choice([a + b, a - b, a * b, minimum(a, b), maximum(a, b)])


def _interval(rng: Random) -> Interval:
    low = _extent(rng)
    kind = rng.randrange(4)
    if kind == 0:
        return Interval(low, low)
    above = (const(rng.randint(0, 4)), symbol("N") * symbol("M"), maximum(_extent(rng), 0))[kind - 1]
    return Interval(low, low + above)


def _environment(rng: Random) -> dict[Atom, int]:
    return {Symbol("N"): rng.randint(0, 4), Symbol("M"): rng.randint(0, 4), Scalar("s"): rng.randint(-4, 4)}


def _values(rng: Random, low: int, high: int) -> set[int]:
    return {low, high, rng.randint(low, high)}


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("unknown", [None, 0, 1])
def test_every_value_lies_within(fn: str, unknown: int | None) -> None:
    """``unknown``: the operand of which nothing is known."""
    rng = Random(f"{fn}{unknown}")  # noqa: S311
    found = 0
    for _ in range(150):
        operands: list[Interval | None] = [_interval(rng) for _ in range(ARITY[fn])]
        if unknown is not None and unknown < len(operands):
            operands[unknown] = None
        bound = pointwise(fn, operands)
        env = _environment(rng)
        ends = [(-9, 9) if o is None else (o.low.evaluate(env), o.high.evaluate(env)) for o in operands]
        for values in product(*(_values(rng, *e) for e in ends)):
            value = FUNCTIONS[fn](*values)
            # A divisor that is never negative is not 0 either: its bounds' own values may be.
            if (
                value is None
                or bound is None
                or (fn in ("floordiv", "mod") and ends[1][0] == 0 == ends[1][1])
            ):
                continue
            found += 1
            low, high = bound.low.evaluate(env), bound.high.evaluate(env)
            assert low <= value <= high, f"{fn}{values} is {value}: {operands} gave {bound} under {env}"
    assert found > 100 or unknown is not None


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_bounds_of_numbers_are_the_least(fn: str) -> None:
    rng = Random(fn)  # noqa: S311
    for _ in range(300):
        least = 1 if fn == "floordiv" else 0 if fn == "mod" else -6
        ends = []
        for k in range(ARITY[fn]):
            low = rng.randint(max(least, k if fn == "mod" else least), 6)
            ends.append((low, low + rng.randint(0, 5)))
        if fn == "select":
            ends = [ends[0], ends[0]]
        values = [FUNCTIONS[fn](*v) for v in product(*(range(a, b + 1) for a, b in ends))]
        bound = pointwise(fn, [Interval(const(a), const(b)) for a, b in ends])
        assert bound is not None
        known = [v for v in values if v is not None]
        if fn == "mod":
            assert (bound.low.const, bound.high.const) == (0, ends[1][1] - 1)
        elif fn == "floordiv":
            assert (bound.low.const, bound.high.const) == (0, max(known))
        else:
            assert (bound.low.const, bound.high.const) == (min(known), max(known)), f"{fn} of {ends}"


def test_what_a_division_says_of_numbers_that_are_not_known() -> None:
    n, m = symbol("N"), symbol("M")
    rows = Interval(const(0), n - 1)
    assert pointwise("floordiv", [rows, Interval(m, m)]) == Interval(const(0), (n - 1) // m)
    assert pointwise("floordiv", [rows, Interval(const(4), const(8))]) == Interval(const(0), (n - 1) // 4)
    assert pointwise("floordiv", [rows, Interval(const(0), m)]) == Interval(const(0), n - 1)
    assert pointwise("mod", [None, Interval(m, m)]) == Interval(const(0), m - 1)
    assert pointwise("mul", [rows, Interval(m, m)]) == Interval(const(0), (n - 1) * m)
    assert pointwise("mul", [Interval(-n, n), Interval(const(-2), const(-2))]) == Interval(n * -2, n * 2)
    for fn in ("add", "floordiv", "minimum"):
        assert pointwise(fn, [rows, None]) is None
        assert pointwise(fn, [None, rows]) is None


def test_which_extents_are_never_negative() -> None:
    n, s = symbol("N"), scalar("s")
    yes = (const(0), const(3), n, n * 2 + 1, n * symbol("M"), maximum(s, 0), maximum(-n, n), minimum(n, 4))
    no = (
        const(-1),
        -n,
        s,
        n - 1,
        n * s,
        minimum(n, -1),
        maximum(s, -1),
        minimum(s, n),
        n // s,
        -maximum(n, 0),
    )
    assert [never_negative(e) for e in yes] == [True] * len(yes)
    assert [never_negative(e) for e in no] == [False] * len(no)


@pytest.mark.parametrize(
    ("low", "high", "width"),
    [
        (const(INT32_MIN), const(INT32_MAX), Width.SMALL),
        (const(INT32_MIN - 1), const(0), Width.LONG),
        (const(0), const(INT32_MAX + 1), Width.LONG),
        (const(0), symbol("N"), Width.INDEX),
        (-symbol("N"), const(0), Width.INDEX),
        (symbol("N"), const(INT32_MAX + 1), Width.LONG),
        (const(INT32_MIN - 1), symbol("N"), Width.LONG),
    ],
)
def test_the_type_that_holds_an_interval(low: Extent, high: Extent, width: Width) -> None:
    assert Interval(low, high).width is width


def test_what_a_dtype_says() -> None:
    assert of_dtype(BY_NAME["bool"]) == Interval(const(0), const(1))
    assert of_dtype(BY_NAME["i8"]) == Interval(const(-128), const(127))
    assert of_dtype(BY_NAME["u32"]) == Interval(const(0), const((1 << 32) - 1))
    assert [of_dtype(BY_NAME[name]) for name in ("i64", "u64", "f32")] == [None] * 3


def test_values_that_lean_on_the_launch_are_not_unsigned() -> None:
    bounds, n, s = Bounds(), symbol("N"), scalar("s")
    rows, below, unknown = (Fragment(id=k, dtype=INDEX, dims=()) for k in range(3))
    bounds.bind(rows, Interval(const(0), n - 1))
    bounds.bind(below, Interval(s, n))
    assert bounds.unsigned([])
    assert bounds.unsigned([rows, rows])
    assert not bounds.unsigned([rows, below])
    assert not bounds.unsigned([unknown, rows])
    shifted = Fragment(id=3, dtype=INDEX, dims=())
    division = Pointwise(id=4, results=(shifted,), fn="floordiv", operands=(below, rows))
    bounds.region(Region(args=(), ops=(division,), yields=()))
    assert bounds.floors_by_fact(division)
    assert bounds.launch_signs() == (s,)
    assert not bounds.unsigned([shifted])


def test_a_surely_negative_operand_is_not_left_to_the_launch() -> None:
    bounds, n = Bounds(), symbol("N")
    below, rows, result = (Fragment(id=k, dtype=INDEX, dims=()) for k in range(3))
    bounds.bind(below, Interval(-n, n))
    bounds.bind(rows, Interval(n, n))
    division = Pointwise(id=4, results=(result,), fn="mod", operands=(below, rows))
    bounds.region(Region(args=(), ops=(division,), yields=()))
    assert not bounds.floors_by_fact(division)
    assert not bounds.launch_signs()
    assert bounds.interval(result) == Interval(const(0), n - 1)
