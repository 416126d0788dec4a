"""Decoding a program id into the coordinates of a group's instance axes (spec: kir-to-gpu-program 4.1-4.4)."""

from __future__ import annotations

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.types.extent import const


def decode(
    c: Context, axes: tuple[ph.SegmentAxis, ...], local: ph.Fragment, grouped: int, frame: Frame
) -> dict[str, Point]:
    """A point per instance axis. Row-major; with ``grouped`` the last two axes are walked in groups of rows."""
    numbers = _row_major(c, axes, local, frame)
    if grouped > 1 and len(axes) >= 2:
        numbers[-2], numbers[-1] = _grouped(
            c, axes[-2], axes[-1], numbers, frame, grouped, local, len(axes) == 2
        )
    points: dict[str, Point] = {}
    for axis, number in zip(axes, numbers, strict=True):
        start = number
        if axis.block > 1:
            start = c.emitter.pointwise("mul", number, c.emitter.index(axis.block))
        label = axis.label.replace(".", "_")
        points[axis.label] = c.block_point(start, label, axis.extent, axis.block, points.values(), frame)
        if axis.extent.const == 1:
            points[axis.label] = Point(c.emitter.index(0), low=const(0), high=const(0))
    return points


def _row_major(
    c: Context, axes: tuple[ph.SegmentAxis, ...], local: ph.Fragment, frame: Frame
) -> list[ph.Fragment]:
    numbers = []
    rest = local
    for k in range(len(axes)):
        inner = const(1)
        for axis in axes[k + 1 :]:
            inner = inner * axis.programs
        if inner.const == 1:
            # The axes after this one have one block each: block 0.
            numbers.append(rest)
            rest = c.emitter.index(0)
            continue
        size = c.extent(inner, frame).fragment
        numbers.append(c.emitter.pointwise("floordiv", rest, size))
        rest = c.emitter.pointwise("mod", rest, size)
    return numbers


def _grouped(
    c: Context,
    first: ph.SegmentAxis,
    second: ph.SegmentAxis,
    numbers: list[ph.Fragment],
    frame: Frame,
    group: int,
    local: ph.Fragment,
    only: bool,
) -> tuple[ph.Fragment, ph.Fragment]:
    """Walk ``group`` blocks of the first axis down, then one block of the second across: better reuse in cache."""
    e = c.emitter
    rows, columns = c.extent(first.programs, frame).fragment, c.extent(second.programs, frame).fragment
    linear = local if only else e.pointwise("add", e.pointwise("mul", numbers[-2], columns), numbers[-1])
    size = e.index(group)
    per_group = e.pointwise("mul", columns, size)
    start = e.pointwise("mul", e.pointwise("floordiv", linear, per_group), size)
    height = e.pointwise("minimum", e.pointwise("sub", rows, start), size)
    within = e.pointwise("mod", linear, per_group)
    return e.pointwise("add", start, e.pointwise("mod", within, height)), e.pointwise(
        "floordiv", within, height
    )
