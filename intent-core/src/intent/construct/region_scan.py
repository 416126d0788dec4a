"""Region scans: one ordered loop per owner carries the state; every slice emits its outputs into a held buffer.

The state after a slice is ``apply(summarize(slice), state)``, by the author's law of action (spec: logical-program 5).
"""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.carried import Carries, Homes, settle
from intent.construct.context import Context, rule
from intent.construct.fold import evaluated, open_slices, slice_frame, yielded
from intent.construct.frame import Frame
from intent.construct.held import Held, hold
from intent.construct.point import Point, members_of
from intent.construct.relocate import NotAtHome, relocate

At = tuple[Point, ...]


@rule(kir.RegionScan)
def region_scan(c: Context, op: kir.RegionScan, index: int, at: At, frame: Frame) -> Point:
    """One output or one component of the final state."""
    if op.source[0].shape[op.axis] in c.slices:
        return _of_slice(c, op, index, at, frame)
    members = members_of(at)
    if index < op.outputs:
        free = tuple(p for k, p in enumerate(at) if k != op.output_axis)
        key = ("region scan", op.id, index, tuple(p.key for p in free))
        (held,) = hold(c, key, free, frame, lambda: (_fill(c, op, index, free, frame),))
        return Point(held.read(c, at[op.output_axis]), members)
    return Point(_final(c, op, index, at, frame), members)


def _of_slice(c: Context, op: kir.RegionScan, index: int, at: At, frame: Frame) -> Point:
    """A scan along the axis of a slice that is being summarised or emitted: the slice is its only slice."""
    state, scope = evaluated(c, op.initial, frame), c.emitter.current
    c.slices[op.slice_extent] = c.slices[op.source[0].shape[op.axis]]
    try:
        if index < op.outputs:
            return c.evaluate(op.emit.yields[index], at, slice_frame(c, op, op.emit, state, frame, scope))
        summarize = slice_frame(c, op, op.summarize, [], frame, scope)
        step = frame.enter(op.apply, scope, (*yielded(c, op.summarize, summarize), *state))
        return c.evaluate(op.apply.yields[index - op.outputs], at, step)
    finally:
        del c.slices[op.slice_extent]


def _loop(
    c: Context, op: kir.RegionScan, homes: Homes, frame: Frame, output: tuple[int, At, Held] | None
) -> dict[int, ph.Fragment]:
    """The loop over slices; with ``output`` it also writes one emitted component."""
    states = op.results[op.outputs :]
    opened = open_slices(c, op, frame)
    carries = Carries(
        c, states, homes, opened, lambda k, home: c.evaluate(op.initial[k], home, frame).fragment, frame
    )
    state = [carries.binding(k) for k in range(len(states))]
    try:
        if output is not None:
            index, free, held = output
            current = c.slices[op.slice_extent]
            along = c.block_point(current.start, current.label, current.extent, current.block, free, frame)
            emit = slice_frame(c, op, op.emit, state, frame, opened.scope)
            where = (*free[: op.output_axis], along, *free[op.output_axis :])
            held.write(c, c.evaluate(op.emit.yields[index], where, emit).fragment, along)
        summarize = slice_frame(c, op, op.summarize, [], frame, opened.scope)
        step = frame.enter(op.apply, opened.scope, (*yielded(c, op.summarize, summarize), *state))
        return carries.finish(lambda k, home: c.evaluate(op.apply.yields[k], home, step).fragment)
    finally:
        c.slices.pop(op.slice_extent, None)


def _fill(c: Context, op: kir.RegionScan, index: int, free: At, frame: Frame) -> Held:
    source = op.source[0]
    lanes = c.emitter.order.sort(c.used_dims(free, frame))
    value = op.results[index]
    held = Held.allocate(c, value, lanes, (source.shape[op.axis],), value.name or "outputs")
    homes = Homes()
    results = settle(
        c, op.results[op.outputs :], homes, frame, lambda: _loop(c, op, homes, frame, (index, free, held))
    )
    held.settle(c)
    for k, made in results.items():
        c.states.setdefault((op.id, k), []).append((made, homes.at[k], homes.full[k]))
    return held


def _final(c: Context, op: kir.RegionScan, index: int, at: At, frame: Frame) -> ph.Fragment:
    k = index - op.outputs
    for made, home, full in c.states.get((op.id, k), []):
        if all(c.emitter.alive(f) for f in (made, *(p.fragment for p in home))):
            try:
                return relocate(c, k, made, home, at, full)
            except NotAtHome:
                continue
    homes = Homes(at={k: at}, full={k: frozenset()})
    results = settle(c, op.results[op.outputs :], homes, frame, lambda: _loop(c, op, homes, frame, None))
    return relocate(c, k, results[k], homes.at[k], at, homes.full[k])
