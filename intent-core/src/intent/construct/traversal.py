"""Walking one or more axes inside an instance: resident lanes, or ordered loops over blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from intent import physical as ph
from intent.construct.alive import longest
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.frame import Frame
from intent.construct.plan import Inner
from intent.construct.point import Point, members_of
from intent.diagnostics import PlanError
from intent.types import DType, Extent
from intent.types.dtypes import INDEX
from intent.types.extent import const


@dataclass
class OpenLoop:
    """A counted loop under construction: its scope, counter and bounds, and the carries made so far."""

    scope: Scope
    counter: ph.Fragment
    begin: ph.Fragment
    end: ph.Fragment
    step: ph.Fragment
    args: list[ph.Fragment] = field(default_factory=list)
    summary: tuple[ph.Fragment, ...] = ()

    def close(
        self, c: Context, inits: tuple[ph.Fragment, ...], yields: tuple[ph.Fragment, ...]
    ) -> tuple[ph.Fragment, ...]:
        """End the body and place the loop; the results are the final carries."""
        return close_loop(c, self, inits, yields)


class HasArguments(Protocol):
    """A region under construction that takes arguments."""

    scope: Scope
    args: list[ph.Fragment]


def open_loop(c: Context, begin: ph.Fragment, end: ph.Fragment, step: ph.Fragment, name: str) -> OpenLoop:
    """Begin a loop; evaluation goes into its body until it is closed."""
    for bound in (begin, end, step):
        if not bound.uniform:
            raise PlanError(f"the bound of a loop over {name} differs between lanes {bound.dims}")
    c.settle_dirty()
    scope = c.emitter.open()
    scope.counted = True
    counter = c.emitter.fragment(INDEX, (), scope, name)
    return OpenLoop(scope, counter, begin, end, step)


def carry(
    c: Context, loop: HasArguments, dtype: DType, dims: Iterable[ph.Dim], name: str = ""
) -> ph.Fragment:
    """A new carried value of an open loop."""
    arg = c.emitter.fragment(dtype, dims, loop.scope, name)
    loop.args.append(arg)
    return arg


def close_loop(
    c: Context,
    loop: OpenLoop,
    inits: tuple[ph.Fragment, ...],
    yields: tuple[ph.Fragment, ...],
) -> tuple[ph.Fragment, ...]:
    """End the body and place the loop where its outside references live."""
    c.emitter.close(loop.scope)
    body = ph.Region(args=(loop.counter, *loop.args), ops=tuple(loop.scope.ops), yields=yields)
    return c.emitter.place(
        ph.Loop,
        (loop.scope,),
        tuple((a.dtype, a.dims) for a in loop.args),
        tuple(a.name for a in loop.args),
        begin=loop.begin,
        end=loop.end,
        step=loop.step,
        inits=inits,
        body=body,
        summary=loop.summary,
    )


@dataclass
class Walk:
    """Axes being walked: a point per axis, the loops opened for serial axes and the lanes of blocks.

    ``part``: the outermost loop walks this instance's part of an axis that several share.
    """

    points: dict[int, Point]
    loops: list[OpenLoop]
    lanes: tuple[ph.Dim, ...]
    members: frozenset[ph.Fragment]
    part: bool = False


def walk_axes(
    c: Context,
    axes: list[tuple[int, str, Extent, Inner]],
    at: Iterable[Point],
    frame: Frame,
    before: Iterable[ph.Dim] = (),
    *,
    parts: bool = False,
) -> Walk:
    """Enter the axes (key, label, extent, traversal), outermost first, in other lanes than the coordinates ``at``.

    ``parts``: of an axis that several instances share, a part will do. The caller closes the loops, last first.
    """
    points: dict[int, Point] = {}
    loops: list[OpenLoop] = []
    part = False
    before, at = tuple(before), tuple(at)
    for key, label, e, inner in axes:
        if e.const == 1:
            points[key] = Point(c.emitter.index(0), low=const(0), high=const(0))
            continue
        taken = (*at, *points.values())
        if e in c.slices:
            current = c.slices[e]
            asking, c.emitter.span = c.emitter.span, current.span
            point = c.block_point(
                current.start, current.label, current.extent, current.block, taken, frame, before
            )
            c.emitter.span = asking
        elif inner.mode == "resident":
            point = c.resident_point(label, e, inner.size, taken, frame, before)
        else:
            step = inner.size
            begin, end = c.emitter.index(0), longest(c, c.extent(e, frame), frame)
            if parts and not loops and c.share is not None and c.share.label == label:
                begin, end = c.share.bounds(c, e, end, step, frame)
                part = True
            loop = open_loop(c, begin, end, c.emitter.index(step), label)
            loops.append(loop)
            point = c.block_point(loop.counter, label, e, step, taken, frame, before)
        points[key] = point
    entered = points.values()
    return Walk(points, loops, c.emitter.union(p.fragment for p in entered), members_of(entered), part)
