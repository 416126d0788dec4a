"""Reads that lanes share: which ones are made once for several lanes, and that the values are those of every lane."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intent.physical import Buffer, Dim
from intent.provider import Source
from intent.types.dtypes import F32, I32, I64, INDEX
from intent.types.extent import const
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emit.ahead import moved_ahead
from intent_provider_cutile.emit.boxes import Boxes
from intent_provider_cutile.variants import Texts
from intent_testkit.golden import check_golden
from intent_testkit.programs.builder import Builder, view
from intent_testkit.programs.running import run

KEYS, DEPTH, ROWS, STEPS = 64, 16, 16, 2
GOLDENS = Path(__file__).parent / "goldens"
RNG = np.random.default_rng(12)


class Form(Builder):
    """A loop over keys, some lanes at a time: ``y += q @ k[row(t)]``, where ``row`` reads tables at ``t = at + lane``.

    ``at`` counts steps of all lanes from ``begin`` on; ``step`` is another distance between them.
    ``counted``: ``count`` is the number of the step.
    """

    def __init__(self, row, *, lanes=32, begin=0, step=0, counted=False):
        self.keys, self.rows, self.depth = Dim("n", lanes), Dim("m", ROWS), Dim("d", DEPTH)
        super().__init__(self.rows, self.keys, self.depth)
        self.q, self.k = view("q", "f32", f"{ROWS} {DEPTH}"), view("k", "f32", f"{KEYS} {DEPTH}")
        self.table, self.order = view("table", "i32", "1024"), view("order", "i64", "1024")
        self.grid, self.flags = view("grid", "i32", "64 64"), view("flags", "bool", "1024")
        self.reals, self.spare = view("reals", "f32", "1024"), view("spare", "i32", "1024", "inout")
        self.y = view("y", "f32", f"{ROWS} {lanes}", "out")
        self.space = Buffer(
            id=9000, name="space", dtype=I32, shape=(const(64),), scope="invocation", storage="workspace"
        )
        self.row, self.lanes, self.begin, self.stride = row, lanes, begin, step or lanes
        self.counted = counted

    def made(self):
        """The program."""
        segment = self.segment([("one", const(1), 1)], self._body)
        views = (
            self.q,
            self.k,
            self.table,
            self.order,
            self.grid,
            self.flags,
            self.reals,
            self.spare,
            self.y,
        )
        return self.program("form", views, segment, workspace=[self.space])

    def _body(self, pid):
        i, d = self.lane(self.rows), self.lane(self.depth)
        self.pid, self.j = pid, self.lane(self.keys)

        def step(at, total, *count):
            self.count = count
            t = self.op("add", at, self.j)
            keys = self.load(self.k, self.index(self.row(self, t, at)), d)
            product = self.contract(self.load(self.q, i, d), keys, self.depth, dtype=F32, accumulator=total)
            return [product, *(self.by("add", n, 1) for n in count)]

        start = self.broadcast(self.constant(0.0, F32), self.rows, self.keys)
        ends = (self.constant(self.begin), self.constant(self.begin + STEPS * self.stride))
        starts = [start, self.constant(0)] if self.counted else [start]
        total = self.loop(*ends, self.constant(self.stride), starts, step, names=["at", "total"])[0]
        self.store(self.y, [i, self.j], total)

    def index(self, value):
        return value if value.dtype == INDEX else self.cast(value, INDEX)

    def by(self, fn, value, number):
        """A function of a value and a number."""
        return self.op(fn, value, self.constant(number))

    def page(self, t, size, **masked):
        """What the table says of the page of ``t``."""
        return self.load(self.table, self.by("floordiv", t, size), name="page", **masked)

    def below(self, value, number):
        return self.by("lt", value, number)

    def both(self, first, second):
        return self.op("and", first, second)

    def truth(self, value):
        """Whether an element of the flags is set."""
        return self.load(self.flags, value)


def chained(f, t, between=None):
    """``order[table[t // 16]]``, both of which are shared, and something between the two reads."""
    page = f.index(f.page(t, 16))
    if between is not None:
        between(f, t)
    return f.load(f.order, page)


def written(f, t):
    f.store(f.spare, [f.constant(0)], f.constant(7, I32))


def written_in_a_branch(f, t):
    f.branch(f.truth(f.constant(3)), lambda: written(f, t), lambda: None)


def added(f, t):
    f.atomic(f.spare, [f.constant(0)], f.constant(7, I32), read=False)


def in_a_branch(f, t, at):
    """The second read of two stands in a branch of its own."""
    page = f.index(f.page(t, 16))
    (row,) = f.branch(
        f.truth(at),
        lambda: f.load(f.order, page),
        lambda: f.load(f.order, t),
        like=[f.fragment(I64, [f.keys])],
    )
    return row


def one_in_a_branch(f, t, at):
    """Of two reads that a third is computed from one stands beside it."""
    page = f.index(f.page(t, 16))

    def then():
        return f.load(f.order, f.op("add", page, f.index(f.page(t, 8))))

    (row,) = f.branch(f.truth(at), then, lambda: f.load(f.order, t), like=[f.fragment(I64, [f.keys])])
    return row


def of_workspace(f, t, at):
    f.alloc(f.space)
    f.store(f.space, [f.j], f.load(f.table, f.j))
    f.fence(f.space)
    return f.load(f.space, f.by("floordiv", t, 16))


def rows_in(f, t, at):
    """Pages of the table and where a row stands in one: of ``t % 16`` every lane has its own."""
    page = f.by("mod", f.index(f.page(t, 16)), 4)
    return f.op("add", f.by("mul", page, 16), f.by("mod", t, 16))


SHARED = {
    "pages of 16": (lambda f, t, at: f.page(t, 16), {}, [(16, 0)]),
    "as many pages as there are": (lambda f, t, at: f.page(t, 8), {"lanes": 128}, [(8, 0)]),
    "pages as long as a step": (lambda f, t, at: f.page(t, 32), {}, [(32, 0)]),
    "pages longer than a step": (lambda f, t, at: f.page(t, 64), {}, [(32, 0)]),
    "the lane first": (lambda f, t, at: f.page(f.op("add", f.j, at), 16), {}, [(16, 0)]),
    "two addends": (lambda f, t, at: f.page(f.op("add", f.by("mul", f.pid, 48), t), 16), {}, [(16, 0)]),
    "a number as an addend": (lambda f, t, at: f.page(f.by("add", t, 48), 16), {}, [(16, 0)]),
    "lanes alone": (
        lambda f, t, at: f.load(f.table, f.op("add", f.by("floordiv", f.j, 16), at)),
        {},
        [(16, 0)],
    ),
    "spread over rows": (
        lambda f, t, at: f.load(f.table, f.by("floordiv", f.broadcast(t, f.keys), 16)),
        {},
        [(16, 0)],
    ),
    "rows of pages": (rows_in, {}, [(16, 0)]),
    "a table of tables": (lambda f, t, at: chained(f, t), {}, [(16, 0), (16, 0)]),
    "a row of a table": (
        lambda f, t, at: f.load(f.grid, f.op("mod", at, f.constant(5)), f.by("floordiv", t, 16)),
        {},
        [(16, 0)],
    ),
    "pages of two sizes": (
        lambda f, t, at: f.load(f.table, f.op("add", f.by("floordiv", t, 8), f.by("floordiv", t, 16))),
        {},
        [(8, 0)],
    ),
    "two tables": (
        lambda f, t, at: f.load(f.grid, f.by("floordiv", t, 8), f.by("floordiv", t, 16)),
        {},
        [(8, 0)],
    ),
    "long sums": (
        lambda f, t, at: f.load(
            f.table,
            f.by(
                "mod",
                f.op("add", f.by("mul", f.by("floordiv", t, 16), 3), f.by("mul", f.op("add", at, f.pid), 5)),
                500,
            ),
        ),
        {},
        [(16, 0)],
    ),
    "sums of 24 characters": (
        lambda f, t, at: f.load(f.table, f.by("add", f.by("mod", f.by("floordiv", t, 16), 5), 12)),
        {},
        [(16, 0)],
    ),
    "sums of 25 characters": (
        lambda f, t, at: f.load(f.table, f.by("add", f.by("mod", f.by("floordiv", t, 16), 5), 123)),
        {},
        [(16, 0)],
    ),
    "a number that steps carry": (
        lambda f, t, at: f.load(f.table, f.op("add", f.by("floordiv", t, 16), *f.count)),
        {"counted": True},
        [(16, 0)],
    ),
    "a named sum": (
        lambda f, t, at: f.load(
            f.table, f.op("add", f.by("mod", f.by("floordiv", t, 16), 5), f.constant(123), name="where")
        ),
        {},
        [(16, 0)],
    ),
    "times nothing": (
        lambda f, t, at: f.load(f.table, f.by("mul", f.by("floordiv", t, 16), 0)),
        {},
        [(16, 0)],
    ),
    "one of two in a branch": (one_in_a_branch, {}, [(16, 0), (8, 0)]),
    "cast on the way": (
        lambda f, t, at: f.load(f.table, f.index(f.cast(f.by("floordiv", t, 16), I32))),
        {},
        [(16, 0)],
    ),
    "as far as there are keys": (lambda f, t, at: f.page(t, 16, valid=f.below(t, 45)), {}, [(16, 1)]),
    "from the other side": (
        lambda f, t, at: f.page(t, 16, valid=f.op("gt", f.constant(45), t)),
        {},
        [(16, 1)],
    ),
    "up to a key": (lambda f, t, at: f.page(t, 16, valid=f.by("le", t, 44)), {}, [(16, 1)]),
    "a key at least": (
        lambda f, t, at: f.page(t, 16, valid=f.op("ge", f.constant(44), t), fill=f.constant(0, I32)),
        {},
        [(16, 1)],
    ),
    "two ends": (
        lambda f, t, at: f.page(t, 16, valid=f.both(f.below(t, 45), f.below(f.j, 25))),
        {},
        [(16, 2)],
    ),
    "pages that are there": (
        lambda f, t, at: f.page(t, 16, valid=f.below(f.by("floordiv", t, 16), 3)),
        {},
        [(16, 0)],
    ),
    "not the first pages": (
        lambda f, t, at: f.page(t, 16, valid=f.by("gt", f.by("floordiv", t, 16), 1)),
        {},
        [(16, 0)],
    ),
    "pages that are there and keys": (
        lambda f, t, at: f.page(t, 16, valid=f.both(f.below(t, 45), f.below(f.by("floordiv", t, 16), 2))),
        {},
        [(16, 1)],
    ),
    "where a step says so": (lambda f, t, at: f.page(t, 16, valid=f.truth(at)), {}, [(16, 0)]),
    "where a table says so": (
        lambda f, t, at: f.page(t, 16, valid=f.truth(f.by("floordiv", t, 16))),
        {},
        [(16, 0)],
    ),
    "a fill of zero": (
        lambda f, t, at: f.page(t, 16, valid=f.below(t, 45), fill=f.constant(0, I32)),
        {},
        [(16, 1)],
    ),
    "written in a branch before it": (
        lambda f, t, at: (written_in_a_branch(f, t), f.page(t, 16))[1],
        {},
        [(16, 0)],
    ),
    "the second in a branch": (in_a_branch, {}, [(16, 0)]),
    "written between the two": (lambda f, t, at: chained(f, t, written), {}, [(16, 0)]),
    "written in a branch between the two": (
        lambda f, t, at: chained(f, t, written_in_a_branch),
        {},
        [(16, 0)],
    ),
    "added between the two": (lambda f, t, at: chained(f, t, added), {}, [(16, 0)]),
}
"""By name: the row of a key, lanes and steps, and of each shared read the lanes that share and uneven conditions."""

NOT_SHARED = {
    "pages of 4": (lambda f, t, at: f.page(t, 4), {}),
    "pages of 12": (lambda f, t, at: f.page(t, 12), {}),
    "pages of 48": (lambda f, t, at: f.page(t, 48), {}),
    "sixteen lanes": (lambda f, t, at: f.load(f.table, t), {"lanes": 16}),
    "one key, the other way round": (lambda f, t, at: f.page(t, 16, valid=f.op("eq", f.constant(20), t)), {}),
    "every lane": (lambda f, t, at: f.load(f.table, t), {}),
    "steps that are no pages": (lambda f, t, at: f.page(t, 16), {"step": 40}),
    "a beginning in a page": (lambda f, t, at: f.page(t, 16), {"begin": 8}),
    "an addend in a page": (lambda f, t, at: f.page(f.by("add", t, 8), 16), {}),
    "an addend that is read": (lambda f, t, at: f.page(f.op("add", t, f.index(f.load(f.table, at))), 16), {}),
    "two lanes": (lambda f, t, at: f.page(f.op("add", t, f.j), 16), {}),
    "twice a lane": (lambda f, t, at: f.page(f.by("mul", t, 2), 16), {}),
    "backwards": (lambda f, t, at: f.page(f.op("sub", f.constant(96), t), 16), {}),
    "what is read": (lambda f, t, at: f.load(f.table, f.by("floordiv", f.index(f.load(f.table, t)), 16)), {}),
    "within a page": (lambda f, t, at: f.load(f.table, f.by("mod", t, 16)), {}),
    "a page of nobody knows what": (
        lambda f, t, at: f.load(f.table, f.op("floordiv", t, f.by("add", f.pid, 16))),
        {},
    ),
    "every lane a page of its own": (
        lambda f, t, at: f.load(f.table, f.op("floordiv", t, f.by("add", f.j, 16))),
        {},
    ),
    "more than sixteen pages": (lambda f, t, at: f.page(t, 8), {"lanes": 256}),
    "not the first keys": (lambda f, t, at: f.page(t, 16, valid=f.by("gt", t, 20)), {}),
    "one key": (lambda f, t, at: f.page(t, 16, valid=f.by("eq", t, 20)), {}),
    "not one key": (lambda f, t, at: f.page(t, 16, valid=f.by("ne", t, 20)), {}),
    "keys and others": (
        lambda f, t, at: f.page(t, 16, valid=f.op("or", f.below(t, 20), f.by("gt", t, 40))),
        {},
    ),
    "ends and a hole": (lambda f, t, at: f.page(t, 16, valid=f.both(f.below(t, 45), f.by("ne", t, 5))), {}),
    "ends of every lane": (lambda f, t, at: f.page(t, 16, valid=f.op("lt", t, f.by("mul", f.j, 2))), {}),
    "some keys": (lambda f, t, at: f.page(t, 16, valid=f.truth(t)), {}),
    "ends that turn round": (lambda f, t, at: f.page(t, 16, valid=f.below(f.by("mod", t, 16), 5)), {}),
    "another fill": (lambda f, t, at: f.page(t, 16, valid=f.below(t, 45), fill=f.constant(9, I32)), {}),
    "a fill that is read": (
        lambda f, t, at: f.page(t, 16, valid=f.below(t, 45), fill=f.load(f.table, at)),
        {},
    ),
    "real numbers": (lambda f, t, at: f.load(f.reals, f.by("floordiv", t, 16)), {}),
    "a workspace": (of_workspace, {}),
    "the same in every step": (lambda f, t, at: f.load(f.table, f.by("floordiv", f.j, 16)), {}),
}
"""The same of reads that every lane makes for itself."""


def found(program):
    """Of each shared read of a program the lanes that share, and the conditions that are not even."""
    boxes = Boxes(program, moved_ahead(program), wanted=True)
    return [(stepped.size, len(stepped.lanes)) for stepped in boxes.stepped.values()]


def result(form, arrays):
    y = np.zeros((ROWS, form.lanes), np.float32)
    run("cutile", form.made(), arrays | {"y": y, "spare": np.zeros(1024, np.int32)})
    return y


def checked(form, monkeypatch):
    """The values of a form are those of its text that reads every element for itself."""
    arrays = {
        "q": RNG.integers(-4, 5, (ROWS, DEPTH)).astype(np.float32),
        "k": RNG.integers(-4, 5, (KEYS, DEPTH)).astype(np.float32),
        "table": RNG.integers(0, KEYS, 1024).astype(np.int32),
        "order": RNG.integers(0, KEYS, 1024),
        "grid": RNG.integers(0, KEYS, (64, 64)).astype(np.int32),
        "flags": RNG.random(1024) < 0.5,
        "reals": RNG.integers(0, KEYS, 1024).astype(np.float32),
    }
    y = result(form, arrays)
    monkeypatch.setattr(Texts, "of", lambda self, _: self.backward)
    np.testing.assert_array_equal(y, result(form, arrays))
    assert y.any()


@pytest.mark.parametrize("name", SHARED)
def test_shared_reads(name, monkeypatch):
    row, how, wanted = SHARED[name]
    form = Form(row, **how)
    assert found(form.made()) == wanted
    checked(form, monkeypatch)


@pytest.mark.parametrize("name", NOT_SHARED)
def test_reads_of_every_lane(name, monkeypatch):
    row, how = NOT_SHARED[name]
    form = Form(row, **how)
    assert found(form.made()) == []
    checked(form, monkeypatch)


def shown(name):
    """The lines of a form's loop, up to its product."""
    row, how, _ = SHARED[name]
    lines = emit(Form(row, **how).made()).text.splitlines()
    first, last = (
        next(k for k, line in enumerate(lines) if word in line) for word in ("for at", "q_value =")
    )
    return f"# {name}\n" + "\n".join(lines[first:last])


def test_texts_of_shared_reads():
    names = (
        "pages of 16", "pages as long as a step", "as far as there are keys", "two ends", "long sums",
        "sums of 24 characters",
        "a number that steps carry", "a named sum",
        "sums of 25 characters",
        "a table of tables", "a row of a table", "where a table says so", "cast on the way", "rows of pages",
    )  # fmt: skip
    check_golden(GOLDENS / "shared_reads.py.txt", "\n\n".join(map(shown, names)) + "\n")


@pytest.mark.parametrize("name", ["as far as there are keys", "a table of tables", "two ends"])
def test_the_front_end_takes_shared_reads(name):
    row, how, _ = SHARED[name]
    program = Form(row, **how).made()
    emitted = emit(program)
    assert bytecode(Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program))
