"""Which accesses are tiles of their arrays, and that the values are those of element offsets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intent.physical import Buffer, Dim
from intent.types.dtypes import F32, INDEX
from intent.types.extent import const
from intent_provider_cutile.emit import emit
from intent_provider_cutile.variants import Texts
from intent_testkit.golden import check_golden
from intent_testkit.programs.builder import Builder, view
from intent_testkit.programs.running import run

GOLDENS = Path(__file__).parent / "goldens"
ALL, SIZE = 64, 16


class Blocks(Builder):
    """Blocks of rows of ``a`` times ``b``, four instances; ``body(self, at)`` writes one of two passes of each.

    ``at`` is 0 and then ``step``; rows and columns are lanes of 16.
    """

    def __init__(self, body, *, begin=0, step=16):
        self.m, self.n, self.k = Dim("m", SIZE), Dim("n", SIZE), Dim("k", SIZE)
        super().__init__(self.m, self.n, self.k)
        self.a, self.b = view("a", "f32", f"{ALL} {ALL}"), view("b", "f32", f"{SIZE} {SIZE}")
        self.vector, self.deep = view("vector", "f32", str(ALL)), view("deep", "f32", f"4 {ALL} {ALL}")
        self.places = view("places", "i32", "4")
        self.y, self.z = (
            view("y", "f32", f"{ALL} {ALL}", "inout"),
            view("z", "f32", f"4 {ALL} {SIZE}", "inout"),
        )
        size = (const(SIZE), const(SIZE))
        self.space = Buffer(
            id=9000, name="space", dtype=F32, shape=size, scope="instance", storage="workspace"
        )
        self.body, self.begin, self.stride = body, begin, step

    def made(self):
        views = (self.a, self.b, self.vector, self.deep, self.places, self.y, self.z)
        return self.program(
            "blocks", views, self.segment([("m", const(4), 1)], self._segment), workspace=[self.space]
        )

    def _segment(self, pid):
        self.pid = pid
        self.i, self.j, self.p = (self.lane(d) for d in (self.m, self.n, self.k))
        self.weights = self.load(self.b, self.p, self.j)

        def step(at):
            self.body(self, at)

        ends = (
            self.constant(self.begin),
            self.constant(self.begin + 2 * self.stride),
            self.constant(self.stride),
        )
        self.loop(*ends, [], step, names=["at"])

    def by(self, fn, value, number):
        return self.op(fn, value, self.constant(number))

    def add(self, first, second):
        return self.op("add", first, second)

    def rows(self, number=SIZE):
        """Rows of an instance's block."""
        return self.add(self.by("mul", self.pid, number), self.i)

    def product(self, left):
        return self.contract(left, self.weights, self.k, dtype=F32)

    def write(self, left, row=None, column=None):
        row = self.rows() if row is None else row
        self.store(self.y, [row, self.j if column is None else column], self.product(left))

    def base(self, make):
        """Rows from a number on."""
        return self.add(make(self), self.i)

    def place(self, number=0):
        """A number that is read."""
        return self.cast(self.load(self.places, self.constant(number)), INDEX)


def read(row, column=lambda f, at: f.p):
    """What is read at a row and a column; what is written has its place."""
    return lambda f, at: f.write(f.load(f.a, row(f, at), column(f, at)))


def written(row, column=lambda f, at: f.j):
    """What is written at a row and a column; what is read is a tile."""
    return lambda f, at: f.write(f.load(f.a, f.rows(), f.p), row(f, at), column(f, at))


def based(make):
    """Rows that are read from a number on."""
    return read(lambda f, at: f.add(make(f, at), f.i))


def turned(f, at):
    f.write(f.load(f.a, f.p, f.add(at, f.i)))


def deep(f, at):
    left = f.load(f.deep, f.pid, f.add(at, f.i), f.p)
    f.store(f.z, [f.pid, f.add(at, f.i), f.j], f.product(left))


def third(f, at):
    left = f.load(f.deep, f.constant(2), f.add(at, f.i), f.p)
    f.store(f.z, [f.constant(1), f.add(at, f.i), f.j], f.product(left))


