"""Writes of parallel loops that provably meet in one element (spec: logical-program 3).

A write whose destination depends on nothing that differs between the points of a parallel loop is made by all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.diagnostics import CollidingWrites
from intent.kir import Constant, ExtentValue, Load, Relation, Resource, Value, View
from intent.kir.control import For, If, While
from intent.kir.walk import operands_of
from intent.types.extent import Dyn, const

if TYPE_CHECKING:
    from intent.frontend.emission import Emitter, Frame


def refuse_collision(emitter: Emitter, resource: Resource, relation: Relation) -> None:
    """Check an unconditional write to a view against the parallel loops around it.

    With a constant number of points above one: CollidingWrites. With a number known at launch: a condition.
    """
    if not isinstance(resource, View) or emitter.conditional or emitter.trial:
        return
    for frame in emitter.frames[emitter.base :]:
        if frame.forall is None or any(_may_differ(emitter, c, frame, set()) for c in relation.coordinates):
            continue
        if (frame.forall.const or 0) > 1:
            index = ", ".join(c.name or "..." for c in relation.coordinates)
            witness = f"all {frame.forall} points write {resource.name}[{index}]"
            raise CollidingWrites(resource.name, witness=witness, span=emitter.span)
        reason = f"points of I.parallel that all write one element of {resource.name}"
        emitter.condition("at_least", const(1), frame.forall, reason)


def _may_differ(emitter: Emitter, value: Value, frame: Frame, seen: set[int]) -> bool:
    """Whether a value may be different at two points of the loop whose body is ``frame``."""
    if value.id in seen:
        return False
    seen.add(value.id)
    if any(arg.id == value.id for arg in frame.args):
        return True
    if any(isinstance(a, Dyn) for extent in value.shape for a in extent.atoms()):
        return True
    op = emitter.defs.get(value.id)
    if op is None:
        # An argument: of a loop inside the frame it takes many values at each point, but the same ones.
        return not _steady(emitter, value)
    if isinstance(op, Constant):
        return False
    if isinstance(op, ExtentValue):
        return any(isinstance(a, Dyn) for a in op.extent.atoms())
    if isinstance(op, For | If | While) or (isinstance(op, Load) and op.source.mutable):
        return True
    return any(_may_differ(emitter, operand, frame, seen) for operand in operands_of(op))


def _steady(emitter: Emitter, value: Value) -> bool:
    """Whether an argument is a scalar parameter of the kernel or a point of another parallel loop."""
    return any(
        any(arg.id == value.id for arg in frame.args) and (depth == 0 or frame.forall is not None)
        for depth, frame in enumerate(emitter.frames)
    )
