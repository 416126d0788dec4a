"""The rule ``fenced``: which accesses of one instance need a fence in between."""

from __future__ import annotations

import pytest

import intent.physical as ph
from intent.physical.verify import RULES
from intent.types import dtypes
from intent.types.extent import const, symbol

N = symbol("N")
LANES = ph.Dim("lanes", 8)
Y = ph.View(name="y", dtype=dtypes.F32, shape=(N,), mode="inout", alias="g")
Z = ph.View(name="z", dtype=dtypes.F32, shape=(N,), mode="inout", alias="g")
X = ph.View(name="x", dtype=dtypes.F32, shape=(N,), mode="in")
OTHER = ph.View(name="other", dtype=dtypes.F32, shape=(N,), mode="out")


class Body:
    """Builds one segment body over a lane coordinate, shifted and scalar ones, and a value."""

    def __init__(self, builder):
        self.b = builder
        self.lane = builder.add(ph.Lane, dtype=dtypes.INDEX, over=(LANES,), dim=LANES)
        self.zero, self.one, self.eight = (builder.index(k) for k in (0, 1, 8))
        self.shifted = builder.point("add", self.lane, self.one, dims=(LANES,))
        self.value = builder.add(ph.Constant, dtype=dtypes.F32, value=1.0)
        self.true = builder.add(ph.Constant, dtype=dtypes.BOOL, value=True)
        self.n = builder.add(ph.LaunchValue, dtype=dtypes.INDEX, extent=N)

    def read(self, at, view=Y):
        return self.b.add(
            ph.Load, dtype=dtypes.F32, over=at.dims, source=view, coordinates=(at,), proofs=(ph.REGION,)
        )

    def write(self, at, view=Y, value=None):
        self.b.add(
            ph.Store,
            target=view,
            coordinates=(at,),
            value=value or self.value,
            dims=at.dims,
            proofs=(ph.REGION,),
        )

    def add(self, at, view=Y, order="relaxed", kind="add"):
        self.b.add(
            ph.Atomic, target=view, coordinates=(at,), kind=kind, operands=(self.value,), dims=at.dims,
            proofs=(ph.REGION,), order=order,
        )  # fmt: skip

    def fence(self, view=Y):
        self.b.add(ph.Fence, target=view)

    def loop(self, body, step=None):
        index = self.b.fresh(name="i")

        def inside():
            body(index)
            return (index,), ()

        region = self.b.inside(inside)
        self.b.add(ph.Loop, begin=self.zero, end=self.n, step=step or self.eight, body=region)

    def branch(self, then, orelse, test=None):
        regions = [self.b.inside(lambda make=make: (make() or (), ())) for make in (then, orelse)]
        self.b.add(ph.If, condition=test or self.true, then=regions[0], orelse=regions[1])

    def block(self, index):
        return self.b.point("add", index, self.lane, dims=(LANES,))

    def spread(self, index, factor, fn="add"):
        """``n + (index + lane) * factor``, or the same with another function in the middle."""
        scaled = self.b.point("mul", self.b.point(fn, index, self.lane, dims=(LANES,)), factor, dims=(LANES,))
        return self.b.point("add", self.n, scaled, dims=(LANES,))


def both(*steps):
    """A body that takes its steps one after the other."""

    def run(s):
        for step in steps:
            step(s)

    return run


def looped(*steps, step=None):
    """The steps inside a loop; each takes the body and the loop's index."""

    def run(s):
        s.loop(lambda i: [take(s, i) for take in steps] and None, step and getattr(s, step))

    return run


def _own(at, step=None):
    """Every pass reads and writes the same elements."""

    def update(s, i):
        where = at(s, i)
        s.write(where, value=s.read(where))

    return looped(update, step=step)


def _used_twice(s):
    value = s.read(s.lane)
    s.write(s.lane, value=value)
    s.write(s.lane, OTHER, value)


def _steering(s):
    value = s.read(s.zero)
    test = s.b.point("gt", value, s.value, dtype=dtypes.BOOL)
    s.write(s.zero, value=value)
    s.branch(lambda: s.write(s.lane, OTHER), lambda: None, test)


