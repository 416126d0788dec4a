"""Control that differs between lanes: everybody walks as far as the last one, and who is done changes nothing more.

A point of ``I.parallel`` that is one of several in an instance runs a loop under a predicate of its own, ``alive``:
while it does not hold, its accesses are masked and what it carries stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.frame import Frame
from intent.construct.point import Point, members_of
from intent.types.dtypes import BOOL, INDEX


def any_lane(c: Context, test: ph.Fragment) -> ph.Fragment:
    """Whether a test holds on some lane."""
    if test.uniform:
        return test
    return c.emitter.emit(ph.Reduce, ((BOOL, ()),), operands=(test,), dims=test.dims, kind="any")[0]


def among_lanes(c: Context, test: Point, frame: Frame) -> ph.Fragment:
    """A test on the lanes that come to it."""
    found = c.emitter.conjunction({test.fragment, *_around((test,), frame)})
    assert found is not None, "a conjunction of one predicate at least"
    return found


def longest(c: Context, count: Point, frame: Frame) -> ph.Fragment:
    """The most that a count is on the lanes that come to it; others may hold any number."""
    return count.fragment if count.fragment.uniform else most(c, only_here(c, count, frame))


def most(c: Context, count: ph.Fragment) -> ph.Fragment:
    """The greatest of all lanes."""
    types = ((INDEX, ()),)
    return c.emitter.emit(ph.Reduce, types, name="longest", operands=(count,), dims=count.dims, kind="max")[0]


def only_here(c: Context, count: Point, frame: Frame) -> ph.Fragment:
    """A count, and 0 on lanes that do not come to it."""
    here = c.emitter.conjunction(_around((count,), frame))
    if here is None:
        return count.fragment
    return c.emitter.pointwise("select", here, count.fragment, c.emitter.index(0))


def _around(points: Iterable[Point], frame: Frame) -> frozenset[ph.Fragment]:
    """The points that there are, behind the branches that they have taken."""
    return frozenset(p for p in frame.active | members_of(points) if not p.uniform)


def kept(c: Context, alive: ph.Fragment | None, new: ph.Fragment, old: ph.Fragment) -> ph.Fragment:
    """What is carried on: ``new`` where the lane is alive."""
    if alive is None or new.id == old.id:
        return new
    return c.emitter.pointwise("select", alive, new, old, name=old.name)