def beside(make):
    """Something else is added to the product of tiles."""

    def body(f, at):
        made = f.op("add", f.product(f.load(f.a, f.rows(), f.p)), make(f, at))
        f.store(f.y, [f.rows(), f.j], made)

    return body


def colliding(f, at):
    """Lanes of a third dim write the same elements."""
    made = f.product(f.load(f.a, f.rows(), f.p))
    f.store(f.y, [f.rows(), f.j], made, dims=(f.m, f.n, f.k))


def through_a_workspace(f, at):
    f.alloc(f.space)
    f.store(f.space, [f.i, f.p], f.load(f.a, f.rows(), f.p))
    f.fence(f.space)
    f.write(f.load(f.space, f.i, f.p))


def masked(f, at):
    row = f.rows()
    f.write(f.load(f.a, row, f.p, valid=f.by("lt", row, 50)))


def masked_write(f, at):
    row = f.rows()
    f.store(f.y, [row, f.j], f.product(f.load(f.a, row, f.p)), valid=f.by("lt", row, 50))


TILES = {
    "rows of an instance": (read(lambda f, at: f.rows()), {}, 2),
    "lanes alone": (read(lambda f, at: f.i), {}, 2),
    "lanes first": (read(lambda f, at: f.add(f.i, f.by("mul", f.pid, 16))), {}, 2),
    "the number first": (based(lambda f, at: f.op("mul", f.constant(16), f.pid)), {}, 2),
    "three blocks on": (based(lambda f, at: f.by("mul", f.by("floordiv", f.pid, 3), 48)), {}, 2),
    "a number": (based(lambda f, at: f.constant(32)), {}, 2),
    "the beginning": (based(lambda f, at: f.constant(0)), {}, 2),
    "the loop's index": (based(lambda f, at: at), {}, 2),
    "a loop from 16 on": (based(lambda f, at: at), {"begin": 16}, 2),
    "a loop by 32": (based(lambda f, at: at), {"step": 32}, 2),
    "twice the index": (based(lambda f, at: f.by("mul", at, 2)), {}, 2),
    "a multiple of the index": (based(lambda f, at: f.op("mul", f.by("floordiv", f.pid, 2), at)), {}, 2),
    "the lesser": (based(lambda f, at: f.by("minimum", at, 32)), {}, 2),
    "the greater": (based(lambda f, at: f.by("maximum", at, 16)), {}, 2),
    "a sum": (based(lambda f, at: f.add(f.by("mul", f.by("floordiv", f.pid, 2), 32), at)), {}, 2),
    "a difference": (based(lambda f, at: f.op("sub", f.constant(48), at)), {}, 2),
    "negated": (based(lambda f, at: f.op("sub", f.constant(16), f.op("neg", at))), {}, 2),
    "columns, too": (read(lambda f, at: f.rows(), lambda f, at: f.add(at, f.p)), {}, 2),
    "turned": (turned, {}, 2),
    "one of four": (deep, {}, 2),
    "the third": (third, {}, 2),
    "other columns are written": (written(lambda f, at: f.rows(), lambda f, at: f.add(at, f.j)), {}, 2),
    "spread": (read(lambda f, at: f.broadcast(f.i, f.m)), {}, 2),
    "through a workspace": (through_a_workspace, {}, 2),
    "a row beside": (beside(lambda f, at: f.load(f.a, f.pid, f.j)), {}, 2),
    "a vector beside": (beside(lambda f, at: f.load(f.vector, f.rows())), {}, 2),
    "a diagonal beside": (beside(lambda f, at: f.load(f.a, f.i, f.i)), {}, 2),
    "a tile beside": (beside(lambda f, at: f.load(f.a, f.i, f.j)), {}, 3),
    "a skew tile beside": (beside(lambda f, at: f.load(f.a, f.add(f.i, f.j), f.j)), {}, 2),
}
"""By name: a pass, how the loop goes, and how many reads are tiles; what is written is one."""