NEEDED = {
    "read by replicas of the lane that wrote": both(lambda s: s.write(s.lane), lambda s: s.read(s.lane)),
    "own element in every pass": looped(lambda s, _: s.write(s.lane, value=s.read(s.lane))),
    "before and in a loop": both(lambda s: s.write(s.lane), looped(lambda s, _: s.read(s.lane))),
    "read for another write as well": both(_used_twice),
    "read for a branch": both(_steering),
    "read after write": both(lambda s: s.write(s.lane), lambda s: s.read(s.shifted)),
    "write after read": both(lambda s: s.read(s.shifted), lambda s: s.write(s.lane)),
    "write after write": both(lambda s: s.write(s.lane), lambda s: s.write(s.zero)),
    "read after atomic": both(lambda s: s.add(s.lane), lambda s: s.read(s.shifted)),
    "atomic after write": both(lambda s: s.write(s.lane), lambda s: s.add(s.zero)),
    "atomic where it was read": both(lambda s: (s.read(s.lane), s.add(s.lane)) and None),
    "exchanges of the same lanes": both(
        lambda s: s.add(s.lane, kind="exchange"), lambda s: s.add(s.lane, kind="exchange")
    ),
    "a maximum after a sum": both(lambda s: s.add(s.lane), lambda s: s.add(s.shifted, kind="max")),
    "an exchange after an exchange": both(
        lambda s: s.add(s.lane, kind="exchange"), lambda s: s.add(s.shifted, kind="exchange")
    ),
    "another view of the alias group": both(lambda s: s.write(s.lane, Z), lambda s: s.read(s.shifted)),
    "fence of another class": both(
        lambda s: s.write(s.lane), lambda s: s.fence(OTHER), lambda s: s.read(s.zero)
    ),
    "written in a branch": both(
        lambda s: s.branch(lambda: s.write(s.lane), lambda: None), lambda s: s.read(s.zero)
    ),
    "fenced in one branch": both(
        lambda s: s.write(s.lane),
        lambda s: s.branch(s.fence, lambda: None),
        lambda s: s.read(s.zero),
    ),
    "read in the next pass": looped(lambda s, _: s.read(s.shifted), lambda s, _: s.write(s.lane)),
    "blocks that overlap between passes": looped(
        lambda s, i: s.read(s.block(i)), lambda s, i: s.write(s.block(i)), step="one"
    ),
    "nothing moves": _own(lambda s, i: s.b.point("sub", i, i)),
    "blocks that overlap further on": _own(lambda s, i: s.spread(i, s.eight), step="one"),
    "a rest that changes": _own(lambda s, i: s.b.point("add", i, s.b.point("mod", i, s.eight))),
    "written in a loop": both(looped(lambda s, i: s.write(s.block(i))), lambda s: s.read(s.lane)),
    "released without what others wrote": both(
        lambda s: s.write(s.lane, OTHER), lambda s: s.add(s.zero, order="release")
    ),
    "released without what the pass before wrote": looped(
        lambda s, _: s.add(s.zero, order="acq_rel"), lambda s, i: s.write(s.block(i), OTHER)
    ),
    "refilled while the pass before is read": looped(
        lambda s, _: s.write(s.lane), lambda s, _: s.fence(), lambda s, _: s.read(s.shifted)
    ),
}

FREE = {
    "written twice by each lane": both(lambda s: s.write(s.lane), lambda s: s.write(s.lane)),
    "read for this write only": both(lambda s: s.write(s.lane, value=s.read(s.lane))),
    "fenced": both(lambda s: s.write(s.lane), lambda s: s.fence(), lambda s: s.read(s.shifted)),
    "released after a fence": both(
        lambda s: s.write(s.lane, OTHER), lambda s: s.fence(OTHER), lambda s: s.add(s.zero, order="release")
    ),
    "nothing is released": both(lambda s: s.write(s.lane, OTHER), lambda s: s.add(s.zero, order="acquire")),
    "fenced through the alias group": both(
        lambda s: s.write(s.lane, Z), lambda s: s.fence(Y), lambda s: s.read(s.shifted)
    ),
    "reads only": both(lambda s: s.read(s.lane), lambda s: s.read(s.shifted)),
    "atomics only": both(lambda s: s.add(s.lane), lambda s: s.add(s.shifted)),
    "views that do not alias": both(lambda s: s.write(s.lane, OTHER), lambda s: s.read(s.shifted)),
    "different constants": both(lambda s: s.write(s.zero), lambda s: s.read(s.one)),
    "blocks of a loop": looped(lambda s, i: s.write(s.block(i))),
    "blocks further on": _own(lambda s, i: s.spread(i, s.eight)),
    "blocks from the end": _own(lambda s, i: s.spread(i, s.one, "sub")),
    "elements of a loop": looped(lambda s, i: s.write(i), step="one"),
    "fenced in both branches": both(
        lambda s: s.write(s.lane),
        lambda s: s.branch(s.fence, s.fence),
        lambda s: s.read(s.zero),
    ),
    "fenced around the loop": looped(
        lambda s, _: s.fence(),
        lambda s, _: s.write(s.lane),
        lambda s, _: s.fence(),
        lambda s, _: s.read(s.shifted),
    ),
}


@pytest.fixture
def found(builder):
    """``found(body)``: the problems of the rule in a program of that body."""

    def check(body):
        local = builder.fresh()
        body(Body(builder))
        region = ph.Region(args=(local,), ops=tuple(builder.ops))
        segment = ph.Segment(group=0, axes=(), length=const(1), offset=const(0), body=region)
        program = ph.Program(name="p", params=(X, Y, Z, OTHER), segments=(segment,), dims=(LANES,))
        others = [name for name, rule in RULES.items() if name != "fenced" and list(rule.check(program))]
        assert not others
        return list(RULES["fenced"].check(program))

    return check


@pytest.mark.parametrize("body", NEEDED.values(), ids=NEEDED)
def test_a_fence_is_needed(found, body):
    assert found(body)


@pytest.mark.parametrize("body", FREE.values(), ids=FREE)
def test_no_fence_is_needed(found, body):
    assert found(body) == []


def test_many_loops_stay_cheap(builder, found):
    def nest(s, depth):
        s.loop(lambda i: (s.write(s.block(i)), nest(s, depth - 1) if depth else None) and None)
        s.loop(lambda i: s.read(s.block(i)))

    assert found(lambda s: nest(s, 5))
