"""Reads that the compiler may take out of a loop test their own bounds."""

from __future__ import annotations

import re

import pytest

import intent
import intent.language as I
from intent.physical import Buffer, Dim, Load
from intent.physical.walk import walk
from intent.types.dtypes import I32, INDEX
from intent.types.extent import const
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emit.ahead import moved_ahead
from intent_testkit.programs.builder import Builder, view


@intent.kernel
def promised(n: I.i32, where: I.i64, x: I.In[I.i32, ("K",)], y: I.Out[I.i32, ()]):
    total = I.cast(0, I.i32)
    j = I.cast(where, I.index)
    for k in range(I.cast(n, I.index)):
        I.assume_in_bounds(j, x, 0)
        total = total * 3 + x[j] + I.cast(k, I.i32)
    y[()] = total


@intent.kernel
def each_of(x: I.In[I.i32, ("K",)], y: I.Out[I.i32, ()]):
    total = I.cast(0, I.i32)
    for k in range(x.shape[0]):
        total = total * 3 + x[k]
    y[()] = total


def reads(kernel):
    return re.findall(r"x\.load_offset\(.*?\n?.*?\)\n", intent.compile(kernel, provider="cutile").source)


def test_the_same_element_in_every_pass():
    (read,) = reads(promised)
    assert ">= 0" in read
    assert "< K" in read


def test_not_elements_that_change_from_pass_to_pass():
    (read,) = reads(each_of)
    assert "mask" not in read


class Loops(Builder):
    """A loop whose body ``read(self, at)`` reads ``x`` and others; ``inner`` is a loop inside of it."""

    def __init__(self, read):
        super().__init__()
        self.x, self.z, self.flags = (
            view("x", "i32", "64"),
            view("z", "i32", "64"),
            view("flags", "bool", "64"),
        )
        self.y = view("y", "i32", "64", "out")
        self.space = Buffer(
            id=9000, name="space", dtype=I32, shape=(const(64),), scope="instance", storage="workspace"
        )
        self.read = read

    def made(self):
        """The program."""

        def body(pid):
            self.pid, self.first = pid, self.constant(3)
            self.outside = self.load(self.z, self.first, name="place")
            ends = (self.constant(0), self.constant(8), self.constant(1))
            self.loop(*ends, [], lambda at: self.store(self.y, [at], self.read(self, at)))

        views = [self.x, self.z, self.flags, self.y]
        return self.program("loops", views, self.segment([("one", const(1), 1)], body))

    def index(self, value):
        return self.cast(value, INDEX)


def in_a_branch(f, at):
    (got,) = f.branch(
        f.load(f.flags, at), lambda: f.load(f.x, f.first), lambda: f.load(f.z, at), like=[f.fragment(I32)]
    )
    return got


def at_what_a_branch_gives(f, at):
    (place,) = f.branch(f.load(f.flags, f.first), lambda: f.first, lambda: f.pid, like=[f.fragment(INDEX)])
    return f.load(f.x, place)


def in_an_inner_loop(f, at):
    ends = (f.constant(0), f.constant(2), f.constant(1))
    (got,) = f.loop(
        *ends, [f.constant(0, I32)], lambda k, total: f.op("add", f.load(f.x, at), f.load(f.z, k))
    )
    return got


def in_an_inner_loop_that_counts(f, at):
    """What is carried changes, too."""
    ends = (f.constant(0), f.constant(2), f.constant(1))
    (got,) = f.loop(
        *ends,
        [f.constant(0, I32)],
        lambda k, total: f.op("add", f.load(f.x, f.index(total)), f.load(f.z, f.first)),
    )
    return got


def while_it_lasts(f, at):
    (got,) = f.while_loop(
        [f.constant(0, I32)],
        lambda n: f.op("lt", n, f.load(f.x, f.first)),
        lambda n: f.op("add", n, f.load(f.z, f.index(n))),
    )
    return got


def of_a_workspace(f, at):
    return f.load(f.space, f.first)


def masked(f, at):
    return f.load(f.x, f.first, valid=f.op("lt", at, f.constant(5)))


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (lambda f, at: f.load(f.x, f.first), ["x"]),
        (lambda f, at: f.load(f.x, at), []),
        (lambda f, at: f.load(f.x, f.pid), ["x"]),
        (lambda f, at: f.load(f.x, f.index(f.outside)), ["x"]),
        (lambda f, at: f.load(f.x, f.index(f.load(f.z, f.first))), ["z", "x"]),
        (lambda f, at: f.load(f.x, f.index(f.load(f.z, at))), []),
        (lambda f, at: f.load(f.x, f.op("add", f.first, f.op("mul", at, f.pid))), []),
        (in_a_branch, ["x"]),
        (at_what_a_branch_gives, ["flags"]),
        (in_an_inner_loop, ["x"]),
        (in_an_inner_loop_that_counts, ["z"]),
        (while_it_lasts, ["x"]),
        (of_a_workspace, []),
        (masked, []),
    ],
)
def test_which_reads_may_be_moved(read, wanted):
    program = Loops(read).made()
    ops = [op for segment in program.segments for op in walk(segment.body) if isinstance(op, Load)]
    ahead = moved_ahead(program)
    assert [op.source.name for op in ops if op.id in ahead] == wanted


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (lambda f, at: f.load(f.x, f.index(f.outside)), "mask=(place >= 0) & (place < 64), padding_value=0)"),
        (
            lambda f, at: f.load(f.x, f.index(f.outside), valid=f.load(f.flags, f.first, name="flag")),
            "mask=flag & (place >= 0) & (place < 64), padding_value=0)",
        ),
        (lambda f, at: f.load(f.x, f.first), "x.load_offset(3 * x_stride_0)"),
        (
            lambda f, at: f.load(f.x, f.index(f.load(f.z, at, name="value"))),
            "x.load_offset(value * x_stride_0)",
        ),
    ],
)
def test_bounds_of_what_may_be_moved(read, wanted):
    assert wanted in " ".join(emit(Loops(read).made()).text.split())


def test_lanes_of_what_may_be_moved_are_in_bounds_already():
    """A row that a number says: the number is tested, and the lanes are not."""
    lane = Dim("n", 16)
    b = Builder(lane)
    x, z, y = view("x", "i32", "64 16"), view("z", "i32", "64"), view("y", "i32", "8 16", "out")

    def body(_):
        place = b.cast(b.load(z, b.constant(3), name="place"), INDEX)
        ends = (b.constant(0), b.constant(8), b.constant(1))
        b.loop(*ends, [], lambda at: b.store(y, [at, b.lane(lane)], b.load(x, place, b.lane(lane))))

    text = emit(b.program("rows", [x, z, y], b.segment([("one", const(1), 1)], body))).text
    (mask,) = re.findall(r"mask=(.*), padding_value", " ".join(text.split()))
    assert mask == "(place >= 0) & (place < 64)"
