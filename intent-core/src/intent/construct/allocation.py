"""Where a buffer of the kernel lives, and its initial value (spec: kir-to-gpu-program 5).

One copy for each instance, or for each pass of a loop, where one instance uses it. One piece of memory for the
invocation where instances are spread over points inside of its allocation: each of them keeps to its own slice,
which it begins with the initial value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.context import Context
from intent.construct.frame import Frame
from intent.construct.groups import Group
from intent.construct.inside import in_room
from intent.construct.ownership import Owned
from intent.construct.plan import Inner
from intent.construct.point import Point, members_of
from intent.construct.traversal import close_loop, walk_axes
from intent.diagnostics import NotSupportedYet
from intent.types import Extent
from intent.types.extent import const


def allocate(
    c: Context,
    op: kir.BufferAlloc,
    group: Group,
    instance: Mapping[str, Point],
    ordinals: Mapping[int, Point],
    frame: Frame,
) -> None:
    """Make the physical buffer. ``ordinals``: those of the parallel loops that are entered, by loop."""
    shared = _shared_by(group, instance, op.buffer.id)
    owner: tuple[Point, ...]
    leading: tuple[Extent, ...]
    if shared is not None:
        owner = tuple(ordinals[loop] for loop in shared.around)
        leading = tuple(c.analysis.trips[loop] for loop in shared.around)
    else:
        lanes = c.emitter.order.sort(frame.lanes)
        owner = tuple(Point(c.emitter.lane(d)) for d in lanes)
        leading = tuple(const(d.size) for d in lanes)
    made = ph.Buffer(
        id=c.next_buffer(),
        name=op.buffer.name,
        dtype=op.buffer.dtype,
        shape=(*leading, *_shape(c, op)),
        scope="invocation"
        if shared is not None
        else "program"
        if frame.scope is c.emitter.root
        else "iteration",
    )
    c.buffers[op.buffer.id] = (made, owner)
    key = c.resource(op.buffer)[1]
    c.by_class[key], c.allocated[key] = made, c.emitter.current
    c.workspace.append(made)
    c.emitter.effect(ph.BufferAlloc, buffer=made)
    if op.init is not None:
        slices = {} if shared is None else shared.slices
        own = {axis: instance[label] for label, axis in slices.items() if label in instance}
        _initialise(c, op, own, frame)


def _shared_by(group: Group, instance: Mapping[str, Point], buffer: int) -> Owned | None:
    """How instances share a buffer, where they differ in a coordinate that is none of the points around it."""
    owned = group.buffers.get(buffer)
    if owned is None:
        return None
    around = {group.keys.get(("for", loop, 0)) for loop in owned.around}
    return owned if instance.keys() - around else None


def _shape(c: Context, op: kir.BufferAlloc) -> tuple[Extent, ...]:
    found = []
    for e in op.buffer.shape:
        bound = c.analysis.upper_bound(e)
        if bound is None:
            raise NotSupportedYet(
                f"buffer '{op.buffer.name}', whose extent nothing known before launch bounds,",
                fix="give it an extent that arguments bound, and use a part of it: t[0:n]",
                span=op.span,
            )
        found.append(bound)
    return tuple(found)


def _initialise(c: Context, op: kir.BufferAlloc, own: Mapping[int, Point], frame: Frame) -> None:
    """Store the initial value: along its slices at the instance's own coordinates, along other axes everywhere."""
    assert op.init is not None
    resource, key, owner = c.resource(op.buffer)
    if c.pending(key):
        c.fence(key)
    axes = []
    for k, e in enumerate(op.buffer.shape):
        last = k == op.buffer.rank - 1
        if k not in own:
            axes.append((k, f"{op.buffer.name}_{k}", e, Inner(mode="serial", size=32 if last else 1)))
    walked = walk_axes(c, axes, own.values(), frame)
    at = tuple({**walked.points, **own}[k] for k in range(op.buffer.rank))
    rooms = [in_room(c, p, e) for p, e in zip(at, op.buffer.shape, strict=True)]
    guards = frame.active.union(members_of((*owner, *at)), *(tests for _, tests in rooms))
    value = c.evaluate(op.init, at if op.init.rank else (), frame).fragment
    coordinates = (*(p.fragment for p in owner), *(p.fragment for p in at))
    payload: dict[str, Any] = {
        "target": resource,
        "coordinates": coordinates,
        "value": value,
        "valid": c.emitter.conjunction(guards),
    }
    dims = c.emitter.order.sort((*frame.lanes, *(d for f in coordinates for d in f.dims)))
    proofs = (*(ph.REGION for _ in owner), *(proof for proof, _ in rooms))
    c.emitter.effect(ph.Store, **payload, dims=dims, proofs=proofs)
    for loop in reversed(walked.loops):
        close_loop(c, loop, (), ())
    c.wrote(key)
