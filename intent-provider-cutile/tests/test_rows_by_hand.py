"""Which passes over rows have them as slices, and that the values are those of element offsets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intent.physical import Buffer, Dim
from intent.types.dtypes import BOOL, F32, I32, INDEX
from intent.types.extent import const
from intent_provider_cutile.emit import emit
from intent_provider_cutile.variants import Texts
from intent_testkit.golden import check_golden
from intent_testkit.programs.builder import Builder, view
from intent_testkit.programs.running import run

GOLDENS = Path(__file__).parent / "goldens"
RNG = np.random.default_rng(13)
ALL, SIZE = 64, 16


class Passes(Builder):
    """A loop over rows, 16 at a time: ``body(self, t)`` writes a pass over the rows ``t = at + lane``.

    ``first`` and ``last`` are read from memory: they bound the rows that the usual pass writes. ``begin`` is 0.
    """

    def __init__(self, body, *, carried=False):
        self.rows, self.columns, self.depth = Dim("n", SIZE), Dim("e", SIZE), Dim("d", SIZE)
        super().__init__(self.rows, self.columns, self.depth)
        shape = f"{ALL} {SIZE}"
        self.x, self.w, self.ends = (
            view("x", "f32", shape),
            view("w", "f32", f"{SIZE} {SIZE}"),
            view("ends", "i32", "4"),
        )
        self.more, self.flags = view("more", "f32", str(ALL)), view("flags", "bool", str(ALL))
        self.y, self.z = view("y", "f32", shape, "inout"), view("z", "f32", shape, "inout")
        self.deep = view("deep", "f32", f"4 {ALL} {SIZE}", "inout")
        self.counts = view("counts", "i32", str(ALL), "inout")
        self.space = Buffer(
            id=9000, name="space", dtype=F32, shape=(const(16),), scope="instance", storage="workspace"
        )
        self.body, self.carried = body, carried

    def made(self):
        segment = self.segment([("one", const(1), 1)], self._segment)
        views = (self.x, self.w, self.ends, self.more, self.flags, self.y, self.z, self.deep, self.counts)
        return self.program("passes", views, segment, workspace=[self.space])

    def _segment(self, pid):
        self.pid = pid
        self.first, self.last, self.middle = (
            self.cast(self.load(self.ends, self.constant(k)), INDEX, name=name)
            for k, name in enumerate(("begin", "end", "middle"))
        )
        self.lanes, self.j, self.d = (self.lane(d) for d in (self.rows, self.columns, self.depth))
        self.weights = self.load(self.w, self.d, self.j)
        self.outside = self.op("add", self.lanes, self.constant(16))
        self.fixed = self.between(self.outside)

        def step(at, *carried):
            self.at = at
            self.body(self, self.op("add", at, self.lanes, name="t"))
            return [self.op("add", c, at) for c in carried]

        ends = (self.constant(0), self.constant(ALL), self.constant(SIZE))
        self.loop(*ends, [self.constant(0)] if self.carried else [], step, names=["at"])

    def by(self, fn, value, number):
        return self.op(fn, value, self.constant(number))

    def both(self, *tests):
        first, *others = tests
        for other in others:
            first = self.op("and", first, other)
        return first

    def between(self, t):
        """Whether rows are among those that are written."""
        return self.both(self.op("ge", t, self.first), self.op("lt", t, self.last))

    def product(self, t, valid, **fill):
        """The rows of ``x`` times ``w``."""
        left = self.load(self.x, t, self.d, valid=valid, **fill)
        return self.contract(left, self.weights, self.depth, dtype=F32)

    def write(self, t, valid, value=None, into=None):
        value = self.product(t, valid) if value is None else value
        self.store(into or self.y, [t, self.j], value, valid=valid)


def usual(f, t):
    f.write(t, f.between(t))


def where(make):
    """The usual pass over rows for which another condition holds."""
    return lambda f, t: f.write(t, make(f, t))


def at_rows(make):
    """The usual pass over other rows."""
    return lambda f, t: f.write(make(f, t), f.both(f.between(make(f, t)), f.by("ge", make(f, t), 0)))


def same_rows(make):
    """The usual pass over other rows, whose number is computed once."""

    def body(f, t):
        row = make(f, t)
        f.write(row, f.both(f.between(row), f.by("ge", row, 0), f.by("lt", row, ALL)))

    return body


def valued(make):
    """The usual rows, and a value for them."""

    def body(f, t):
        valid = f.between(t)
        f.write(t, valid, make(f, t, valid, f.product(t, valid)))

    return body


def two(f, t):
    valid = f.between(t)
    made = f.product(t, valid)
    f.write(t, valid, made)
    f.write(t, valid, f.op("neg", made), into=f.z)


def in_a_branch(f, t):
    valid = f.between(t)
    f.branch(f.by("lt", f.at, 32), lambda: f.write(t, valid), lambda: f.write(t, valid, into=f.z))


def beside(effect):
    """The usual pass, and something else."""

    def body(f, t):
        valid = f.between(t)
        made = f.product(t, valid)
        effect(f, t, valid, made)
        f.write(t, valid, made)

    return body


def behind(effect):
    """The same in the other order."""

    def body(f, t):
        valid = f.between(t)
        made = f.product(t, valid)
        f.write(t, valid, made)
        effect(f, t, valid, made)

    return body


def counted(f, t, valid, made):
    f.atomic(f.counts, [f.at], f.constant(1, I32), read=False)


def fenced(f, t, valid, made):
    f.fence(f.y)


def allocated(f, t, valid, made):
    f.alloc(f.space)


def other_condition(f, t, valid, made):
    f.write(t, f.op("lt", t, f.middle), made, into=f.z)


def no_condition(f, t, valid, made):
    f.store(f.z, [t, f.j], made)


def other_rows(f, t, valid, made):
    after = f.op("mod", f.by("add", t, 1), f.constant(ALL))
    f.store(f.z, [after, f.j], made, valid=valid)


def turned(f, t, valid, made):
    """Rows of the other array are its columns, of which there are 16."""
    column = f.by("mod", t, 16)
    f.store(f.z, [f.j, column], made, valid=valid)


def more_dims(f, t):
    valid = f.op("and", f.between(t), f.by("lt", f.j, 9))
    f.write(t, valid, f.product(t, f.between(t)))


def no_rows(f, t):
    """Nothing is written for rows, only for a pass."""
    total = f.reduce(f.product(t, f.between(t)), f.rows)
    f.store(f.z, [f.by("floordiv", f.at, 16), f.j], total)


def scanned(f, t, valid, made):
    return f.scan(made, f.rows)


def renamed(f, t, valid, made):
    """A product of the rows with themselves."""
    spread = f.rename(f.load(f.x, t, f.d, valid=valid), f.rows, f.columns)
    return f.contract(f.load(f.x, t, f.d, valid=valid), spread, f.depth, dtype=F32)


def read_before(f, t, valid, made):
    return f.op("add", made, f.load(f.x, f.lanes, f.j))


def read_otherwise(f, t, valid, made):
    inside = f.by("mod", t, ALL)
    return f.op("add", made, f.load(f.x, inside, f.j))


def read_under_another(f, t, valid, made):
    return f.op("add", made, f.load(f.x, t, f.j, valid=f.op("lt", t, f.middle)))


def read_elsewhere(f, t, valid, made):
    before = f.op("maximum", f.by("sub", t, 1), f.constant(0))
    return f.op("add", made, f.load(f.x, before, f.j, valid=valid))


def beside_of(f, t, valid, made):
    return f.op("add", made, f.load(f.more, t, valid=valid))


def in_columns(f, t, valid, made):
    """What is read has the rows along both axes."""
    column = f.by("mod", t, SIZE)
    return f.op("add", made, f.load(f.x, t, column, valid=valid))


def chosen(f, t, valid, made):
    return f.op("select", f.by("lt", t, 20), made, f.op("neg", made))


def numbered(f, t, valid, made):
    return f.op("add", made, f.cast(t, F32))


def only_numbers(f, t, valid, made):
    return f.cast(t, F32)


def masked(f, t, valid, made):
    return f.op("select", valid, made, f.op("neg", made))


def filled(number):
    return lambda f, t, valid, made: f.product(t, valid, fill=f.constant(number, F32))


def bits_of_numbers(f, t, valid, made):
    return f.op("add", made, f.bitcast(f.cast(t, I32), F32))


def one_beside(f, t, valid, made):
    """One element is read where there are rows."""
    return f.op("add", made, f.load(f.more, f.at, valid=valid))


def in_one_row(f, t):
    """All lanes write one row."""
    total = f.reduce(f.product(t, f.between(t)), f.rows)
    row = f.by("floordiv", f.at, SIZE)
    f.store(f.z, [row, f.j], total, valid=f.between(t), dims=(f.rows, f.columns))


def a_row_for_a_pass(f, t, valid, made):
    row = f.by("floordiv", f.at, SIZE)
    f.store(f.z, [row, f.j], f.load(f.w, row, f.j))


def out_of_a_branch(f, t, valid, made):
    numbers = f.broadcast(f.cast(t, F32), f.columns)
    (chosen,) = f.branch(f.load(f.flags, f.at), lambda: numbers, lambda: made, like=[made])
    return chosen


def elsewhere(make):
    """The rows of a pass, written somewhere else."""

    def body(f, t):
        f.write(make(f, t), f.between(t))

    return body


def into_one_of_four(f, t):
    valid = f.between(t)
    f.store(f.deep, [f.constant(1), t, f.j], f.product(t, valid), valid=valid)


def with_lines(f, t):
    """Operations stand for lines of the author."""
    f.line = "span = rows[begin:end]"
    valid = f.between(t)
    f.line = "y[span, :] = x[span, :] @ w"
    f.write(t, valid)


CUT = {
    "the usual rows": (usual, 2),
    "the lane first": (same_rows(lambda f, t: f.op("add", f.lanes, f.at)), 2),
    "rows before": (same_rows(lambda f, t: f.by("sub", t, 5)), 2),
    "rows after": (same_rows(lambda f, t: f.op("add", f.first, t)), 2),
    "spread": (same_rows(lambda f, t: f.broadcast(t, f.rows)), 2),
    "the other way round": (
        where(lambda f, t: f.both(f.op("le", f.first, t), f.op("gt", f.last, t))), 2
    ),
    "a condition spread": (where(lambda f, t: f.broadcast(f.between(t), f.rows)), 2),
    "one end": (where(lambda f, t: f.op("lt", t, f.last)), 2),
    "three conditions": (
        where(lambda f, t: f.both(f.between(t), f.op("le", f.lanes, f.middle))), 2
    ),
    "a condition of the pass": (
        where(lambda f, t: f.both(f.between(t), f.load(f.flags, f.at))), 2
    ),
    "no rows at all": (where(lambda f, t: f.both(f.op("lt", t, f.first), f.op("gt", t, f.last))), 2),
    "rows computed twice": (at_rows(lambda f, t: f.by("add", t, 3)), 2),
    "two arrays": (two, 3),
    "in a branch": (in_a_branch, 3),
    "into one of four": (into_one_of_four, 2),
    "with lines": (with_lines, 2),
    "a fill of zero": (valued(filled(0.0)), 2),
    "a sum of what is read": (valued(lambda f, t, valid, made: f.op("add", made, f.load(f.x, t, f.j, valid=valid))), 2),
    "another column": (
        valued(lambda f, t, valid, made: f.op("add", made, f.reduce(f.load(f.x, t, f.d, valid=valid), f.depth))), 2
    ),
}  # fmt: skip
"""By name: the pass, and how many slices it has."""

WHOLE = {
    "every second row": same_rows(lambda f, t: f.by("mul", t, 2)),
    "every row twice": same_rows(lambda f, t: f.by("floordiv", t, 2)),
    "backwards": same_rows(lambda f, t: f.op("sub", f.constant(60), t)),
    "two lanes": same_rows(lambda f, t: f.op("add", t, f.lanes)),
    "rows that are read": same_rows(
        lambda f, t: f.cast(f.load(f.counts, t), INDEX)
    ),
    "one row": where(lambda f, t: f.op("eq", t, f.first)),
    "not one row": where(lambda f, t: f.both(f.between(t), f.op("ne", t, f.middle))),
    "two runs": where(lambda f, t: f.op("or", f.op("lt", t, f.first), f.op("ge", t, f.last))),
    "where flags say so": where(lambda f, t: f.both(f.between(t), f.load(f.flags, t))),
    "not beyond": where(lambda f, t: f.op("not", f.op("ge", t, f.last))),
    "half of the lanes": where(lambda f, t: f.op("lt", f.by("mul", f.lanes, 2), f.last)),
    "lanes against rows": where(lambda f, t: f.op("lt", t, f.by("mul", f.lanes, 3))),
    "conditions of columns": more_dims,
    "rows outside of the loop": lambda f, t: f.write(f.outside, f.between(f.outside)),
    "a condition outside of the loop": lambda f, t: f.write(f.op("add", f.lanes, f.constant(16)), f.fixed),
    "no rows are written": no_rows,
    "nothing is written": lambda f, t: f.product(t, f.between(t)),
    "all in one row": in_one_row,
    "a row for a pass beside": beside(a_row_for_a_pass),
    "a row for a pass behind": behind(a_row_for_a_pass),
    "no condition behind": behind(no_condition),
    "another condition behind": behind(other_condition),
    "other rows behind": behind(other_rows),
    "an atomic behind": behind(counted),
    "rows in another order": elsewhere(lambda f, t: f.by("mod", f.by("mul", t, 5), ALL)),
    "every row twice, from one on": elsewhere(lambda f, t: f.op("add", f.constant(1), f.by("floordiv", t, 2))),
    "where a number is none": where(
        lambda f, t: f.both(f.between(t), f.cast(f.cast(f.op("sub", t, f.middle), I32), BOOL))
    ),
    "bits of numbers": valued(bits_of_numbers),
    "an element beside": valued(one_beside),
    "numbers out of a branch": valued(out_of_a_branch),
    "an atomic beside": beside(counted),
    "a fence beside": beside(fenced),
    "a buffer beside": beside(allocated),
    "another condition beside": beside(other_condition),
    "no condition beside": beside(no_condition),
    "other rows beside": beside(other_rows),
    "columns beside": beside(turned),
    "scanned": valued(scanned),
    "renamed": valued(renamed),
    "read before the loop": valued(read_before),
    "read at all rows": valued(read_otherwise),
    "read under another condition": valued(read_under_another),
    "read elsewhere": valued(read_elsewhere),
    "a vector beside": valued(beside_of),
    "rows in columns": valued(in_columns),
    "chosen by number": valued(chosen),
    "numbered": valued(numbered),
    "only numbers": valued(only_numbers),
    "masked": valued(masked),
    "a fill of one": valued(filled(1.0)),
}  # fmt: skip
"""Passes of which no array is cut, by name."""


def results(program):
    """What the program writes for several pairs of ends."""
    rng, found = np.random.default_rng(3), []
    x, w = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((ALL, SIZE), (SIZE, SIZE)))
    for ends in ((3, 50, 20), (16, 32, 5), (20, 21, 99), (33, 33, 0), (0, 64, 40)):
        written = [np.full((ALL, SIZE), 7, np.float32) for _ in range(2)]
        deep = np.full((4, ALL, SIZE), 7, np.float32)
        counts = rng.permutation(ALL).astype(np.int32)
        run(
            "cutile", program,
            {
                "x": x, "w": w, "ends": np.array([*ends, 0], np.int32), "y": written[0], "z": written[1],
                "more": rng.integers(-4, 5, ALL).astype(np.float32), "flags": rng.random(ALL) < 0.7, "counts": counts,
                "deep": deep,
            },
        )  # fmt: skip
        found += [*written, deep, counts]
    return found


def agrees(program, monkeypatch):
    usual = results(program)
    monkeypatch.setattr(Texts, "of", lambda self, _: self.backward)
    by_offsets = results(program)
    for one, other in zip(usual, by_offsets, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any((array != 7).any() for array in by_offsets)


@pytest.mark.parametrize("name", CUT)
def test_rows_as_slices(name, monkeypatch):
    body, count = CUT[name]
    program = Passes(body).made()
    assert emit(program).text.count(".slice(") == count
    agrees(program, monkeypatch)


@pytest.mark.parametrize("name", WHOLE)
def test_rows_by_offsets(name, monkeypatch):
    program = Passes(WHOLE[name]).made()
    assert ".slice(" not in emit(program).text
    agrees(program, monkeypatch)


def test_loops_that_carry_something_keep_to_offsets(monkeypatch):
    program = Passes(usual, carried=True).made()
    assert ".slice(" not in emit(program).text
    agrees(program, monkeypatch)


def shown(name):
    body, _ = CUT[name]
    lines = emit(Passes(body).made()).text.splitlines()
    return f"# {name}\n" + "\n".join(lines[next(k for k, line in enumerate(lines) if "for at" in line) :])


def test_texts_of_rows():
    names = (
        "the usual rows",
        "three conditions",
        "two arrays",
        "in a branch",
        "another column",
        "with lines",
    )
    check_golden(GOLDENS / "rows.py.txt", "\n\n".join(map(shown, names)) + "\n")
