"""Region folds: an ordered loop over contiguous slices, a summary per slice, the author's combine in between.

The slice axis keeps the source's own coordinates, so nothing that the helpers compute can see where a slice
begins (spec: logical-program 5).
"""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.carried import Carries, Homes, held_binding, looped
from intent.construct.combining import has_loops
from intent.construct.context import Context, Slice, rule
from intent.construct.emission import Scope
from intent.construct.frame import Binding, Frame
from intent.construct.parts import Share, State, Values
from intent.construct.point import Point
from intent.construct.traversal import OpenLoop, open_loop
from intent.diagnostics import PlanError
from intent.kir.walk import regions_of, walk

At = tuple[Point, ...]


def open_slices(c: Context, op: kir.RegionFold | kir.RegionScan, frame: Frame) -> OpenLoop:
    """The loop over slices; while it is open the slice extent stands for the current block of the source axis."""
    source = op.source[0]
    e = source.shape[op.axis]
    label = c.analysis.classes.label((source.id, op.axis))
    block = 1 if _loops_inside(op) else c.traversal((source.id, op.axis)).size
    end = c.extent(e, frame).fragment
    begin, part = c.emitter.index(0), _shared(c, op, label)
    if part is not None:
        begin, end = part.bounds(c, e, end, block, frame)
    opened = open_loop(c, begin, end, c.emitter.index(block), label)
    c.slices[op.slice_extent] = Slice(label, e, block, opened.counter, op.span)
    return opened


def _shared(c: Context, op: kir.RegionFold | kir.RegionScan, label: str) -> Share | None:
    """The parts that the source axis is folded in, if instances share it. A scan has none: it needs all before."""
    shared = isinstance(op, kir.RegionFold) and c.share is not None and c.share.label == label
    return c.share if shared else None


def _loops_inside(op: kir.RegionFold | kir.RegionScan) -> bool:
    """Whether a helper reduces or scans with a combine that runs loops."""
    return any(isinstance(o, kir.Reduce | kir.Scan) and has_loops(o) for r in regions_of(op) for o in walk(r))


def slice_frame(
    c: Context,
    op: kir.RegionFold | kir.RegionScan,
    region: kir.Region,
    state: list[Binding],
    frame: Frame,
    scope: Scope,
) -> Frame:
    """A helper's frame: slices of the source, then ``state``, then the captures."""
    source, captures = evaluated(c, op.source, frame), evaluated(c, op.captures, frame)
    return frame.enter(region, scope, (*source, *state, *captures))


def _outer(c: Context, value: kir.Value, frame: Frame) -> Binding:
    """A value of the enclosing region; slices keep the source's coordinates."""
    return lambda at: c.evaluate(value, at, frame)


def evaluated(c: Context, values: tuple[kir.Value, ...], frame: Frame) -> list[Binding]:
    """Values of a frame, evaluated wherever they are asked for."""
    return [_outer(c, v, frame) for v in values]


def yielded(c: Context, region: kir.Region, frame: Frame) -> list[Binding]:
    """What a region yields, evaluated wherever it is asked for."""
    return evaluated(c, region.yields, frame)


@rule(kir.RegionFold)
def region_fold(c: Context, op: kir.RegionFold, index: int, at: At, frame: Frame) -> Point:
    """One component of the final summary; the components its combine needs are carried with it."""
    if op.source[0].shape[op.axis] in c.slices:
        return _of_slice(c, op, index, at, frame)

    def build(homes: Homes) -> dict[int, ph.Fragment]:
        opened = open_slices(c, op, frame)
        carries = Carries(
            c,
            op.results,
            homes,
            opened,
            lambda k, home: c.evaluate(op.identity[k], home, frame).fragment,
            frame,
        )
        summarize = slice_frame(c, op, op.summarize, [], frame, opened.scope)
        left = [carries.binding(k) for k in range(len(op.results))]
        parts = _Parts(homes)
        right = [parts.noting(k, b) for k, b in enumerate(yielded(c, op.summarize, summarize))]
        combine = frame.enter(op.combine, opened.scope, (*left, *right))

        def closing(order: list[int]) -> None:
            opened.summary = parts.of(order)

        try:
            made = carries.finish(
                lambda k, home: c.evaluate(op.combine.yields[k], home, combine).fragment, closing
            )
        finally:
            c.slices.pop(op.slice_extent, None)
        _keep_part(c, op, made, carries, frame)
        return made

    return looped(c, op, op.results, (index, at), frame, build)


def _keep_part(
    c: Context, op: kir.RegionFold, made: dict[int, ph.Fragment], carries: Carries, frame: Frame
) -> None:
    """Remember that the summary is one of a part, and how the author combines two."""
    source = op.source[0]
    share = _shared(c, op, c.analysis.classes.label((source.id, op.axis)))
    if share is None:
        return
    homes = carries.homes

    def bindings(values: Values) -> list[Binding]:
        known = dict(zip(made, values, strict=True))
        return [
            held_binding(c, v, known[k], homes.at[k], homes.full[k]) if k in known else _unknown(v)
            for k, v in enumerate(op.results)
        ]

    def combine(left: Values, right: Values) -> Values:
        inner = frame.enter(op.combine, c.emitter.current, (*bindings(left), *bindings(right)))
        whole = {k: c.evaluate(op.combine.yields[k], homes.at[k], inner).fragment for k in made}
        return tuple(c.emitter.broadcast(whole[k], made[k].dims) for k in made)

    start = tuple(carries.inits[k] for k in made)
    share.states.append(State(results=tuple(made.values()), start=start, combine=combine))


def _unknown(value: kir.Value) -> Binding:
    def read(at: At) -> Point:
        raise PlanError(f"a component of the fold that gives '{value.name}' is needed to combine its parts")

    return read


def _of_slice(c: Context, op: kir.RegionFold, index: int, at: At, frame: Frame) -> Point:
    """A fold along the axis of a slice that is being summarised: the slice, which has members, is its only slice."""
    c.slices[op.slice_extent] = c.slices[op.source[0].shape[op.axis]]
    try:
        whole = slice_frame(c, op, op.summarize, [], frame, c.emitter.current)
        return c.evaluate(op.summarize.yields[index], at, whole)
    finally:
        del c.slices[op.slice_extent]


class _Parts:
    """The slice's summary as the combine reads it: what a pass of the loop adds to its carries."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes
        self._seen: dict[int, ph.Fragment] = {}

    def noting(self, k: int, binding: Binding) -> Binding:
        """Component ``k``, remembered where it is read at the carry's home."""

        def read(at: At) -> Point:
            point = binding(at)
            if [p.key for p in self._homes.at[k]] == [p.key for p in at]:
                self._seen[k] = point.fragment
            return point

        return read

    def of(self, order: list[int]) -> tuple[ph.Fragment, ...]:
        """One value per carried component, or nothing when one was never read as a whole."""
        if any(k not in self._seen for k in order):
            return ()
        return tuple(self._seen[k] for k in order)