READ_BY_OFFSETS = {
    "half a block on": (based(lambda f, at: f.by("mul", f.pid, 8)), {}),
    "half a block before": (based(lambda f, at: f.op("mul", f.constant(8), f.pid)), {}),
    "a number in a block": (based(lambda f, at: f.constant(24)), {}),
    "a loop from 8 on": (based(lambda f, at: at), {"begin": 8}),
    "a loop by 8": (based(lambda f, at: at), {"step": 8}),
    "a sum with 8": (based(lambda f, at: f.by("add", at, 8)), {}),
    "at most 20": (based(lambda f, at: f.by("minimum", f.by("add", at, 16), 20)), {}),
    "a quotient of multiples": (based(lambda f, at: f.by("floordiv", at, 16)), {}),
    "a skew plane": (lambda f, at: f.write(f.load(f.deep, f.by("mod", f.i, 4), f.rows(), f.p)), {}),
    "half of the index": (based(lambda f, at: f.by("floordiv", at, 2)), {}),
    "the rest of the index": (based(lambda f, at: f.by("mod", f.by("add", at, 32), 13)), {}),
    "three times the instance": (based(lambda f, at: f.by("mul", f.pid, 3)), {}),
    "a number that is read": (based(lambda f, at: f.place()), {}),
    "a number that is read beside": (based(lambda f, at: f.add(at, f.place())), {}),
    "a launch's number": (based(lambda f, at: f.pid), {}),
    "every second row": (read(lambda f, at: f.by("mul", f.i, 2)), {}),
    "backwards": (read(lambda f, at: f.op("sub", f.constant(48), f.i)), {}),
    "two lanes": (read(lambda f, at: f.add(f.i, f.i)), {}),
    "no lane": (read(lambda f, at: f.add(f.by("floordiv", f.i, 2), f.by("mul", f.pid, 16))), {}),
    "columns in a block": (read(lambda f, at: f.rows(), lambda f, at: f.by("add", f.p, 8)), {}),
    "masked": (masked, {}),
}  # fmt: skip
"""The same where ``a`` is read by offsets: one read is a tile."""

WRITTEN_BY_OFFSETS = {
    "half a block on": written(lambda f, at: f.add(f.by("mul", f.pid, 8), f.i)),
    "other columns": written(lambda f, at: f.rows(), lambda f, at: f.by("add", f.j, 8)),
    "colliding": colliding,
    "masked": masked_write,
}
"""Two reads are tiles, and what is written is none."""


def result(program):
    rng = np.random.default_rng(5)
    arrays = {name: rng.integers(-4, 5, shape).astype(np.float32) for name, shape in SHAPES.items()}
    run("cutile", program, arrays | {"places": np.array([5, 0, 0, 0], np.int32)})
    return arrays["y"], arrays["z"]


SHAPES = {
    "a": (ALL, ALL), "b": (SIZE, SIZE), "vector": (ALL,), "deep": (4, ALL, ALL), "y": (ALL, ALL), "z": (4, ALL, SIZE),
}  # fmt: skip


def agrees(program, monkeypatch, *, reads, writes):
    text = emit(program).text
    assert (text.count("ct.load("), text.count("ct.store(")) == (reads, writes)
    usual = result(program)
    monkeypatch.setattr(Texts, "of", lambda self, _: self.backward)
    for one, other in zip(usual, result(program), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", TILES)
def test_tiles(name, monkeypatch):
    body, how, reads = TILES[name]
    agrees(Blocks(body, **how).made(), monkeypatch, reads=reads, writes=1)


@pytest.mark.parametrize("name", READ_BY_OFFSETS)
def test_reads_by_offsets(name, monkeypatch):
    body, how = READ_BY_OFFSETS[name]
    agrees(Blocks(body, **how).made(), monkeypatch, reads=1, writes=1)


@pytest.mark.parametrize("name", WRITTEN_BY_OFFSETS)
def test_writes_by_offsets(name, monkeypatch):
    agrees(Blocks(WRITTEN_BY_OFFSETS[name]).made(), monkeypatch, reads=2, writes=0)


def test_texts_of_tiles():
    texts = []
    for name, (body, how, _) in TILES.items():
        lines = emit(Blocks(body, **how).made()).text.splitlines()
        texts.append("\n".join([f"# {name}", *(line for line in lines if "_tiles, " in line)]))
    check_golden(GOLDENS / "tiles.py.txt", "\n\n".join(texts) + "\n")
