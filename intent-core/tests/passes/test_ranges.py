"""Where a predicate can hold and where it must: exactly these blocks are walked, and exactly these without a mask."""

from __future__ import annotations

import sys
from random import Random
from typing import Any, Final

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.narrowing import narrowing
from intent.passes.peeling import peeled
from intent.physical import Fragment, Loop, Program
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.reference import physical

ROWS, COLUMNS, BLOCK = 7, 41, 4


class Fn(I.Enum):
    LT = 0
    LE = 1
    GT = 2
    GE = 3
    EQ = 4


class Place(I.Enum):
    ROW = 0
    SCALAR = 1
    LOADED = 2
    LONG = 3
    TWICE = 4
    ABOVE = 5
    HALF = 6
    NUMBER = 7


class Join(I.Enum):
    NONE = 0
    AND = 1
    OR = 2
    NOT = 3


@intent.fn
def place(which: I.Constexpr[Place], row, w, loaded, long, shift: I.Constexpr[int]):
    if which == Place.ROW:
        found = row + shift
    elif which == Place.SCALAR:
        found = row * 0 + w + shift
    elif which == Place.LOADED:
        found = I.cast(loaded, I.index) - shift
    elif which == Place.LONG:
        found = I.cast(long, I.index) + shift
    elif which == Place.TWICE:
        found = 2 * row - w + shift
    elif which == Place.ABOVE:
        found = I.maximum(row + shift, w)
    elif which == Place.HALF:
        found = I.minimum((row + w) // 2, row + shift)
    else:
        found = row * 0 + 3 * shift
    return found


@intent.fn
def compared(fn: I.Constexpr[Fn], a, b):
    if fn == Fn.LT:
        found = a < b
    elif fn == Fn.LE:
        found = a <= b
    elif fn == Fn.GT:
        found = a > b
    elif fn == Fn.GE:
        found = a >= b
    else:
        found = a == b
    return found


@intent.kernel
def masked(
    x: I.In[I.f32, ("M", "N")],
    loaded: I.In[I.i32, ("M",)],
    long: I.In[I.i64, ("M",)],
    w: I.index,
    y: I.Out[I.f32, ("M",)],
    FIRST: I.Constexpr[Fn],
    FROM: I.Constexpr[Place],
    SECOND: I.Constexpr[Fn],
    TO: I.Constexpr[Place],
    JOIN: I.Constexpr[Join],
    SHIFT: I.Constexpr[int],
    BACK: I.Constexpr[bool],
):
    M, N = x.shape
    rows = I.indices(I.domain(0, M))[:, None]
    columns = I.indices(I.domain(0, N))[None, :]
    given = (rows, w, loaded[...][:, None], long[...][:, None])
    if BACK:
        keep = compared(FIRST, place(FROM, *given, SHIFT) - columns, 5)
    else:
        keep = compared(FIRST, columns, place(FROM, *given, SHIFT))
    other = compared(SECOND, place(TO, *given, 2), columns + 1)
    if JOIN == Join.AND:
        keep = keep & other
    if JOIN == Join.OR:
        keep = keep | other
    if JOIN == Join.NOT:
        keep = ~keep
    y[...] = I.reduce.sum(I.select(keep, x[...], 0.0), axis=1)


_HOLDS: Final = {
    Fn.LT: np.less,
    Fn.LE: np.less_equal,
    Fn.GT: np.greater,
    Fn.GE: np.greater_equal,
    Fn.EQ: np.equal,
}
_STEADY: Final = (Place.ROW, Place.LOADED, Place.NUMBER)
"""Places that sums with cannot wrap, so that a range in which a comparison must hold can be computed."""


class Drawn:
    """One choice of the predicate's parts, with what it means in numpy."""

    def __init__(self, rng: Random) -> None:
        self.parts: dict[str, Any] = {
            "FIRST": rng.choice(list(Fn)), "FROM": rng.choice(list(Place)), "SECOND": rng.choice(list(Fn)),
            "TO": rng.choice(list(Place)), "JOIN": rng.choice(list(Join)), "SHIFT": rng.randint(0, 9),
            "BACK": rng.random() < 0.3,
        }  # fmt: skip
        self.w = rng.randint(-3, COLUMNS + 3)
        self.loaded = np.array([rng.randint(-5, COLUMNS + 5) for _ in range(ROWS)], np.int32)
        wild = (-(1 << 63), (1 << 63) - 1, (1 << 44) + 1, -(1 << 45))
        self.long = np.array(
            [rng.choice(wild) if rng.random() < 0.2 else rng.randint(-5, COLUMNS) for _ in range(ROWS)]
        )

    def place(self, which: Place, row: int, shift: int) -> int:
        """The value in 64 bits, which wrap."""
        value = {
            Place.ROW: row + shift,
            Place.SCALAR: self.w + shift,
            Place.LOADED: int(self.loaded[row]) - shift,
            Place.LONG: int(self.long[row]) + shift,
            Place.TWICE: 2 * row - self.w + shift,
            Place.ABOVE: max(row + shift, self.w),
            Place.HALF: min((row + self.w) // 2, row + shift),
            Place.NUMBER: 3 * shift,
        }[which]
        return _wrapped(value)

    def first(self, row: int) -> Any:
        columns = np.arange(COLUMNS)
        place = self.place(self.parts["FROM"], row, self.parts["SHIFT"])
        if self.parts["BACK"]:
            values = np.array([_wrapped(place - k) for k in range(COLUMNS)])
            return _HOLDS[self.parts["FIRST"]](values, 5)
        return _HOLDS[self.parts["FIRST"]](columns, place)

    def second(self, row: int) -> Any:
        return _HOLDS[self.parts["SECOND"]](self.place(self.parts["TO"], row, 2), np.arange(COLUMNS) + 1)

    def keep(self, row: int) -> Any:
        match self.parts["JOIN"]:
            case Join.AND:
                return self.first(row) & self.second(row)
            case Join.OR:
                return self.first(row) | self.second(row)
            case Join.NOT:
                return ~self.first(row)
        return self.first(row)

    @property
    def has_one_range(self) -> bool:
        """Whether the predicate holds in one range, which can be computed: no sum with a place wraps."""
        join = self.parts["JOIN"]
        used = {self.parts["FROM"], *((self.parts["TO"],) if join is Join.AND else ())}
        return join in (Join.NONE, Join.AND) and Place.LONG not in used

    @property
    def is_steady(self) -> bool:
        """Whether every comparison must hold on one side of a place, and no sum with a place can wrap."""
        join = self.parts["JOIN"]
        fns = {self.parts["FIRST"], *((self.parts["SECOND"],) if join is Join.AND else ())}
        used = {self.parts["FROM"], *((self.parts["TO"],) if join is Join.AND else ())}
        return self.has_one_range and Fn.EQ not in fns and used <= set(_STEADY)


def _wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _blocks(
    program: Program, drawn: Drawn, x: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, dict[bool, dict[int, set[int]]]]:
    """The result, and the first columns of the walked blocks by whether they are tested and by row."""
    found: dict[bool, dict[int, set[int]]] = {False: {}, True: {}}
    (segment,) = program.segments
    tested = {
        op.body.args[0].id: any(getattr(o, "fn", "") in ("lt", "le", "gt", "ge", "eq") and o.result.dims
                                for o in walk(op.body))
        for op in walk(segment.body) if isinstance(op, Loop)
    }  # fmt: skip
    row = -1

    def watch(fragment: Fragment, array: Any, active: Any) -> None:
        nonlocal row
        if fragment == segment.body.args[0]:
            row = int(array[0])
        if fragment.id in tested:
            found[tested[fragment.id]].setdefault(row, set()).add(int(array[0]))

    monkeypatch.setattr(sys.modules["intent.reference.physical.execute"], "BATCH_INSTANCES", 1)
    y = np.full(ROWS, 7, np.float32)
    views = {"x": x, "loaded": drawn.loaded, "long": drawn.long, "y": y}
    extents = {"M": ROWS, "N": COLUMNS, "w": drawn.w}
    physical.execute(program, views, {"w": drawn.w}, extents, watch=watch)
    return y, found


def _walked(drawn: Drawn, row: int, keep: Any, walked: set[int]) -> None:
    """The blocks from the first to the last one in which the predicate holds somewhere, and no other."""
    begins = range(0, COLUMNS, BLOCK)
    held = [b for b in begins if keep[b : b + BLOCK].any()]
    hull = {b for b in begins if held and held[0] <= b <= held[-1]}
    assert walked >= hull
    if drawn.has_one_range and not hull:
        assert len(walked) <= 1, f"row {row}: {sorted(walked)}"  # one that two tests share, but no member of
    elif drawn.has_one_range:
        assert walked == hull, f"row {row}: {sorted(walked)} instead of {sorted(hull)}"


def _untested(drawn: Drawn, row: int, keep: Any, untested: set[int]) -> None:
    """The blocks in which the predicate and the bounds hold on every lane, where that can be told, and no other."""
    full = {b for b in range(0, COLUMNS - BLOCK + 1, BLOCK) if keep[b : b + BLOCK].all()}
    assert untested <= full or drawn.parts["JOIN"] is Join.NOT
    if drawn.is_steady:
        assert untested == full, f"row {row}: {sorted(untested)} instead of {sorted(full)}"


def _drawn(count: int) -> list[Drawn]:
    rng = Random(5)  # noqa: S311
    return [Drawn(rng) for _ in range(count)]


@pytest.mark.parametrize("drawn", _drawn(80), ids=lambda d: "-".join(str(p) for p in d.parts.values()))
@pytest.mark.parametrize("rows", [1, 2])
def test_what_is_walked(drawn: Drawn, rows: int, constructed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).normal(size=(ROWS, COLUMNS)).astype(np.float32)
    keep = np.array([drawn.keep(row) for row in range(ROWS)])
    wanted = np.where(keep, x, 0).sum(1)
    program, kernel = constructed(masked, {"axis_N": BLOCK, "axis_M": rows}, **drawn.parts)
    short = narrowing(program, Permissions())
    for made in (short, peeled(short, wide=1)):
        verify(made, kernel)
        y, walked = _blocks(made, drawn, x, monkeypatch)
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
        for row in range(ROWS) if rows == 1 else ():
            tested, untested = (walked[which].get(row, set()) for which in (True, False))
            _walked(drawn, row, keep[row], tested | untested)
            if made is not short:
                _untested(drawn, row, keep[row], untested)


class Odd(I.Enum):
    STEEP = 0
    BACKWARDS = 1
    SHARED_OUT = 2
    WITHIN = 3
    VARYING = 4
    VARYING_TOO = 5
    BESIDE_A_VALUE = 6
    OR_A_VALUE = 7
    OR_ALWAYS = 8


@intent.kernel
def oddly_masked(
    x: I.In[I.f32, ("M", "N")],
    long: I.In[I.i64, ("M",)],
    near: I.In[I.i32, ("N",)],
    d: I.index,
    y: I.Out[I.f32, ("M",)],
    ODD: I.Constexpr[Odd],
):
    M, N = x.shape
    rows, columns = I.indices(I.domain(0, M))[:, None], I.indices(I.domain(0, N))[None, :]
    if ODD == Odd.STEEP:
        keep = columns < I.cast(long[...][:, None] * 1048576, I.index)
    elif ODD == Odd.BACKWARDS:
        keep = columns < (rows - 20) // -2
    elif ODD == Odd.SHARED_OUT:
        keep = columns < (rows * 9) // d
    elif ODD == Odd.WITHIN:
        keep = (rows * 5 - columns) * 3 >= 0
    elif ODD == Odd.VARYING:
        keep = I.cast(near[...], I.index)[None, :] <= rows
    elif ODD == Odd.VARYING_TOO:
        keep = rows >= I.cast(near[...], I.index)[None, :] + columns * 0
    elif ODD == Odd.BESIDE_A_VALUE:
        keep = (x[...] > 0.0) & (columns <= rows)
    elif ODD == Odd.OR_A_VALUE:
        keep = (columns <= rows) | (x[...] > 0.5)
    else:
        keep = (columns <= rows) | (rows > d)
    y[...] = I.reduce.sum(I.select(keep, x[...], 0.0), axis=1)


@pytest.mark.parametrize("odd", list(Odd))
def test_odd_tests_leave_out_nothing(odd, constructed):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    long = np.array([0, 1, (1 << 45) + 1, -1, 1 << 44, (1 << 43) + 3, -(1 << 45) - 5])
    near = rng.integers(0, ROWS + 3, COLUMNS).astype(np.int32)
    rows, columns, d = np.arange(ROWS)[:, None], np.arange(COLUMNS)[None, :], 3
    with np.errstate(over="ignore"):
        keep = {
            Odd.STEEP: columns < long[:, None] * 1048576,
            Odd.BACKWARDS: columns < (rows - 20) // -2,
            Odd.SHARED_OUT: columns < (rows * 9) // d,
            Odd.WITHIN: columns <= rows * 5,
            Odd.VARYING: near[None, :] <= rows,
            Odd.VARYING_TOO: near[None, :] <= rows,
            Odd.BESIDE_A_VALUE: (x > 0) & (columns <= rows),
            Odd.OR_A_VALUE: (columns <= rows) | (x > 0.5),
            Odd.OR_ALWAYS: (columns <= rows) | (rows > d),
        }[odd]
    for blocks in ({"axis_N": BLOCK, "axis_M": 1}, {"axis_N": BLOCK, "axis_M": 8}):
        program, kernel = constructed(oddly_masked, blocks, ODD=odd)
        short = narrowing(program, Permissions())
        for made in (short, peeled(short, wide=1)):
            verify(made, kernel)
            y = np.full(ROWS, 7, np.float32)
            views = {"x": x, "long": long, "near": near, "y": y}
            physical.execute(made, views, {"d": d}, {"M": ROWS, "N": COLUMNS, "d": d})
            np.testing.assert_allclose(y, np.where(keep, x, 0).sum(1), rtol=1e-4, atol=1e-5)
